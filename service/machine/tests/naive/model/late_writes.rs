//! The naive model of what workers and evicted members may still write, and of the memory of encodings.

use std::collections::BTreeMap;

use synod_machine::{ClaimDrain, Holder};
use synod_model::{
    ApiVersion, ClaimToken, ErrorKind, GroupResource, Leave, LogTime, Member, Migration,
    MigrationId, MigrationPhase, Persisted, Refusal, Revision, StorageVersionHash, Walk,
    WorkerStop,
};

use super::{Entry, World, no};

/// Who ends a claim without the success of its migration.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ClaimEnd {
    Worker(WorkerStop),
    Time,
    Others,
}

impl World {
    /// Whether the rules of machine version 3 hold.
    pub(super) fn counts_late_writes(&self) -> bool {
        self.raised_to.is_some_and(|version| version >= 3)
    }

    pub(super) fn stopped(stop: Option<WorkerStop>) -> ClaimEnd {
        stop.map_or(ClaimEnd::Others, ClaimEnd::Worker)
    }

    /// The worker of a claim that ends may go on until its claim would have run out, unless it knows.
    pub(super) fn end_of_claim(&mut self, id: &MigrationId, ending: ClaimEnd) {
        let migration = self.migration(id).expect("it was looked up");
        let Some(claim) = migration.claim else {
            return;
        };
        let is_kept = self.counts_late_writes() && !self.is_served(id.resource());
        if ending == ClaimEnd::Worker(WorkerStop::AllAnswered) || !is_kept {
            return;
        }
        let mut until = self.log_time;
        if ending == ClaimEnd::Others {
            let ends_at = self.ends_at(&Holder::Claim(id.clone()));
            until = until.max(ends_at.expect("a claim has a deadline"));
        }
        let drain = ClaimDrain {
            worker: claim.worker,
            target: migration.target,
            until: until.after(self.settings.write_grace),
            fenced: claim.fenced,
            walks: claim.walks,
        };
        let drains = &mut self.resource_mut(id.resource()).status.claim_drains;
        drains.insert(claim.token, drain);
        assert!(drains.len() < 64, "no log here has so many claims at once");
    }

    /// A worker that lost its claim says that nothing of it is under way.
    pub(super) fn nothing_is_under_way(
        &mut self,
        id: &MigrationId,
        token: ClaimToken,
        refusal: Refusal,
    ) -> Result<(), Refusal> {
        let mut resources = self.resources.iter_mut();
        let kept = resources.find(|kept| kept.name == *id.resource());
        let lifted = kept.and_then(|kept| kept.status.claim_drains.remove(&token));
        lifted.map(drop).ok_or(refusal)
    }

    /// The latest time at which something may land that a claim of this kind for this target would miss.
    pub(super) fn lands_until(
        &self,
        name: &GroupResource,
        target: StorageVersionHash,
        fenced: bool,
    ) -> LogTime {
        let status = &self.resource(name).expect("it is known").status;
        let mut last = status.unknown_drain.unwrap_or_default();
        for drain in status.claim_drains.values() {
            let is_counted = drain.walks == Some(Walk::Collection);
            if drain.target.hash != target && !(fenced && drain.fenced) && !is_counted {
                last = last.max(drain.until);
            }
        }
        last
    }

    /// What a member that leaves may still write.
    pub(super) fn drain_leaver(&mut self, member: &Member, leave: &Leave) -> Result<(), Refusal> {
        let speaks = leave.instance.as_ref();
        if speaks.is_some_and(|instance| *instance != member.instance) {
            return Err(no(ErrorKind::Conflict));
        }
        let is_own = speaks.is_some() || !self.counts_late_writes();
        let is_drained = leave.drained && is_own && self.has_gate(&member.id);
        if is_drained || !member.reported {
            return Ok(());
        }
        let grace = self.settings.write_grace;
        let soon = self.log_time.after(grace);
        let promised = self.promised(&Holder::Member(member.id.clone()));
        let promised = promised.expect("a member has a deadline").after(grace);
        if is_own {
            self.drain(&member.id, soon, Entry::may_write);
        } else if leave.stopped {
            self.drain(&member.id, soon, Entry::may_write);
            for entry in self.entries.clone() {
                if entry.member == member.id {
                    let said = &mut self.resource_mut(&entry.resource).status.said_stopped;
                    let until = said.entry(member.id.clone()).or_insert(promised);
                    *until = promised.max(*until);
                }
            }
        } else {
            self.drain(&member.id, promised, |entry, _| entry.may_follow());
        }
        Ok(())
    }

    /// A migration that succeeds has rewritten what was stored before it was claimed.
    pub(super) fn settle_doubts(&mut self, id: &MigrationId) {
        let migration = self.migration(id).expect("it was looked up");
        let claimed = migration.claim.and_then(|claim| claim.since);
        let begun = migration.metadata.create_revision;
        let grace = self.settings.write_grace;
        let status = &mut self.resource_mut(id.resource()).status;
        if status.concluded_before.is_some_and(|since| begun >= since) {
            status.concluded_before = None;
        }
        if let Some(claimed) = claimed {
            status.said_stopped.retain(|_, until| *until > claimed);
            let is_covered = |returned: LogTime| claimed >= returned.after(grace);
            status
                .short_absences
                .retain(|_, absence| !is_covered(absence.returned));
        }
    }

    /// The rules of machine version 3 begin to hold: nobody has counted late writes of workers before.
    pub(super) fn begin_to_count(&mut self, before: u32) {
        let a_day = std::time::Duration::from_secs(24 * 60 * 60);
        let until = self.log_time.after(a_day + self.settings.write_grace);
        let names: Vec<_> = self
            .resources
            .iter()
            .map(|kept| kept.name.clone())
            .collect();
        for name in names {
            if self.is_served(&name) {
                continue;
            }
            let mut heard_of: Vec<ApiVersion> = Vec::new();
            let kept = self.resource(&name).expect("it was listed");
            for line in &kept.agreements {
                heard_of.extend(line.from.iter().chain(&line.to).cloned());
            }
            heard_of.extend(kept.status.drains.keys().cloned());
            let targets = self
                .migrations
                .iter()
                .filter(|it| it.id.resource() == &name);
            heard_of.extend(targets.filter_map(|it| it.target.version.clone()));
            let is_reported = !heard_of.is_empty() || !self.entries_of(&name).is_empty();
            let is_seen = !self.is_no_encoding(&name);
            let was_told = kept.status.agreement_revision != Revision::ZERO || is_reported;
            let is_outside = is_seen && (was_told || kept.status.observation.is_some());
            let is_beside = is_outside && self.is_counted(&name);
            let was_claimed = before > 1 || self.was_touched(&name) || is_beside;
            if was_claimed {
                self.begin_again(&name, self.wall);
                if self.is_called_off(&name) {
                    self.begun_again.remove(&name);
                }
            }
            let revision = self.revision;
            let status = &mut self.resource_mut(&name).status;
            status.ever_reported = is_seen && is_reported;
            status.stored_outside = is_outside;
            if is_beside {
                status.persisted.insert(Persisted::Unknown);
            }
            if was_claimed {
                status.unknown_drain = Some(until);
                status.concluded_before = Some(revision);
            }
            for version in heard_of {
                status.known_versions.entry(version).or_insert(revision);
            }
        }
        // What topics forget next was heard of, too.
        self.remember_encodings();
    }

    /// Whether anything but waiting was ever done with a migration of the resource, as far as they are kept.
    fn was_touched(&self, name: &GroupResource) -> bool {
        let of_it = self.migrations.iter().filter(|it| it.id.resource() == name);
        let touched = |it: &Migration| {
            let said = self.progress.iter().any(|(id, _)| *id == it.id);
            it.phase != MigrationPhase::Pending || it.failures > 0 || said
        };
        self.settings.migrations_kept == 0 || of_it.into_iter().any(touched)
    }

    /// Remembers every encoding that there is now.
    pub(super) fn remember_encodings(&mut self) {
        if !self.counts_late_writes() {
            return;
        }
        let revision = self.revision;
        for name in self
            .resources
            .iter()
            .map(|kept| kept.name.clone())
            .collect::<Vec<_>>()
        {
            if self.is_served(&name) {
                continue;
            }
            let entries = self.entries_of(&name);
            let status = &mut self.resource_mut(&name).status;
            let mut heard_of: Vec<ApiVersion> = status.selected.iter().cloned().collect();
            for entry in &entries {
                heard_of.extend(entry.row.decodable.iter().cloned());
            }
            let mut shown = Vec::new();
            for kept in &status.persisted {
                match (kept.version(), kept.hash()) {
                    (Some(version), _) => heard_of.push(version.clone()),
                    (None, Some(hash)) => shown.push(hash),
                    (None, None) => assert_eq!(*kept, Persisted::Unknown),
                }
            }
            if let Some(seen) = &status.observation {
                shown.extend(seen.hashes.iter().copied());
            }
            note(&mut status.known_versions, heard_of, revision);
            note(&mut status.known_hashes, shown, revision);
        }
    }
}

fn note<K: Ord>(known: &mut BTreeMap<K, Revision>, heard_of: Vec<K>, revision: Revision) {
    for one in heard_of {
        known.entry(one).or_insert(revision);
    }
    assert!(known.len() <= 256, "no log here names so many");
}
