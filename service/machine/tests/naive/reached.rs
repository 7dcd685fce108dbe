//! Counts which rules the random logs reach: a comparison proves nothing about a rule that is never applied.

mod equivalents;
mod migrations;
mod objections;
mod objects;
mod topics;

pub(crate) use equivalents::ReachedEquivalents;
pub(crate) use objects::ReachedObjects;
pub(crate) use topics::ReachedTopics;

use std::collections::BTreeMap;

use synod_machine::{
    Applied, Change, ChangeOf, Command, Expire, Holder, LogEntry, Outcome, RevisionEvents, State,
    StateStatus, StorageStateRow, StorageVersionRow,
};
use synod_model::{
    ClaimToken, ConditionStatus, Epoch, ErrorKind, Member, MemberId, Migration, ObjectKind,
    Persisted,
};

/// How often each situation came up.
#[derive(Debug, Default)]
pub(crate) struct Reached(BTreeMap<&'static str, u32>);

/// Every situation that the logs must come to.
pub(crate) const SITUATIONS: [&str; 80] = [
    "refused: ALREADY_EXISTS",
    "refused: ALREADY_EXISTS of an alias",
    "refused: CONFLICT over a resource to forget",
    "refused: CONFLICT over a late report",
    "refused: CONFLICT over a late adoption",
    "refused: CONFLICT over a selection",
    "refused: CONFLICT over settings",
    "refused: CONFLICT over what is to be forgotten",
    "refused: DRAINING",
    "refused: INVALID_ARGUMENT",
    "refused: INVALID_ARGUMENT of a report",
    "refused: NOT_A_MEMBER",
    "refused: NOT_DECODABLE for a persisted version",
    "refused: NOT_DECODABLE for the selected version",
    "refused: NOT_FOUND",
    "refused: OVERLOADED",
    "refused: QUOTA of members",
    "refused: QUOTA of sessions",
    "refused: REQUEST_EXPIRED",
    "refused: STALE_EPOCH by a join",
    "refused: STALE_EPOCH by another command",
    "refused: TOO_LARGE",
    "refused: UNAVAILABLE before the cluster is formed",
    "a retry got its first outcome",
    "a retry got its first refusal",
    "a revision was compacted",
    "a deadline was lifted past its time",
    "a restart changed no storage version",
    "a replaced member's entries went unreported",
    "two members went from one resource at once",
    "a member that never reported went with entries",
    "the last entry went",
    "a resource was forgotten",
    "selected was set",
    "selected moved by a report",
    "selected moved by a departure",
    "selected followed fixed entries",
    "selected came back to a version",
    "a voter waited for a selection",
    "a waiting voter took the selection of another's command",
    "a voter was behind when it went",
    "agreement was gained by adopting",
    "agreement was lost",
    "a drain was raised by a departure",
    "a drain was raised by a replacement",
    "a drain was not raised by a drained leave",
    "not every version was decodable",
    "a voter stayed that lacks a persisted version",
    "a member and a silent epoch's entries went at once",
    "an expiry named an older epoch",
    "refused: CONFLICT over a migration",
    "refused: NO_AGREEMENT",
    "refused: DRAINING",
    "a migration was created by a report",
    "a migration was created by an observation",
    "a migration was created by a departure",
    "a migration was created by hand",
    "a migration was aborted without an agreement",
    "a migration was aborted by another agreement",
    "a migration was aborted because the store became unknown",
    "a migration was aborted by hand",
    "a migration was claimed",
    "a worker went on where another stood",
    "a silent worker lost its claim",
    "a worker gave its claim back",
    "a claim that ended left a drain",
    "a worker lifted the drain of its claim",
    "a member was said to have stopped",
    "a migration succeeded",
    "a migration failed",
    "a failed migration was tried again",
    "progress was shown",
    "an old migration was forgotten",
    "a migration was deleted",
    "a claimed migration was deleted",
    "several hashes were no agreement",
    "a backup was restored",
    "the history of an upgrade reached below the floor",
    "a restore aborted a migration",
    "a restore ended an observation",
];

impl Reached {
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        self.missing_of(&SITUATIONS)
    }

    /// The situations that only logs of doubtful steps must reach.
    pub(crate) fn missing_doubts(&self) -> Vec<&'static str> {
        self.missing_of(&objections::SITUATIONS)
    }

    fn missing_of(&self, situations: &[&'static str]) -> Vec<&'static str> {
        let situations = situations.iter().copied();
        situations
            .filter(|situation| !self.0.contains_key(situation))
            .collect()
    }

    fn came_to(&mut self, situation: &'static str) {
        assert!(
            SITUATIONS.contains(&situation) || objections::SITUATIONS.contains(&situation),
            "{situation} is in the list"
        );
        *self.0.entry(situation).or_default() += 1;
    }

    /// Counts the situations of one entry whose commands were applied one by one.
    pub(crate) fn look(
        &mut self,
        entry: &LogEntry,
        applied: &Applied,
        before: &State,
        after: &State,
    ) {
        for (envelope, outcome) in entry.commands.iter().zip(&applied.outcomes) {
            self.look_at_objection(&envelope.command, outcome, before);
            let is_retry = envelope.request.is_some() && outcome.revision < before.revision();
            match &outcome.result {
                Ok(_) if is_retry => self.came_to("a retry got its first outcome"),
                Err(_) if is_retry => self.came_to("a retry got its first refusal"),
                Err(_) => self.look_at_refusal(&envelope.command, outcome),
                Ok(_) => self.look_at_answer(&envelope.command, before),
            }
        }
        if after.history().floor() > before.history().floor() {
            self.came_to("a revision was compacted");
        }
        if after.history().all_bytes() > after.history().bytes() {
            self.came_to("the history of an upgrade reached below the floor");
        }
        self.look_at_deadlines(after);
        let mut commands: BTreeMap<_, &Command> = BTreeMap::new();
        for (envelope, outcome) in entry.commands.iter().zip(&applied.outcomes) {
            if outcome.changed && outcome.revision > before.revision() {
                commands.insert(outcome.revision, &envelope.command);
            }
        }
        for events in &applied.events {
            let made = commands[&events.revision];
            self.look_at_events(made, events);
            self.look_at_doubts(made, events, after);
        }
    }

    fn look_at_answer(&mut self, command: &Command, before: &State) {
        match command {
            Command::Report(report) => {
                let present = before.present();
                let enforced = &before.settings().enforce_persisted;
                for entry in report
                    .entries
                    .iter()
                    .filter(|entry| entry.stance.is_voting())
                {
                    let kept = present.storage_state(&entry.resource);
                    let kept = kept.filter(|_| enforced.contains(&entry.resource));
                    let lacks = kept.is_some_and(|kept| {
                        let mut known = kept
                            .row
                            .status
                            .persisted
                            .iter()
                            .filter_map(Persisted::version);
                        known.any(|version| !entry.decodable.contains(version))
                    });
                    if lacks {
                        self.came_to("a voter stayed that lacks a persisted version");
                    }
                }
            }
            Command::ClaimMigration(claim) if before.migration_progress(&claim.id).is_some() => {
                self.came_to("a worker went on where another stood");
            }
            Command::Expire(expire) => {
                let due = before.due(before.log_time(), usize::MAX).holders;
                let is_stale = |(id, epoch): &(MemberId, Epoch)| {
                    let member = before.present().member(id);
                    let present = member.is_some_and(|member| {
                        member.epoch > *epoch
                            && !expire.members.contains(&(id.clone(), member.epoch))
                    });
                    present && due.contains(&Holder::Member(id.clone()))
                };
                if expire.members.iter().any(is_stale) {
                    self.came_to("an expiry named an older epoch");
                }
            }
            _ => {}
        }
    }

    fn look_at_refusal(&mut self, command: &Command, outcome: &Outcome) {
        let Err(refusal) = &outcome.result else {
            return;
        };
        if matches!(command, Command::SetRoster(_) | Command::DeleteRoster(_)) {
            return;
        }
        let is_join = matches!(command, Command::Join(_));
        let is_forget = matches!(command, Command::ForgetResource(_));
        let is_late = refusal.metadata.contains_key("last_number");
        let is_compared = is_forget && refusal.metadata.contains_key("resource_version");
        let situation = match refusal.kind {
            ErrorKind::AlreadyExists => migrations::over_existing(refusal),
            ErrorKind::Conflict if refusal.current.is_some() => "refused: CONFLICT over settings",
            ErrorKind::Conflict if is_late && matches!(command, Command::Report(_)) => {
                "refused: CONFLICT over a late report"
            }
            ErrorKind::Conflict if is_late => "refused: CONFLICT over a late adoption",
            ErrorKind::Conflict if is_compared => "refused: CONFLICT over what is to be forgotten",
            ErrorKind::Conflict if is_forget => "refused: CONFLICT over a resource to forget",
            ErrorKind::Conflict if matches!(command, Command::Adopt(_)) => {
                "refused: CONFLICT over a selection"
            }
            ErrorKind::Conflict => "refused: CONFLICT over a migration",
            ErrorKind::NoAgreement => "refused: NO_AGREEMENT",
            ErrorKind::Draining => "refused: DRAINING",
            ErrorKind::InvalidArgument if matches!(command, Command::Report(_)) => {
                "refused: INVALID_ARGUMENT of a report"
            }
            ErrorKind::InvalidArgument => "refused: INVALID_ARGUMENT",
            ErrorKind::NotAMember => "refused: NOT_A_MEMBER",
            ErrorKind::NotDecodable if refusal.message.contains("a persisted version") => {
                "refused: NOT_DECODABLE for a persisted version"
            }
            ErrorKind::NotDecodable => "refused: NOT_DECODABLE for the selected version",
            ErrorKind::NotFound => "refused: NOT_FOUND",
            ErrorKind::Overloaded => "refused: OVERLOADED",
            ErrorKind::Quota if is_join => "refused: QUOTA of members",
            ErrorKind::Quota => "refused: QUOTA of sessions",
            ErrorKind::RequestExpired => "refused: REQUEST_EXPIRED",
            ErrorKind::StaleEpoch if is_join => "refused: STALE_EPOCH by a join",
            ErrorKind::StaleEpoch => "refused: STALE_EPOCH by another command",
            ErrorKind::TooLarge => "refused: TOO_LARGE",
            ErrorKind::Unavailable => "refused: UNAVAILABLE before the cluster is formed",
            kind => panic!("nothing here can be refused with {kind}"),
        };
        self.came_to(situation);
    }

    fn look_at_deadlines(&mut self, after: &State) {
        let deadlines = after.rows().filter_map(|row| match row {
            synod_machine::Row::Deadline(Holder::Member(id), deadline) => Some((id, deadline)),
            _ => None,
        });
        for (id, deadline) in deadlines {
            let ends = after
                .deadline(&Holder::Member(id.clone()))
                .expect("a member has a deadline");
            if deadline.at <= after.log_time() && ends > after.log_time() {
                self.came_to("a deadline was lifted past its time");
            }
        }
    }

    fn look_at_events(&mut self, command: &Command, events: &RevisionEvents) {
        let changes = &events.changes;
        if matches!(command, Command::Restore(_)) {
            self.came_to("a backup was restored");
        }
        let versions = changes
            .iter()
            .filter(|c| c.object.kind() == ObjectKind::StorageVersion);
        let versions = versions.count();
        for change in changes {
            if let Some(ChangeOf {
                before: Some(before),
                after: Some(after),
                ..
            }) = change.of::<Member>()
                && !before.reported
                && after.reported
                && versions == 0
                && before.metadata.generation > 1
            {
                self.came_to("a restart changed no storage version");
            }
            self.look_at_version(command, change);
            self.look_at_state(command, change);
            if let Some(change) = change.of::<Migration>() {
                let (before, after) = (change.before.map(|it| &**it), change.after);
                self.look_at_migration(command, before, after.map(|it| &**it));
            }
        }
        if let Command::Expire(expire) = command {
            self.look_at_silence(expire, changes);
            let gone = |change: &&Change| {
                change.object.kind() == ObjectKind::Member && change.after.is_none()
            };
            if changes.iter().filter(gone).count() < expire.members.len() + 1 && versions > 0 {
                let members = changes.iter().filter(gone).count();
                if members == 0 {
                    self.came_to("a replaced member's entries went unreported");
                }
            }
        }
    }

    fn look_at_silence(&mut self, expire: &Expire, changes: &[Change]) {
        let gone: Vec<&MemberId> = changes
            .iter()
            .filter_map(|change| change.of::<Member>())
            .filter(|change| change.after.is_none())
            .map(|change| change.key)
            .collect();
        for change in changes {
            let of_gone = |id: &MemberId| gone.contains(&id);
            let entries = change.entries.iter();
            let without = entries.filter(|entry| entry.after.is_none());
            let (went, silent): (Vec<_>, Vec<_>) = without.partition(|e| of_gone(&e.member));
            if !went.is_empty() && !silent.is_empty() && !expire.unreported.is_empty() {
                self.came_to("a member and a silent epoch's entries went at once");
            }
        }
    }

    fn look_at_version(&mut self, command: &Command, change: &Change) {
        let entries = &change.entries;
        let Some(ChangeOf { before, after, .. }) = change.of::<StorageVersionRow>() else {
            return;
        };
        let gone: Vec<_> = entries
            .iter()
            .filter(|entry| entry.after.is_none())
            .collect();
        if gone.len() > 1 && matches!(command, Command::Expire(_)) {
            self.came_to("two members went from one resource at once");
        }
        if after.is_none() {
            self.came_to("the last entry went");
        }
        let Some(after) = after else {
            return;
        };
        if after.status.decodable.status == ConditionStatus::False {
            self.came_to("not every version was decodable");
        }
        let reporter = match command {
            Command::Report(report) => Some(&report.member),
            _ => None,
        };
        for entry in entries {
            let taken = entry.after.as_ref().filter(|row| row.is_voting());
            let Some(taken) = taken else {
                continue;
            };
            let took = entry
                .before
                .as_ref()
                .is_some_and(|row| row.encoding.is_none());
            match (&entry.before, &taken.encoding) {
                (None, None) => self.came_to("a voter waited for a selection"),
                (Some(_), Some(_)) if took && reporter != Some(&entry.member) => {
                    self.came_to("a waiting voter took the selection of another's command");
                }
                _ => {}
            }
        }
        let before = before.as_ref().map(|row| &row.status);
        for entry in gone.iter().filter_map(|entry| entry.before.as_ref()) {
            let selection = before.map(|status| status.selected_revision);
            if entry.is_voting() && entry.encoding.is_some() && entry.adopted_revision != selection
            {
                self.came_to("a voter was behind when it went");
            }
        }
    }

    /// Counts what workers and evicted members leave.
    fn look_at_late_writes(
        &mut self,
        command: &Command,
        before: &StateStatus,
        after: &StateStatus,
    ) {
        let tokens = |status: &StateStatus| -> Vec<ClaimToken> {
            status.claim_drains.keys().copied().collect()
        };
        let (drained, drains) = (tokens(before), tokens(after));
        if drains.iter().any(|token| !drained.contains(token)) {
            self.came_to("a claim that ended left a drain");
        }
        if matches!(command, Command::ReleaseMigration(_)) && drains.len() < drained.len() {
            self.came_to("a worker lifted the drain of its claim");
        }
        if after.said_stopped.len() > before.said_stopped.len() {
            self.came_to("a member was said to have stopped");
        }
    }

    fn look_at_state(&mut self, command: &Command, change: &Change) {
        let agreement = &change.agreement;
        let Some(ChangeOf { before, after, .. }) = change.of::<StorageStateRow>() else {
            return;
        };
        let Some(after) = after.map(|row| &row.status) else {
            self.came_to("a resource was forgotten");
            return;
        };
        let Some(before) = before.as_ref().map(|row| &row.status) else {
            return;
        };
        let departs = matches!(command, Command::Leave(_) | Command::Expire(_));
        if before.selected != after.selected {
            let version = after.selected.as_ref();
            let again = before
                .persisted
                .iter()
                .any(|kept| kept.version() == version);
            self.came_to(match &before.selected {
                None => "selected was set",
                Some(_) if departs => "selected moved by a departure",
                Some(_) if again => "selected came back to a version",
                Some(_) => "selected moved by a report",
            });
            if let Command::Report(report) = command
                && report.entries.iter().all(|entry| !entry.stance.is_voting())
            {
                self.came_to("selected followed fixed entries");
            }
        }
        if let Some(line) = agreement {
            match line.to {
                Some(_) if matches!(command, Command::Adopt(_)) => {
                    self.came_to("agreement was gained by adopting");
                }
                Some(_) => {}
                None => self.came_to("agreement was lost"),
            }
        }
        let seen = after.observation.as_ref();
        if seen.is_some_and(|seen| seen.hashes.len() > 1) {
            self.came_to("several hashes were no agreement");
        }
        if before.observation.is_some() && seen.is_none() && matches!(command, Command::Restore(_))
        {
            self.came_to("a restore ended an observation");
        }
        self.look_at_late_writes(command, before, after);
        // An ended drain may be removed.
        let mut drains = after.drains.iter();
        let raised = drains.any(|(version, until)| before.drains.get(version) < Some(until));
        match command {
            Command::Leave(leave) if leave.drained && !raised => {
                self.came_to("a drain was not raised by a drained leave");
            }
            Command::Leave(_) | Command::Expire(_) if raised => {
                self.came_to("a drain was raised by a departure");
            }
            Command::Expire(_) => self.came_to("a member that never reported went with entries"),
            Command::Join(_) if raised => self.came_to("a drain was raised by a replacement"),
            _ => {}
        }
    }
}
