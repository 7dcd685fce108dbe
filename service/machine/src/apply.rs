//! Apply: one log entry, all of its commands, in order.

use std::sync::Arc;

use synod_model::{ErrorKind, Refusal, RequestId};

use crate::commands::{self, migrations};
use crate::sessions::{Recorded, expired};
use crate::turn::Turn;
use crate::{Answer, Applied, Command, Envelope, Holder, LogEntry, Outcome, RevisionEvents, State};

impl State {
    /// Applies one log entry. Total and deterministic: it depends on nothing but the state and the entry, every command
    /// gets an outcome, and a refused command changes nothing but the record of its outcome.
    ///
    /// # Panics
    ///
    /// If an invariant of the state does not hold, or the log goes on with a machine version that this build does not
    /// know. A replica with a wrong state must stop rather than answer.
    pub fn apply(&mut self, entry: &LogEntry) -> Applied {
        self.log_time = self.log_time.max(entry.log_time);
        if entry.lift_deadlines {
            self.deadlines.lifted_at = self.log_time;
        }
        let mut applied = Applied::default();
        for envelope in &entry.commands {
            let (outcome, events) = self.apply_once(entry, envelope);
            applied.outcomes.push(outcome);
            applied.events.extend(events);
        }
        self.trim_history();
        applied
    }

    /// Applies a command unless its session says that it was applied before.
    fn apply_once(
        &mut self,
        entry: &LogEntry,
        envelope: &Envelope,
    ) -> (Outcome, Option<Arc<RevisionEvents>>) {
        let Some(request) = envelope.request else {
            return self.apply_command(entry, &envelope.command);
        };
        match self.recorded(request.session, request.sequence) {
            Recorded::Applied(outcome) => (outcome, None),
            Recorded::Expired => (self.refused(expired(request)), None),
            Recorded::NotApplied => match self.check_room(request) {
                Err(refusal) => (self.refused(refusal), None),
                Ok(()) => self.apply_and_record(entry, request, &envelope.command),
            },
        }
    }

    fn apply_and_record(
        &mut self,
        entry: &LogEntry,
        request: RequestId,
        command: &Command,
    ) -> (Outcome, Option<Arc<RevisionEvents>>) {
        let (outcome, events) = self.apply_command(entry, command);
        if self.sessions.contains_key(&request.session) {
            let ttl = self.settings.session_ttl;
            Turn::begin(self, entry.wall).extend_deadline(Holder::Session(request.session), ttl);
            self.record(request, &outcome);
        }
        (outcome, events)
    }

    fn apply_command(
        &mut self,
        entry: &LogEntry,
        command: &Command,
    ) -> (Outcome, Option<Arc<RevisionEvents>>) {
        if self.cluster.is_none() && !matches!(command, Command::Initialize(_)) {
            return (self.refused(not_formed()), None);
        }
        let mut turn = Turn::begin(self, entry.wall);
        let result = carry_out(&mut turn, command);
        let events = turn.end();
        assert!(
            result.is_ok() || events.is_none(),
            "a refused command changes nothing: {command:?}"
        );
        (
            Outcome {
                revision: self.revision,
                changed: events.is_some(),
                result,
            },
            events,
        )
    }

    fn refused(&self, refusal: Refusal) -> Outcome {
        Outcome {
            revision: self.revision,
            changed: false,
            result: Err(refusal),
        }
    }

    fn trim_history(&mut self) {
        let (revisions, bytes) = (self.settings.history_revisions, self.settings.history_bytes);
        for hash in self.history.trim(revisions, bytes) {
            self.sum.subtract(hash);
        }
    }
}

/// The commands on histories of ControllerRevisions, under names that fit a line of the match below.
mod revisions {
    pub(super) use crate::commands::adopt_controller_revisions::apply as adopt;
    pub(super) use crate::commands::create_controller_revision::apply as create;
    pub(super) use crate::commands::delete_controller_revisions::apply as delete;
    pub(super) use crate::commands::mark_controller_revisions::apply as mark;
    pub(super) use crate::commands::release_controller_revision::apply as release;
    pub(super) use crate::commands::rollback_controller_revision::apply as rollback;
    pub(super) use crate::commands::truncate_controller_revisions::apply as truncate;
    pub(super) use crate::commands::update_controller_revision::apply as update;
}

fn carry_out(turn: &mut Turn<'_>, command: &Command) -> Result<Answer, Refusal> {
    match command {
        Command::Initialize(initialize) => commands::initialize::apply(turn, initialize),
        Command::Restore(restore) => commands::restore::apply(turn, restore),
        Command::AnnounceReplica(announce) => commands::announce_replica::apply(turn, announce),
        Command::RaiseMachineVersion(raise) => commands::raise_machine_version::apply(turn, raise),
        Command::OpenSession(_) => commands::open_session::apply(turn),
        Command::CloseSession(close) => commands::close_session::apply(turn, close),
        Command::Join(join) => commands::join::apply(turn, join),
        Command::Renew(renew) => commands::renew::apply(turn, renew),
        Command::MarkReady(ready) => commands::mark_ready::apply(turn, ready),
        Command::Leave(leave) => commands::leave::apply(turn, leave),
        Command::Report(report) => commands::report::apply(turn, report),
        Command::Adopt(adopt) => commands::adopt::apply(turn, adopt),
        Command::ForgetResource(forget) => commands::forget_resource::apply(turn, forget),
        Command::Expire(expire) => commands::expire::apply(turn, expire),
        Command::UpdateSettings(update) => commands::update_settings::apply(turn, update),
        Command::CreateCollection(create) => commands::create_collection::apply(turn, create),
        Command::UpdateCollection(update) => commands::update_collection::apply(turn, update),
        Command::DeleteCollection(delete) => commands::delete_collection::apply(turn, delete),
        Command::CreateObject(create) => commands::create_object::apply(turn, create),
        Command::UpdateObject(update) => commands::update_object::apply(turn, update),
        Command::PatchObject(patch) => commands::patch_object::apply(turn, patch),
        Command::DeleteObject(delete) => commands::delete_object::apply(turn, delete),
        Command::Transact(transact) => commands::transact::apply(turn, transact),
        Command::CollectGarbage(_) => Ok(commands::collect_garbage::apply(turn)),
        Command::CreateControllerRevision(create) => revisions::create(turn, create),
        Command::UpdateControllerRevision(update) => revisions::update(turn, update),
        Command::RollbackControllerRevision(rollback) => revisions::rollback(turn, rollback),
        Command::MarkControllerRevisions(marking) => revisions::mark(turn, marking),
        Command::TruncateControllerRevisions(truncate) => revisions::truncate(turn, truncate),
        Command::DeleteControllerRevisions(delete) => revisions::delete(turn, delete),
        Command::AdoptControllerRevisions(adopt) => revisions::adopt(turn, adopt),
        Command::ReleaseControllerRevision(release) => revisions::release(turn, release),
        Command::AcquireLease(acquire) => commands::acquire_lease::apply(turn, acquire),
        Command::RenewLease(renew) => commands::renew_lease::apply(turn, renew),
        Command::ReleaseLease(release) => commands::release_lease::apply(turn, release),
        Command::PutLeaseCandidate(put) => commands::put_lease_candidate::apply(turn, put),
        Command::RenewLeaseCandidate(renew) => commands::renew_lease_candidate::apply(turn, renew),
        Command::WithdrawLeaseCandidate(withdraw) => {
            commands::withdraw_lease_candidate::apply(turn, withdraw)
        }
        Command::StartMigration(start) => migrations::start::apply(turn, start),
        Command::ClaimMigration(claim) => migrations::claim::apply(turn, claim),
        Command::ReportMigrationProgress(report) => migrations::progress::apply(turn, report),
        Command::CompleteMigration(complete) => migrations::complete::apply(turn, complete),
        Command::FailMigration(fail) => migrations::fail::apply(turn, fail),
        Command::AbortMigration(abort) => migrations::abort::apply(turn, abort),
        Command::RetryMigration(retry) => migrations::retry::apply(turn, retry),
        Command::ObserveStorage(observe) => commands::observe_storage::apply(turn, observe),
        Command::ResetStorageStates(reset) => commands::reset_storage_states::apply(turn, reset),
        Command::SetRoster(set) => commands::rosters::set(turn, set),
        Command::DeleteRoster(delete) => commands::rosters::delete(turn, delete),
    }
}

fn not_formed() -> Refusal {
    Refusal::new(
        ErrorKind::Unavailable,
        "the cluster is being formed: try again in a moment".to_owned(),
    )
    .with("not_executed", "true")
}
