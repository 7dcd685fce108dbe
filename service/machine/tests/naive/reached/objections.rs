//! Counts which rules of rosters, and of observations beside reports, the random logs reach.

use synod_machine::{
    Change, ChangeOf, Command, Outcome, RevisionEvents, State, StateStatus, StorageStateRow,
};
use synod_model::{ErrorKind, GroupResource, MemberId, Migration};

use super::Reached;

/// Every situation that the logs must come to.
pub(super) const SITUATIONS: [&str; 43] = [
    "refused: CONFLICT over a roster",
    "refused: NOT_FOUND of a roster",
    "refused: DRAINING for what discovery has shown",
    "refused: NO_AGREEMENT of a claim past a deadline",
    "refused: NO_AGREEMENT of an end past a deadline",
    "refused: NO_AGREEMENT of a start past a deadline",
    "a roster was set again as it was",
    "a roster counted before a wider one",
    "a migration was created by a join",
    "a migration was created by a roster",
    "a migration was aborted by a roster",
    "a migration was aborted by a look",
    "a migration was aborted by a join",
    "a migration succeeded under a roster",
    "a migration succeeded without a roster",
    "a migration to what discovery shows succeeded",
    "a named member was absent",
    "a member with labels was absent",
    "the least number was short",
    "more were absent than are named",
    "somebody was absent of what nobody reports",
    "nobody was absent any more by a report",
    "nobody was absent any more by a departure",
    "nobody was absent any more by other labels",
    "nobody was absent any more by a roster",
    "somebody was absent by a join",
    "somebody was absent by a departure",
    "somebody was absent by a roster",
    "a look stood against the members",
    "a report stood against a look",
    "a contradiction ended by a look",
    "a contradiction ended by a report",
    "a contradiction ended by a departure",
    "a contradiction ended by a reset",
    "agreement was regained by a look",
    "agreement was lost to a look",
    "a look beside reports named what it showed",
    "a look beside reports could not name what it showed",
    "an observation alone lapsed by an expiry",
    "an observation alone lapsed in a look",
    "evidence against the members lapsed and stayed",
    "what agreed with the members was dropped by an expiry",
    "a hash began to drain",
];

impl Reached {
    pub(super) fn look_at_objection(
        &mut self,
        command: &Command,
        outcome: &Outcome,
        before: &State,
    ) {
        let Err(refusal) = &outcome.result else {
            if matches!(command, Command::SetRoster(_)) && !outcome.changed {
                self.came_to("a roster was set again as it was");
            }
            return;
        };
        let is_roster = matches!(command, Command::SetRoster(_) | Command::DeleteRoster(_));
        let is_unseen = refusal.message.contains("nobody has looked");
        let situation = match refusal.kind {
            ErrorKind::Conflict if is_roster => "refused: CONFLICT over a roster",
            ErrorKind::NotFound if is_roster => "refused: NOT_FOUND of a roster",
            ErrorKind::NoAgreement if is_unseen => match command {
                Command::ClaimMigration(_) => "refused: NO_AGREEMENT of a claim past a deadline",
                Command::StartMigration(_) => "refused: NO_AGREEMENT of a start past a deadline",
                _ => "refused: NO_AGREEMENT of an end past a deadline",
            },
            ErrorKind::Draining => {
                let Command::ClaimMigration(claim) = command else {
                    return;
                };
                let kept = before.present().storage_state(claim.id.resource());
                let now = before.log_time();
                let is_shown = kept.is_some_and(|kept| {
                    let status = &kept.row.status;
                    let said = status.drains.values().all(|until| *until <= now);
                    said && status.hash_drains.values().any(|until| *until > now)
                });
                if !is_shown {
                    return;
                }
                "refused: DRAINING for what discovery has shown"
            }
            _ => return,
        };
        self.came_to(situation);
    }

    /// Counts the situations of a command that changes missing members or observations.
    pub(super) fn look_at_doubts(
        &mut self,
        made: &Command,
        events: &RevisionEvents,
        after: &State,
    ) {
        for change in &events.changes {
            self.look_at_work(made, change);
            if let Some(ChangeOf {
                key: resource,
                before: Some(before),
                after: Some(now),
            }) = change.of::<StorageStateRow>()
            {
                self.look_at_objections(made, &before.status, &now.status, after, resource);
            }
        }
    }

    /// Counts the changes of what prevents an agreement.
    fn look_at_objections(
        &mut self,
        command: &Command,
        before: &StateStatus,
        after: &StateStatus,
        state: &State,
        resource: &GroupResource,
    ) {
        self.look_at_absence(command, before, after);
        self.look_at_evidence(command, before, after);
        let present = state.present();
        let is_missed = !after.absent.is_empty();
        if is_missed && present.storage_version(resource).is_none() {
            self.came_to("somebody was absent of what nobody reports");
        }
        let rosters: Vec<_> = present.rosters(None).collect();
        let covering = rosters
            .iter()
            .filter(|roster| roster.scope.covers(resource));
        if is_missed && covering.count() > 1 {
            self.came_to("a roster counted before a wider one");
        }
        let roster = present.rosters_of(resource).into_iter().next();
        if let Some(roster) = roster.filter(|_| is_missed) {
            let named = |id: &MemberId| roster.rule.members.contains(id);
            if after.absent.members.iter().any(named) {
                self.came_to("a named member was absent");
            }
            if after.absent.members.iter().any(|id| !named(id)) {
                self.came_to("a member with labels was absent");
            }
            if after.absent.short > 0 {
                self.came_to("the least number was short");
            }
            if after.absent.unnamed > 0 {
                self.came_to("more were absent than are named");
            }
        }
    }

    fn look_at_absence(&mut self, command: &Command, before: &StateStatus, after: &StateStatus) {
        let situation = match (before.absent.is_empty(), after.absent.is_empty()) {
            (false, true) => match command {
                Command::Report(_) => "nobody was absent any more by a report",
                Command::Leave(_) | Command::Expire(_) => {
                    "nobody was absent any more by a departure"
                }
                Command::Join(_) => "nobody was absent any more by other labels",
                Command::SetRoster(_) | Command::DeleteRoster(_) => {
                    "nobody was absent any more by a roster"
                }
                _ => return,
            },
            (true, false) => match command {
                Command::Join(_) => "somebody was absent by a join",
                Command::Leave(_) | Command::Expire(_) => "somebody was absent by a departure",
                Command::SetRoster(_) | Command::DeleteRoster(_) => {
                    "somebody was absent by a roster"
                }
                _ => return,
            },
            (true, true) | (false, false) => return,
        };
        self.came_to(situation);
    }

    fn look_at_evidence(&mut self, command: &Command, before: &StateStatus, after: &StateStatus) {
        let is_look = matches!(command, Command::ObserveStorage(_));
        match (before.contradicted, after.contradicted) {
            (false, true) if is_look => self.came_to("a look stood against the members"),
            (false, true) => self.came_to("a report stood against a look"),
            (true, false) => match command {
                Command::ObserveStorage(_) => self.came_to("a contradiction ended by a look"),
                Command::Report(_) => self.came_to("a contradiction ended by a report"),
                Command::ResetStorageStates(_) => self.came_to("a contradiction ended by a reset"),
                Command::Leave(_) | Command::Expire(_) => {
                    self.came_to("a contradiction ended by a departure");
                }
                _ => {}
            },
            (true, true) | (false, false) => {}
        }
        if is_look {
            match (&before.agreed, &after.agreed) {
                (None, Some(_)) => self.came_to("agreement was regained by a look"),
                (Some(_), None) => self.came_to("agreement was lost to a look"),
                (None, None) | (Some(_), Some(_)) => {}
            }
        }
        if before.hash_drains != after.hash_drains {
            self.came_to("a hash began to drain");
        }
        if is_look && after.common.is_some() {
            for new in after.persisted.difference(&before.persisted) {
                self.came_to(match new.version() {
                    Some(_) => "a look beside reports named what it showed",
                    None => "a look beside reports could not name what it showed",
                });
            }
        }
        self.look_at_lapse(command, before, after);
    }

    fn look_at_lapse(&mut self, command: &Command, before: &StateStatus, after: &StateStatus) {
        let Some(seen) = before.observation.as_ref().filter(|seen| !seen.expired) else {
            return;
        };
        let is_same = before.common == after.common
            && before.absent.is_empty() == after.absent.is_empty()
            && before.agreement_revision != after.agreement_revision;
        let expires = matches!(command, Command::Expire(_));
        match &after.observation {
            None if expires => {
                self.came_to("what agreed with the members was dropped by an expiry")
            }
            Some(now) if now.expired && after.contradicted => {
                self.came_to("evidence against the members lapsed and stayed");
            }
            Some(now) if now.expired && expires => {
                self.came_to("an observation alone lapsed by an expiry");
            }
            Some(now) if is_same && now.hashes == seen.hashes => {
                self.came_to("an observation alone lapsed in a look");
            }
            None | Some(_) => {}
        }
    }

    /// Counts why a migration was created or ended.
    fn look_at_work(&mut self, command: &Command, change: &Change) {
        let Some(ChangeOf {
            before: Some(before),
            after: Some(after),
            ..
        }) = change.of::<Migration>()
        else {
            return;
        };
        if after.aborted.is_some() && before.aborted.is_none() {
            self.came_to(match command {
                Command::SetRoster(_) | Command::DeleteRoster(_) => {
                    "a migration was aborted by a roster"
                }
                Command::ObserveStorage(_) => "a migration was aborted by a look",
                Command::Join(_) => "a migration was aborted by a join",
                _ => return,
            });
        }
        if matches!(command, Command::CompleteMigration(_)) {
            self.came_to(match after.assumption {
                None => "a migration succeeded under a roster",
                Some(_) => "a migration succeeded without a roster",
            });
            if after.target.version.is_none() {
                self.came_to("a migration to what discovery shows succeeded");
            }
        }
    }
}
