//! The two lanes, and which commands take which.

use synod_machine::Command;
use synod_model::stored_variants;

/// How a command is let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// What can wait behind a flood.
    Ordinary,
    /// What keeps members alive or makes room.
    Renewal,
}

impl Lane {
    /// Both of them.
    pub(crate) const ALL: [Self; 2] = [Self::Ordinary, Self::Renewal];

    /// The lane of a command.
    #[must_use]
    pub fn of(command: &Command) -> Self {
        match command {
            Command::Join(_)
            | Command::Renew(_)
            | Command::ReportMigrationProgress(_)
            | Command::CompleteMigration(_)
            | Command::FailMigration(_)
            | Command::ObserveStorage(_)
            | Command::MarkReady(_)
            | Command::Leave(_)
            | Command::Report(_)
            | Command::Adopt(_)
            | Command::RenewLease(_)
            | Command::RenewLeaseCandidate(_)
            | Command::Expire(_) => Self::Renewal,
            Command::Initialize(_)
            | Command::Restore(_)
            | Command::AnnounceReplica(_)
            | Command::RaiseMachineVersion(_)
            | Command::OpenSession(_)
            | Command::CloseSession(_)
            | Command::ForgetResource(_)
            | Command::UpdateSettings(_)
            | Command::CreateCollection(_)
            | Command::UpdateCollection(_)
            | Command::DeleteCollection(_)
            | Command::CreateObject(_)
            | Command::UpdateObject(_)
            | Command::PatchObject(_)
            | Command::DeleteObject(_)
            | Command::Transact(_)
            | Command::CollectGarbage(_)
            | Command::CreateControllerRevision(_)
            | Command::UpdateControllerRevision(_)
            | Command::RollbackControllerRevision(_)
            | Command::MarkControllerRevisions(_)
            | Command::TruncateControllerRevisions(_)
            | Command::DeleteControllerRevisions(_)
            | Command::AdoptControllerRevisions(_)
            | Command::ReleaseControllerRevision(_)
            | Command::StartMigration(_)
            | Command::ClaimMigration(_)
            | Command::AbortMigration(_)
            | Command::RetryMigration(_)
            | Command::ResetStorageStates(_)
            | Command::SetRoster(_)
            | Command::DeleteRoster(_)
            | Command::AcquireLease(_)
            | Command::ReleaseLease(_)
            | Command::PutLeaseCandidate(_)
            | Command::WithdrawLeaseCandidate(_) => Self::Ordinary,
        }
    }

    /// Its name in metrics and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ordinary => "ordinary",
            Self::Renewal => "renewal",
        }
    }
}

stored_variants! { Lane { 1 Ordinary, 2 Renewal } }
