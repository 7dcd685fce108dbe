//! The type [`Command`], made from the table of commands, and the commands that are not defined in `synod-model`.

use std::collections::BTreeSet;

use synod_model::{
    AbortMigration, AcquireLease, AddEquivalents, Adopt, AdoptControllerRevisions, ClaimMigration,
    ClaimToken, CloseSession, ClusterId, CompleteMigration, CreateCollection,
    CreateControllerRevision, CreateObject, DeleteCollection, DeleteControllerRevisions,
    DeleteLease, DeleteMigration, DeleteObject, DeleteRoster, DismissLooks, Epoch, FailMigration,
    ForgetResource, GroupResource, HolderIdentity, Join, LeaseKey, Leave, LiveMark,
    MarkControllerRevisions, MarkReady, MemberId, MigrationId, NamespacedName, ObjectKey,
    ObserveStorage, ObserverName, OpenSession, PatchObject, PutLeaseCandidate,
    ReleaseControllerRevision, ReleaseLease, ReleaseMigration, RemoveEquivalent, Renew, RenewLease,
    RenewLeaseCandidate, Report, ReportMigrationProgress, ResetStorageStates, RetryMigration,
    Revision, RollbackControllerRevision, SessionId, SetRoster, Settings, StartMigration, Ticket,
    Transact, TruncateControllerRevisions, UpdateCollection, UpdateControllerRevision,
    UpdateObject, UpdateSettings, WithdrawLeaseCandidate,
};

use crate::command_table::command_table;
use crate::{DirectoryId, ReplicaId};

macro_rules! define {
    ($($(#[$doc:meta])* $number:literal $command:ident $lane:ident = $($apply:ident)::+;)*) => {
        /// A command of a log entry. Each variant is carried out by a file under `commands/`.
        ///
        /// A replica stops when it reads a variant that it does not know: it never skips one.
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

/// Processes more of the dependents that deletions have left, up to the bound of one command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectGarbage {}

/// Does more of what follows from switches that moved, up to the bound of one command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FollowSwitches {}

/// The identity and the first settings of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initialize {
    /// The cluster's identity, made when the replica set was formed.
    pub cluster: ClusterId,
    /// The settings to begin with.
    pub settings: Settings,
}

/// Declares that the state applied so far comes from a backup: what happened after the backup is lost, and from here on
/// the cluster has another identity.
///
/// No program may still serve the lost cluster. `selected` of each resource stays, as it does when every member goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restore {
    /// The new identity of the cluster, which must differ from the present one.
    pub cluster: ClusterId,
}

/// What a replica announces about itself when it starts, and again when that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnnounceReplica {
    /// The replica that announces itself.
    pub replica: ReplicaId,
    /// The identity of its data directory.
    pub directory: DirectoryId,
    /// The address at which the replica serves clients: leader hints name it.
    pub client_endpoint: String,
    /// The version of its program, for display.
    pub binary: String,
    /// The highest machine version that the replica knows.
    pub machine_version: u32,
    /// Whether its disk is nearly full.
    pub disk_is_low: bool,
}

/// Puts a newer behaviour of apply in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaiseMachineVersion {
    /// The version to use from the next command on.
    pub to: u32,
    /// The replica set, each of which must have announced support. Announcements of other replicas do not count.
    pub replicas: BTreeSet<ReplicaId>,
}

/// What the leader found to be past its deadline. Apply checks each item against the log time of the entry, so a
/// renewal that is earlier in the log wins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expire {
    /// Members, each with the epoch that the leader saw.
    pub members: BTreeSet<(MemberId, Epoch)>,
    /// Sessions.
    pub sessions: BTreeSet<SessionId>,
    /// Members whose present epoch never reported: the entries of the replaced epoch are to be removed.
    pub unreported: BTreeSet<(MemberId, Epoch)>,
    /// Leases, each with the resource version that the leader saw.
    pub leases: BTreeSet<(LeaseKey, Revision)>,
    /// Places in queues for leases.
    pub lease_waiters: BTreeSet<(LeaseKey, Ticket)>,
    /// Candidates for leases.
    pub lease_candidates: BTreeSet<(LeaseKey, HolderIdentity)>,
    /// Objects with a TTL.
    pub objects: BTreeSet<ObjectKey>,
    /// Claims of workers that no longer report, each with the token that the leader saw.
    pub claims: BTreeSet<(MigrationId, ClaimToken)>,
    /// Failed migrations whose pause before the next attempt is over.
    pub retries: BTreeSet<MigrationId>,
    /// Resources whose observation of discovery was not repeated in time.
    pub observations: BTreeSet<GroupResource>,
    /// Marks of ControllerRevisions that were not set again.
    pub marks: BTreeSet<(NamespacedName, LiveMark)>,
    /// Topics for which a date or a drain is over.
    pub topics: BTreeSet<GroupResource>,
    /// Looks of named observers that did not reach all of their servers in time.
    pub looks: BTreeSet<(GroupResource, ObserverName)>,
}
