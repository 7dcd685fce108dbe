//! What is off, and the machine version by which it can be.

use std::collections::BTreeSet;

use synod_machine::{Answer, Command, RaiseMachineVersion};
use synod_model::{ErrorKind, GroupResource, Refusal, Switch, WallTime};

use super::{World, no};

impl World {
    pub(super) fn raise(
        &mut self,
        raise: &RaiseMachineVersion,
        wall: WallTime,
    ) -> Result<Answer, Refusal> {
        if raise.to <= self.raised_to.unwrap_or(1) {
            return Ok(Answer::Done);
        }
        let knows = |id| {
            let row = self.replicas.get(id);
            row.is_some_and(|row| row.machine_version >= raise.to)
        };
        if raise.replicas.is_empty() || !raise.replicas.iter().all(knows) {
            return Err(no(ErrorKind::InvalidArgument));
        }
        let before = self.raised_to.unwrap_or(1);
        self.raised_to = Some(raise.to);
        if before < 3 && raise.to >= 3 {
            self.begin_to_count(before);
        }
        if before < 2 {
            self.learn_topics(wall);
        }
        Ok(Answer::Done)
    }

    pub(super) fn check_switches(&self, command: &Command) -> Result<(), Refusal> {
        let is_new = match command {
            Command::UpdateSettings(update) => {
                let patch = &update.patch;
                let switches = [patch.votes, patch.objects, patch.migrations];
                switches.iter().any(Option::is_some)
            }
            Command::ReleaseMigration(_) | Command::DeleteMigration(_) => true,
            Command::StartMigration(start) => start.alias.is_some(),
            _ => false,
        };
        if is_new && self.raised_to.is_none() {
            let refusal = no(ErrorKind::Unavailable).with("not_executed", "true");
            return Err(refusal);
        }
        let is_newest = match command {
            Command::ObserveStorage(observe) => observe.observer.is_some(),
            Command::DismissLooks(_)
            | Command::AddEquivalents(_)
            | Command::RemoveEquivalent(_) => true,
            Command::UpdateCollection(update) => update.kind.is_some(),
            _ => false,
        };
        if is_newest && self.raised_to.is_none_or(|version| version < 3) {
            return Err(no(ErrorKind::Unavailable).with("not_executed", "true"));
        }
        let names_status = match command {
            Command::CreateCollection(create) => create.rules.status_subresource,
            Command::UpdateCollection(update) => update.status_subresource.is_some(),
            _ => false,
        };
        if names_status && self.raised_to.is_none() {
            return Err(no(ErrorKind::Unavailable).with("not_executed", "true"));
        }
        let off = |setting: &str, switch: Switch, kinds: &[&str]| {
            let name = format!("{:?}", command.name());
            (switch == Switch::Off && kinds.contains(&name.as_str()))
                .then(|| no(ErrorKind::SwitchedOff).with("setting", setting))
        };
        let objects = off(
            "objects",
            self.settings.objects,
            &[
                "CreateCollection",
                "UpdateCollection",
                "DeleteCollection",
                "CreateObject",
                "UpdateObject",
                "PatchObject",
                "DeleteObject",
                "Transact",
            ],
        );
        let migrations = off(
            "migrations",
            self.settings.migrations,
            &[
                "StartMigration",
                "ClaimMigration",
                "ReportMigrationProgress",
                "RetryMigration",
            ],
        );
        objects.or(migrations).map_or(Ok(()), Err)
    }

    /// Evaluates each reported resource, after votes were switched on.
    pub(super) fn count_again(&mut self, wall: WallTime) {
        let entries = self.entries.iter();
        let names: BTreeSet<GroupResource> =
            entries.map(|entry| self.first(&entry.resource)).collect();
        for name in names {
            let then = self.entries_of(&name);
            self.settle_resource(&name, &then, None, wall);
        }
    }
}
