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

use crate::{DirectoryId, ReplicaId};

/// What a log entry can ask for. Each variant has its file under `commands/`.
///
/// A replica that reads a variant it does not know stops: it never skips.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Makes the cluster: its identity and first settings. The first command of every log.
    Initialize(Initialize),
    /// Goes on with the state of a backup, as another cluster.
    Restore(Restore),
    /// A replica says where it serves clients and which machine versions it knows.
    AnnounceReplica(AnnounceReplica),
    /// Raises the behaviour of apply once every replica knows it.
    RaiseMachineVersion(RaiseMachineVersion),
    /// Opens an exactly-once session.
    OpenSession(OpenSession),
    /// Ends a session and forgets its outcomes.
    CloseSession(CloseSession),
    /// Lets a member in, or replaces the one that holds the id.
    Join(Join),
    /// Moves a member's deadline.
    Renew(Renew),
    /// Moves a member from joining to ready.
    MarkReady(MarkReady),
    /// Removes a member and all that hangs on it.
    Leave(Leave),
    /// What a member says of its resources.
    Report(Report),
    /// A voter says that it now encodes the selected version.
    Adopt(Adopt),
    /// Removes what stays of a resource that nobody reports.
    ForgetResource(ForgetResource),
    /// Removes what is past its deadline.
    Expire(Expire),
    /// Changes the replicated settings.
    UpdateSettings(UpdateSettings),
    /// Declares a resource.
    CreateCollection(CreateCollection),
    /// Changes what the writes of a collection must hold to.
    UpdateCollection(UpdateCollection),
    /// Removes an empty collection.
    DeleteCollection(DeleteCollection),
    /// Stores a new object.
    CreateObject(CreateObject),
    /// Replaces an object.
    UpdateObject(UpdateObject),
    /// Changes a part of an object's data.
    PatchObject(PatchObject),
    /// Deletes an object, or begins to.
    DeleteObject(DeleteObject),
    /// Changes several objects as one.
    Transact(Transact),
    /// Deals with dependents that deletions have left.
    CollectGarbage(CollectGarbage),
    /// Says what a controller wants now.
    CreateControllerRevision(CreateControllerRevision),
    /// Changes what may be changed of a snapshot.
    UpdateControllerRevision(UpdateControllerRevision),
    /// Makes an older snapshot the newest of its history.
    RollbackControllerRevision(RollbackControllerRevision),
    /// Says which snapshots of a history are in use.
    MarkControllerRevisions(MarkControllerRevisions),
    /// Deletes the oldest of a history that nobody uses.
    TruncateControllerRevisions(TruncateControllerRevisions),
    /// Deletes a snapshot or a whole history.
    DeleteControllerRevisions(DeleteControllerRevisions),
    /// Takes snapshots without a controller into a history.
    AdoptControllerRevisions(AdoptControllerRevisions),
    /// Lets a snapshot go from its history.
    ReleaseControllerRevision(ReleaseControllerRevision),
    /// Takes a lease, or a place in the queue for it.
    AcquireLease(AcquireLease),
    /// Moves a lease's deadline.
    RenewLease(RenewLease),
    /// Gives up a lease, or a place in the queue for it.
    ReleaseLease(ReleaseLease),
    /// Lets somebody stand for a lease.
    PutLeaseCandidate(PutLeaseCandidate),
    /// Moves a candidate's deadline.
    RenewLeaseCandidate(RenewLeaseCandidate),
    /// Lets somebody stand for a lease no longer.
    WithdrawLeaseCandidate(WithdrawLeaseCandidate),
    /// Creates a migration by hand.
    StartMigration(StartMigration),
    /// Gives a pending migration to a worker.
    ClaimMigration(ClaimMigration),
    /// A worker says how far it is.
    ReportMigrationProgress(ReportMigrationProgress),
    /// A worker says that it is done.
    CompleteMigration(CompleteMigration),
    /// A worker gives up.
    FailMigration(FailMigration),
    /// Calls a migration off.
    AbortMigration(AbortMigration),
    /// Has a failed migration tried again.
    RetryMigration(RetryMigration),
    /// What discovery shows of a resource.
    ObserveStorage(ObserveStorage),
    /// Forgets what is known of the store.
    ResetStorageStates(ResetStorageStates),
    /// Says who must speak.
    SetRoster(SetRoster),
    /// Takes a roster away: the next wider one counts.
    DeleteRoster(DeleteRoster),
}

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
