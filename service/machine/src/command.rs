//! Every command there is.

use std::collections::BTreeSet;

use synod_model::{
    AbortMigration, AcquireLease, Adopt, AdoptControllerRevisions, ClaimMigration, ClaimToken,
    CloseSession, ClusterId, CompleteMigration, CreateCollection, CreateControllerRevision,
    CreateObject, DeleteCollection, DeleteControllerRevisions, DeleteObject, DeleteRoster, Epoch,
    FailMigration, ForgetResource, GroupResource, HolderIdentity, Join, LeaseKey, Leave, LiveMark,
    MarkControllerRevisions, MarkReady, MemberId, MigrationId, NamespacedName, ObjectKey,
    ObserveStorage, OpenSession, PatchObject, PutLeaseCandidate, ReleaseControllerRevision,
    ReleaseLease, Renew, RenewLease, RenewLeaseCandidate, Report, ReportMigrationProgress,
    ResetStorageStates, RetryMigration, Revision, RollbackControllerRevision, SessionId, SetRoster,
    Settings, StartMigration, Ticket, Transact, TruncateControllerRevisions, UpdateCollection,
    UpdateControllerRevision, UpdateObject, UpdateSettings, WithdrawLeaseCandidate,
};

use crate::command_table::command_table;
use crate::{DirectoryId, ReplicaId};

macro_rules! define {
    ($($(#[$doc:meta])* $number:literal $command:ident $lane:ident = $($apply:ident)::+;)*) => {
        /// What a log entry can ask for. Each variant has its file under `commands/`.
        ///
        /// A replica that reads a variant it does not know stops: it never skips.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Command {
            $($(#[$doc])* $command($command),)*
        }

        /// A command without its contents.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum CommandName {
            $($(#[$doc])* $command,)*
        }

        impl Command {
            /// Which command this is.
            #[must_use]
            pub const fn name(&self) -> CommandName {
                match self {
                    $(Self::$command(_) => CommandName::$command,)*
                }
            }
        }

        impl CommandName {
            /// Whether the command keeps members alive or makes room, so that it may not wait behind a flood of others.
            #[must_use]
            pub const fn is_urgent(self) -> bool {
                match self {
                    $(Self::$command => define!(@lane $lane),)*
                }
            }
        }
    };
    (@lane urgent) => { true };
    (@lane ordinary) => { false };
}

command_table!(define);

/// Deals with more of the dependents that deletions have left, up to the bound of one command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectGarbage {}

/// The identity and the first settings of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initialize {
    /// The cluster's identity, made when the replica set was formed.
    pub cluster: ClusterId,
    /// The settings to begin with.
    pub settings: Settings,
}

/// The state that was applied so far is that of a backup: what happened after it is lost, and the cluster that this made
/// is another one.
///
/// Nobody may still answer for the lost cluster. What is selected stays, as it does when every member goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restore {
    /// The identity of the cluster from now on, which must not be the present one.
    pub cluster: ClusterId,
}

/// What a replica says of itself when it starts, and when that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnounceReplica {
    /// Who speaks.
    pub replica: ReplicaId,
    /// The identity of its data directory.
    pub directory: DirectoryId,
    /// The address at which it serves clients: what a leader hint names.
    pub client_endpoint: String,
    /// The version of its program, for display.
    pub binary: String,
    /// The highest machine version that it knows.
    pub machine_version: u32,
    /// Whether its disk is nearly full.
    pub disk_is_low: bool,
}

/// A new behaviour of apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaiseMachineVersion {
    /// The version to use from the next command on.
    pub to: u32,
    /// The replica set: each of it must have announced support. What others said who have left it counts for nothing.
    pub replicas: BTreeSet<ReplicaId>,
}

/// What the leader found to be past its deadline. Apply checks each against the entry's own log time, so a renewal
/// that is earlier in the log wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expire {
    /// Members, each with the epoch that was seen.
    pub members: BTreeSet<(MemberId, Epoch)>,
    /// Sessions.
    pub sessions: BTreeSet<SessionId>,
    /// Members whose present epoch never reported, so that the entries of the replaced one must go.
    pub unreported: BTreeSet<(MemberId, Epoch)>,
    /// Leases, each with the resource version that was seen.
    pub leases: BTreeSet<(LeaseKey, Revision)>,
    /// Places in queues for leases.
    pub lease_waiters: BTreeSet<(LeaseKey, Ticket)>,
    /// Candidates for leases.
    pub lease_candidates: BTreeSet<(LeaseKey, HolderIdentity)>,
    /// Objects with a TTL.
    pub objects: BTreeSet<ObjectKey>,
    /// Claims of workers that are silent, each with the token that was seen.
    pub claims: BTreeSet<(MigrationId, ClaimToken)>,
    /// Failed migrations whose pause is over.
    pub retries: BTreeSet<MigrationId>,
    /// Resources at whose discovery nobody has looked for too long.
    pub observations: BTreeSet<GroupResource>,
    /// Marks of ControllerRevisions that were not set again.
    pub marks: BTreeSet<(NamespacedName, LiveMark)>,
}
