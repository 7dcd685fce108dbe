//! The state of one member's gate, and the rules by which it gives permits: a value without a clock, a task or a lock.
//!
//! The time is always an argument, read from the clock that counts suspension. Only a report that was acknowledged
//! under the present epoch opens the gate.

mod observation;
mod permits;
mod resource;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use synod_model::{Epoch, GroupResource, ReportEntry, Revision, StorageVersionHash};

use super::discovery::Dissent;
use super::grant::Grant;
use super::obstacle::{Obstacle, Refused};
use crate::{Ended, ReportedResource};
use resource::Resource;

pub(crate) use observation::Observation;
pub(crate) use permits::Drain;
pub(crate) use resource::AcknowledgedEntry;

/// The state of the gate of one member.
#[derive(Debug)]
pub(crate) struct Book {
    standing: Standing,
    /// The server is leaving: no new permit is given, and the permits that are out still count.
    leaving: bool,
    write_grace: Duration,
    resources: BTreeMap<GroupResource, Resource>,
    /// Maps a resource to the equivalent one under which it was reported.
    reported_as: BTreeMap<GroupResource, GroupResource>,
    /// The last epoch under which all resources were reported.
    reported_epoch: Option<Epoch>,
    /// Whether all resources were reported under any epoch.
    completed: bool,
}

/// Whether this process is a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is not a member now; `reason` says why.
    Outside { reason: String },
    /// It is a member, which can be proved until `proved_until`.
    Member {
        epoch: Epoch,
        proved_until: Duration,
    },
    /// The membership has ended for good.
    Ended(Ended),
}

impl Book {
    /// The gate of a process that is no member yet.
    pub(crate) fn new(write_grace: Duration) -> Self {
        Self {
            standing: Standing::Outside {
                reason: "the server has not joined".to_owned(),
            },
            leaving: false,
            write_grace,
            resources: BTreeMap::new(),
            reported_as: BTreeMap::new(),
            reported_epoch: None,
            completed: false,
        }
    }

    // Membership.

    /// The process joined under a new epoch: reports under older epochs do not count any more.
    pub(crate) fn joined(&mut self, epoch: Epoch, proved_until: Duration) {
        if !self.has_ended() {
            self.standing = Standing::Member {
                epoch,
                proved_until,
            };
        }
    }

    /// A renewal was acknowledged. Acknowledgements may arrive out of order.
    pub(crate) fn proved(&mut self, epoch: Epoch, until: Duration) {
        if let Standing::Member {
            epoch: present,
            proved_until,
        } = &mut self.standing
            && *present == epoch
        {
            *proved_until = until.max(*proved_until);
        }
    }

    /// The epoch is over; the process may join again under a new one.
    pub(crate) fn lost(&mut self, epoch: Epoch, reason: String) {
        if self.epoch() == Some(epoch) {
            self.standing = Standing::Outside { reason };
        }
    }

    /// Records why the process has not joined again yet.
    pub(crate) fn still_outside(&mut self, why: String) {
        if let Standing::Outside { reason } = &mut self.standing {
            *reason = why;
        }
    }

    /// The membership has ended for good. Only the first reason is kept.
    pub(crate) fn end(&mut self, ended: Ended) {
        if !self.has_ended() {
            self.standing = Standing::Ended(ended);
        }
    }

    /// The server is leaving: gives no new permit.
    pub(crate) fn leave(&mut self) {
        self.leaving = true;
    }

    pub(crate) fn set_write_grace(&mut self, write_grace: Duration) {
        self.write_grace = write_grace;
    }

    pub(crate) fn standing(&self) -> &Standing {
        &self.standing
    }

    pub(crate) fn epoch(&self) -> Option<Epoch> {
        match &self.standing {
            Standing::Member { epoch, .. } => Some(*epoch),
            Standing::Outside { .. } | Standing::Ended(_) => None,
        }
    }

    /// The epoch, if it can be proved now.
    pub(crate) fn proved_epoch(&self, now: Duration) -> Result<Epoch, Obstacle> {
        match &self.standing {
            Standing::Member {
                epoch,
                proved_until,
            } if now < *proved_until => Ok(*epoch),
            Standing::Member { epoch, .. } => Err(Obstacle::NotProved(*epoch)),
            Standing::Outside { reason } => Err(Obstacle::Outside(reason.clone())),
            Standing::Ended(ended) => Err(Obstacle::Ended(*ended)),
        }
    }

    /// How much longer the epoch can be proved; `None` if it cannot.
    pub(crate) fn proof_left(&self, now: Duration) -> Option<Duration> {
        match &self.standing {
            Standing::Member { proved_until, .. } => {
                proved_until.checked_sub(now).filter(|left| !left.is_zero())
            }
            Standing::Outside { .. } | Standing::Ended(_) => None,
        }
    }

    fn has_ended(&self) -> bool {
        matches!(self.standing, Standing::Ended(_))
    }

    // Reports.

    /// Sets under which resources equivalent ones are reported.
    pub(crate) fn set_reported_as(&mut self, aliases: BTreeMap<GroupResource, GroupResource>) {
        self.reported_as = aliases;
    }

    /// The resources are about to be reported anew: no permit is given for them until [`Self::end_change`].
    pub(crate) fn begin_change(&mut self, resources: &BTreeSet<GroupResource>) {
        for resource in resources {
            self.row(resource).changing = true;
        }
    }

    /// The new report is over: acknowledged, or certainly not executed, so that the earlier one still holds.
    pub(crate) fn end_change(&mut self, resources: &BTreeSet<GroupResource>) {
        for resource in resources {
            self.row(resource).changing = false;
        }
        self.resources.retain(|_, row| !row.is_blank());
    }

    /// The state of these resources in the cluster is unknown: their gate stays closed until a report of them is
    /// acknowledged.
    pub(crate) fn doubt(&mut self, resources: &BTreeSet<GroupResource>) {
        for resource in resources {
            self.row(resource).told = None;
        }
    }

    /// A try to report failed; it may be repeated.
    pub(crate) fn report_failed(&mut self, resources: &BTreeSet<GroupResource>, error: &str) {
        for resource in resources {
            self.row(resource).last_error = Some(error.to_owned());
        }
    }

    /// A report was acknowledged under `epoch` at `revision`. With `full`, these are all resources of the member.
    pub(crate) fn told(
        &mut self,
        epoch: Epoch,
        revision: Revision,
        full: bool,
        reported: Vec<(ReportEntry, ReportedResource)>,
    ) {
        if self.epoch() != Some(epoch) {
            return;
        }
        let named: BTreeSet<GroupResource> = reported
            .iter()
            .map(|(entry, _)| entry.resource.clone())
            .collect();
        for (entry, answer) in reported {
            self.row(&entry.resource.clone())
                .tell(AcknowledgedEntry::of(epoch, revision, entry, answer));
        }
        if full {
            for (resource, row) in &mut self.resources {
                if !named.contains(resource) {
                    row.withdraw();
                }
            }
            self.resources.retain(|_, row| !row.is_blank());
            self.reported_epoch = Some(epoch);
            self.completed = true;
        }
    }

    /// Whether the present epoch has reported all of its resources.
    pub(crate) fn is_reported(&self) -> bool {
        self.epoch().is_some() && self.reported_epoch == self.epoch()
    }

    /// Whether any epoch has reported all of its resources.
    pub(crate) fn is_completed(&self) -> bool {
        self.completed
    }

    // Votes.

    /// A watch has shown a change of a resource.
    pub(crate) fn observe(&mut self, resource: &GroupResource, seen: &Observation) {
        if let Some(told) = self
            .resources
            .get_mut(resource)
            .and_then(|row| row.told.as_mut())
        {
            told.observe(seen);
        }
    }

    /// The selections that were not adopted yet.
    pub(crate) fn unadopted(&self) -> Vec<(GroupResource, Revision)> {
        let rows = self.resources.iter().filter(|(_, row)| !row.changing);
        rows.filter_map(|(resource, _)| {
            let told = self.present(resource)?;
            told.unadopted()
                .map(|revision| (resource.clone(), revision))
        })
        .collect()
    }

    /// The adoption of a selection was acknowledged under `epoch` at `revision`.
    pub(crate) fn adopted(
        &mut self,
        epoch: Epoch,
        resource: &GroupResource,
        selected_revision: Revision,
        revision: Revision,
    ) {
        let told = self
            .resources
            .get_mut(resource)
            .and_then(|row| row.told.as_mut());
        if let Some(told) = told.filter(|told| told.epoch == epoch) {
            told.adopt(selected_revision, revision);
        }
    }

    /// What keeps a selection from being adopted. `None`: it is not to be adopted any more.
    pub(crate) fn drain_for_adoption(
        &self,
        resource: &GroupResource,
        selected_revision: Revision,
        now: Duration,
    ) -> Option<Drain> {
        let told = self.present(resource)?;
        let wanted = told
            .unadopted()
            .filter(|revision| *revision == selected_revision);
        wanted?;
        let row = self.resources.get(resource)?;
        Some(row.permits.drain(told.selected.as_ref(), now))
    }

    // Permits.

    /// Gives a permit for a resource.
    ///
    /// # Errors
    ///
    /// The obstacle that the write would have to wait for.
    pub(crate) fn grant(
        &mut self,
        resource: &GroupResource,
        now: Duration,
    ) -> Result<Grant, Obstacle> {
        let epoch = self.proved_epoch(now)?;
        if self.leaving {
            return Err(Obstacle::Leaving);
        }
        let resource = self.canonical(resource).clone();
        let Some(row) = self.resources.get_mut(&resource) else {
            return Err(Obstacle::NotReported(None));
        };
        let (encoding, revision) = row.writes(epoch)?;
        let encoding = encoding.clone();
        row.permits.open(&encoding);
        Ok(Grant {
            epoch,
            resource,
            encoding,
            revision,
        })
    }

    /// The hash that discovery shows of a resource now.
    ///
    /// # Errors
    ///
    /// What keeps a hash from being shown.
    pub(crate) fn shows(
        &self,
        resource: &GroupResource,
        now: Duration,
    ) -> Result<StorageVersionHash, Dissent> {
        let epoch = self.proved_epoch(now).map_err(Dissent::Closed)?;
        if self.leaving {
            return Err(Dissent::Closed(Obstacle::Leaving));
        }
        let row = self.resources.get(self.canonical(resource));
        let row = row.ok_or(Dissent::Closed(Obstacle::NotReported(None)))?;
        let (kind, encoding) = row.shows(epoch)?;
        Ok(StorageVersionHash::of_version(encoding, kind))
    }

    /// Whether a write under this permit may be sent to the store now.
    ///
    /// # Errors
    ///
    /// Why not.
    pub(crate) fn check(&self, grant: &Grant, now: Duration) -> Result<(), Refused> {
        let epoch = self.proved_epoch(now).map_err(Refused::Obstacle)?;
        if epoch != grant.epoch {
            return Err(Refused::OtherEpoch(epoch));
        }
        let told = self.present(&grant.resource);
        match told {
            Some(told) if told.allows(&grant.encoding) => Ok(()),
            Some(_) | None => Err(Refused::OtherEncoding),
        }
    }

    /// A permit is given back: the store has answered, or with `unknown`, the outcome of the write is unknown.
    pub(crate) fn give_back(&mut self, grant: &Grant, unknown: bool, now: Duration) {
        let held_until = unknown.then_some(now + self.write_grace);
        let row = self.row(&grant.resource);
        row.permits.close(&grant.encoding, held_until);
        if row.is_blank() {
            self.resources.remove(&grant.resource);
        }
    }

    /// What keeps these resources from being drained of all permits.
    pub(crate) fn drain(&self, resources: &BTreeSet<GroupResource>, now: Duration) -> Drain {
        let rows = resources
            .iter()
            .filter_map(|resource| self.resources.get(resource));
        rows.fold(Drain::Done, |drain, row| {
            drain.and(row.permits.drain(None, now))
        })
    }

    /// What keeps the gate from being drained of all permits.
    pub(crate) fn drain_all(&self, now: Duration) -> Drain {
        let rows = self.resources.values();
        rows.fold(Drain::Done, |drain, row| {
            drain.and(row.permits.drain(None, now))
        })
    }

    /// The entry of a resource as it was acknowledged under the present epoch.
    fn present(&self, resource: &GroupResource) -> Option<&AcknowledgedEntry> {
        let epoch = self.epoch()?;
        let told = self.resources.get(resource)?.told.as_ref();
        told.filter(|told| told.epoch == epoch)
    }

    fn canonical<'a>(&'a self, resource: &'a GroupResource) -> &'a GroupResource {
        self.reported_as.get(resource).unwrap_or(resource)
    }

    fn row(&mut self, resource: &GroupResource) -> &mut Resource {
        self.resources.entry(resource.clone()).or_default()
    }
}

#[cfg(test)]
mod tests;
