//! The rows that a checkpoint consists of.

use std::sync::Arc;

use synod_model::{
    AgreementChange, ClusterId, Collection, ControllerRevision, GroupResource, Identity, Lease,
    LeaseCandidate, LeaseKey, LogTime, Member, MemberId, Migration, MigrationId, PackedObject,
    Revision, Roster, Sequence, SessionId, Settings, Ticket, Uid, Waiter,
};

use crate::{
    Aftermath, Deadline, Digest, EntryRow, Garbage, Heartbeat, Holder, MembershipRow, OutcomeRow,
    ProgressRow, ReplicaId, ReplicaRow, RevisionEvents, StatementRow, StorageStateRow,
    StorageVersionRow,
};

/// One row of the state. A checkpoint is one `Header`, then the other rows in the order in which
/// [`State::rows`](crate::State::rows) gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// The fields of the state that are in no map, and the digest of the whole state.
    Header {
        /// The cluster; `None` before its first command.
        cluster: Option<ClusterId>,
        /// The machine version in force.
        machine_version: u32,
        /// The revision of the store.
        revision: Revision,
        /// The log time of the last entry.
        log_time: LogTime,
        /// When deadlines were last lifted.
        lifted_at: LogTime,
        /// The newest revision that the history does not keep.
        history_floor: Revision,
        /// The log time until which writes of members that only a lost cluster knew may arrive; zero without a restore.
        strangers_write_until: LogTime,
        /// What [`State::digest`](crate::State::digest) must answer for the loaded state.
        digest: Digest,
        /// The newest revision of which the upgrade history may not keep events; `None` if that is `history_floor`.
        upgrade_floor: Option<Revision>,
    },
    /// The replicated settings.
    Settings(Arc<Settings>),
    /// What a replica announced.
    Replica(ReplicaId, ReplicaRow),
    /// A replica that has left the replica set.
    LeftReplica(ReplicaId),
    /// A member.
    Member(Arc<Member>),
    /// The last statement of a member under its epoch. It comes after the member.
    Statement(MemberId, StatementRow),
    /// A deadline.
    Deadline(Holder, Deadline),
    /// An open session, the lowest sequence number that it still accepts, and who opened it.
    Session(SessionId, Sequence, Option<Identity>),
    /// The kept outcome of a request.
    Outcome(SessionId, Sequence, Arc<OutcomeRow>),
    /// A reported resource. It comes before its entries.
    StorageVersion(GroupResource, Arc<StorageVersionRow>),
    /// One resource reported by one member.
    Entry(GroupResource, MemberId, Arc<EntryRow>),
    /// The state that is kept of a resource. It comes before its agreements.
    StorageState(GroupResource, Arc<StorageStateRow>),
    /// A line of a resource's history of agreements, oldest first.
    Agreement(GroupResource, Arc<AgreementChange>),
    /// A collection. It comes before its objects.
    Collection(Arc<Collection>),
    /// An object.
    Object(PackedObject),
    /// The work that a deletion has left, by the uid of the owner.
    Garbage(Uid, Arc<Garbage>),
    /// A ControllerRevision.
    ControllerRevision(Arc<ControllerRevision>),
    /// A lease. It comes before its waiters.
    Lease(Arc<Lease>),
    /// A place in the queue for a lease.
    LeaseWaiter(LeaseKey, Ticket, Arc<Waiter>),
    /// A candidate for a lease.
    LeaseCandidate(Arc<LeaseCandidate>),
    /// When the discovery of a resource was last observed. It comes after its storage state.
    Heartbeat(GroupResource, Heartbeat),
    /// A migration.
    Migration(Arc<Migration>),
    /// The progress of a migration. It comes after the migration.
    MigrationProgress(MigrationId, Arc<ProgressRow>),
    /// A roster.
    Roster(Arc<Roster>),
    /// What still has to follow from a switch that moved.
    Aftermath(Aftermath),
    /// The memory of the memberships of an id.
    Membership(MemberId, Arc<MembershipRow>),
    /// The events of a revision, oldest first.
    Events(Arc<RevisionEvents>),
}

impl Row {
    /// What the row is of, as a word for people.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Header { .. } => "header",
            Self::Settings(_) => "settings",
            Self::Replica(..) => "replica",
            Self::LeftReplica(_) => "replica that has left",
            Self::Member(_) => "member",
            Self::Statement(..) => "statement",
            Self::Deadline(..) => "deadline",
            Self::Session(..) => "session",
            Self::Outcome(..) => "outcome",
            Self::StorageVersion(..) => "storage version",
            Self::Entry(..) => "entry",
            Self::StorageState(..) => "storage state",
            Self::Agreement(..) => "agreement",
            Self::Collection(_) => "collection",
            Self::Object(_) => "object",
            Self::Garbage(..) => "garbage",
            Self::ControllerRevision(_) => "controller revision",
            Self::Lease(_) => "lease",
            Self::LeaseWaiter(..) => "lease waiter",
            Self::LeaseCandidate(_) => "lease candidate",
            Self::Heartbeat(..) => "heartbeat",
            Self::Migration(_) => "migration",
            Self::MigrationProgress(..) => "migration progress",
            Self::Roster(_) => "roster",
            Self::Aftermath(_) => "aftermath",
            Self::Membership(..) => "membership",
            Self::Events(_) => "events",
        }
    }
}
