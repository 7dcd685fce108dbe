//! The naive model of a restore: what remains when a backup continues as another cluster.

use std::collections::BTreeSet;
use std::time::Duration;

use synod_machine::{Answer, Restore, StateStatus};
use synod_model::{ApiVersion, ErrorKind, Persisted, Refusal, WallTime};

use super::{Entry, Holder, World, no};

impl World {
    pub(super) fn restore(&mut self, restore: &Restore, wall: WallTime) -> Result<Answer, Refusal> {
        if self.cluster == Some(restore.cluster) {
            return Err(no(ErrorKind::AlreadyExists));
        }
        let before = self.clone();
        self.cluster = Some(restore.cluster);
        self.floor = self.revision;
        self.sessions.clear();
        self.replicas.clear();
        // The members are removed as if they had expired.
        let expired_until = self.log_time.after(self.settings.write_grace);
        for member in before.members.iter().filter(|member| member.reported) {
            self.drain(&member.id, expired_until, Entry::may_write);
        }
        for member in &before.members {
            self.mark_ungated(&member.id);
        }
        self.members.clear();
        self.memberships.clear();
        self.entries.clear();
        let a_day = Duration::from_secs(24 * 60 * 60);
        let until = self.log_time.after(a_day + self.settings.write_grace);
        self.strangers_write_until = until.max(self.strangers_write_until);
        let names = before.resources.iter().map(|kept| kept.name.clone());
        for name in names.collect::<Vec<_>>() {
            self.begin_again(&name, wall);
        }
        // Of everything with a deadline, only objects and dates stay.
        self.deadlines
            .retain(|(holder, _)| matches!(holder, Holder::Object(_) | Holder::Topic(_)));
        let revision = self.revision;
        // Missing members are determined once nothing is observed any more.
        for resource in &mut self.resources {
            resource.status.looks.clear();
            resource.status.unnamed_look = None;
            if resource.status.observation.take().is_some() {
                resource.status.agreed_hash = None;
                resource.status.agreement_revision = revision;
            }
        }
        self.settle(&before, wall);
        self.call_the_roll(None, wall);
        let mut counted: BTreeSet<_> = self.collections.keys().cloned().collect();
        counted.retain(|name| self.is_counted(name));
        for resource in &mut self.resources {
            let status = &mut resource.status;
            for version in named(status) {
                let kept = status.drains.entry(version).or_insert(until);
                *kept = until.max(*kept);
            }
            if !counted.contains(&resource.name) {
                status.persisted.insert(Persisted::Unknown);
            }
        }
        Ok(Answer::Done)
    }
}

/// The selected version, and the stored versions that are known by name.
fn named(status: &StateStatus) -> BTreeSet<ApiVersion> {
    let mut named: BTreeSet<ApiVersion> = status.selected.iter().cloned().collect();
    for persisted in &status.persisted {
        named.extend(persisted.version().cloned());
    }
    named
}
