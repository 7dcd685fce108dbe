//! Whether who sends a command may use the tokens and the session in it.
//!
//! The names that a command says are checked by the replica that takes the call. Whose a token or a session is only the
//! state knows, and who has seen a token need not be its holder.

use synod_model::{
    Actor, ClaimToken, ErrorKind, Fences, FencingToken, LeaseKey, MigrationId, Refusal, SessionId,
};

use crate::{Command, State};

impl State {
    /// Whether who sends a command may use the tokens in it.
    ///
    /// # Errors
    ///
    /// `PERMISSION_DENIED` if one of them belongs to somebody else. A token that counts no more is let pass: the command
    /// says what has become of it.
    pub(crate) fn check_tokens(
        &self,
        command: &Command,
        actor: Option<&Actor>,
    ) -> Result<(), Refusal> {
        let Some(actor) = actor else {
            return Ok(());
        };
        match command {
            Command::CloseSession(close) => self.check_session(close.session, actor),
            Command::RenewLease(renew) => self.check_hold(&renew.key, renew.token, actor),
            Command::CreateObject(create) => self.check_fences_of(&create.fences, actor),
            Command::UpdateObject(update) => self.check_fences_of(&update.fences, actor),
            Command::PatchObject(patch) => self.check_fences_of(&patch.fences, actor),
            Command::DeleteObject(delete) => self.check_fences_of(&delete.fences, actor),
            Command::Transact(transact) => self.check_fences_of(&transact.fences, actor),
            Command::ReportMigrationProgress(it) => self.check_claim(&it.id, it.token, actor),
            Command::CompleteMigration(it) => self.check_claim(&it.id, it.token, actor),
            Command::FailMigration(it) => self.check_claim(&it.id, it.token, actor),
            Command::ReleaseMigration(it) => self.check_claim(&it.id, it.token, actor),
            // These carry no token but those of members, who are named beside them.
            Command::Initialize(_)
            | Command::Restore(_)
            | Command::AnnounceReplica(_)
            | Command::RaiseMachineVersion(_)
            | Command::OpenSession(_)
            | Command::Join(_)
            | Command::Renew(_)
            | Command::MarkReady(_)
            | Command::Leave(_)
            | Command::Report(_)
            | Command::Adopt(_)
            | Command::ForgetResource(_)
            | Command::Expire(_)
            | Command::UpdateSettings(_)
            | Command::CreateCollection(_)
            | Command::UpdateCollection(_)
            | Command::DeleteCollection(_)
            | Command::CollectGarbage(_)
            | Command::FollowSwitches(_)
            | Command::CreateControllerRevision(_)
            | Command::UpdateControllerRevision(_)
            | Command::RollbackControllerRevision(_)
            | Command::MarkControllerRevisions(_)
            | Command::TruncateControllerRevisions(_)
            | Command::DeleteControllerRevisions(_)
            | Command::AdoptControllerRevisions(_)
            | Command::ReleaseControllerRevision(_)
            | Command::AcquireLease(_)
            | Command::ReleaseLease(_)
            | Command::DeleteLease(_)
            | Command::PutLeaseCandidate(_)
            | Command::RenewLeaseCandidate(_)
            | Command::WithdrawLeaseCandidate(_)
            | Command::StartMigration(_)
            | Command::ClaimMigration(_)
            | Command::AbortMigration(_)
            | Command::DeleteMigration(_)
            | Command::RetryMigration(_)
            | Command::ObserveStorage(_)
            | Command::ResetStorageStates(_)
            | Command::DismissLooks(_)
            | Command::AddEquivalents(_)
            | Command::RemoveEquivalent(_)
            | Command::SetRoster(_)
            | Command::DeleteRoster(_) => Ok(()),
        }
    }

    /// Whether a session was opened by this caller, or by one who had proved nothing.
    ///
    /// # Errors
    ///
    /// `PERMISSION_DENIED` if it was not.
    pub fn check_session(&self, id: SessionId, actor: &Actor) -> Result<(), Refusal> {
        let session = self.sessions.get(&id);
        let owner = session.and_then(|session| session.owner.as_ref());
        if owner.is_none_or(|owner| *owner == actor.identity) {
            return Ok(());
        }
        let message = format!(
            "session {id} was opened by somebody else: open one of your own; you are \"{}\"",
            actor.identity
        );
        Err(Refusal::new(ErrorKind::PermissionDenied, message))
    }

    fn check_hold(
        &self,
        key: &LeaseKey,
        token: FencingToken,
        actor: &Actor,
    ) -> Result<(), Refusal> {
        let lease = self.leases.rows.get(key);
        let hold = lease.and_then(|lease| lease.hold.as_ref());
        match hold.filter(|hold| hold.token == token) {
            Some(hold) => {
                let what = format!("lease \"{key}\"");
                check_name(actor, hold.holder.as_str(), "holds", &what)
            }
            None => Ok(()),
        }
    }

    fn check_fences_of(&self, fences: &Fences, actor: &Actor) -> Result<(), Refusal> {
        match &fences.if_lease {
            Some((key, token)) => self.check_hold(key, *token, actor),
            None => Ok(()),
        }
    }

    fn check_claim(
        &self,
        id: &MigrationId,
        token: ClaimToken,
        actor: &Actor,
    ) -> Result<(), Refusal> {
        let claim = self.migration(id).ok().and_then(|it| it.claim.as_ref());
        let claim = claim.filter(|claim| claim.token == token);
        // A claim that has ended counts for as long as it drains: its worker can lift that.
        let kept = self.state_of(id.resource());
        let drain = kept.and_then(|kept| kept.row.status.claim_drains.get(&token));
        let present = claim.map(|claim| (&claim.worker, "has claimed"));
        let past = drain.map(|drain| (&drain.worker, "had claimed"));
        match present.or(past) {
            Some((worker, does)) => {
                let what = format!("migration \"{id}\"");
                check_name(actor, worker.as_str(), does, &what)
            }
            None => Ok(()),
        }
    }
}

fn check_name(actor: &Actor, name: &str, does: &str, what: &str) -> Result<(), Refusal> {
    if actor.may_act_as(name) {
        return Ok(());
    }
    let message = format!(
        "\"{name}\" {does} {what}, and \"{}\" may not act under that name: use a token of your own",
        actor.identity
    );
    Err(Refusal::new(ErrorKind::PermissionDenied, message))
}
