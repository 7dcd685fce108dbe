//! What apply answers.

use std::sync::Arc;

use synod_model::{
    ApiVersion, Assumption, ClaimToken, Collection, Epoch, FencingToken, GroupResource,
    MigrationId, MigrationProgress, Object, ObjectName, Refusal, Revision, RevisionNumber,
    SessionId, Ticket, Ttl, Uid,
};

use crate::RevisionEvents;

/// All that one log entry did.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// One for each command, in order.
    pub outcomes: Vec<Outcome>,
    /// The events of each revision made, in order. They are in the state's history already.
    pub events: Vec<Arc<RevisionEvents>>,
}

/// What became of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The store's revision right after the command.
    pub revision: Revision,
    /// Whether the command changed anything, and so made `revision`.
    pub changed: bool,
    /// Its answer, or which rule refused it. A refused command changed nothing.
    pub result: Result<Answer, Refusal>,
}

/// The answer to a command that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done, and there is nothing more to say.
    Done,
    /// The session that was opened.
    SessionOpened(SessionId),
    /// The member is in.
    Joined {
        /// Its fencing token.
        epoch: Epoch,
        /// The TTL that counts.
        ttl: Ttl,
    },
    /// The report was taken; what each voting entry is told, and what each fixed one said.
    Reported(Vec<ReportedResource>),
    /// The migration that was created.
    MigrationStarted(MigrationId),
    /// The migration is the worker's.
    MigrationClaimed {
        /// The worker's fencing token.
        token: ClaimToken,
        /// Where the worker before it stood.
        progress: MigrationProgress,
    },
    /// The migration has succeeded, and this is what that rests on beside what is known.
    MigrationCompleted(Option<Assumption>),
    /// What was past its deadline and is gone.
    Expired {
        /// How many members went.
        members: u32,
        /// How many sessions went.
        sessions: u32,
        /// How many members lost the entries of a replaced epoch.
        unreported: u32,
        /// How many holds of leases ended.
        leases: u32,
        /// How many places in queues for leases were given up.
        waiters: u32,
        /// How many candidates for leases went.
        candidates: u32,
        /// How many objects went, or began to.
        objects: u32,
        /// How many observations of resources ended.
        observations: u32,
    },
    /// What became of a collection or an object.
    Wrote(Written),
    /// What became of a transaction.
    Transacted {
        /// Whether every comparison held, and so the operations were carried out.
        succeeded: bool,
        /// What became of each operation, in order; empty if they were not carried out.
        written: Vec<Written>,
    },
    /// How many dependents were dealt with.
    Collected {
        /// How many steps it took.
        steps: u32,
    },
    /// What a controller wants stands in its history.
    ControllerRevision(RevisionAnswer),
    /// What was done to a history.
    ControllerHistory(HistoryAnswer),
    /// The caller has the lease.
    LeaseHeld {
        /// Its fencing token.
        token: FencingToken,
        /// The TTL that counts.
        ttl: Ttl,
    },
    /// Another has the lease; the caller has a place in the queue for it.
    LeaseQueued(Ticket),
}

/// What became of a collection or an object that was written. The object itself is read from the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// What was done.
    pub how: WrittenHow,
    /// The uid of the collection or object.
    pub uid: Uid,
    /// The revision of its last change: of its end, if it was deleted.
    pub resource_version: Revision,
}

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WrittenHow {
    /// It is new.
    Created,
    /// It was changed.
    Updated,
    /// It was as it should be already.
    Unchanged,
    /// It is gone.
    Deleted,
    /// It is being deleted, and waits for its finalizers.
    Deleting,
}

impl Written {
    pub(crate) fn of(how: WrittenHow, object: &Object) -> Self {
        Self {
            how,
            uid: object.metadata.uid,
            resource_version: object.metadata.resource_version,
        }
    }

    pub(crate) fn collection(how: WrittenHow, collection: &Collection) -> Self {
        Self {
            how,
            uid: collection.metadata.uid,
            resource_version: collection.metadata.resource_version,
        }
    }

    pub(crate) fn deleted(revision: Revision, object: &Object) -> Self {
        Self {
            how: WrittenHow::Deleted,
            uid: object.metadata.uid,
            resource_version: revision,
        }
    }
}

/// What became of what a controller wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionAnswer {
    /// The snapshot that holds it.
    pub name: ObjectName,
    /// Its number.
    pub number: RevisionNumber,
    /// How it came to be the newest.
    pub outcome: RevisionOutcome,
    /// The collisions of names that the owner has to count from now on; zero for a rollback, which names nothing.
    pub collision_count: u32,
    /// What was done to the others.
    pub history: HistoryAnswer,
}

/// How a snapshot came to be the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevisionOutcome {
    /// It was already.
    Unchanged,
    /// It is an older one with a new number.
    RolledBack,
    /// It is a new one.
    Created,
}

/// What was done to the snapshots of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryAnswer {
    /// How many were adopted.
    pub adopted: u32,
    /// How many were deleted.
    pub deleted: u32,
    /// How many are left to adopt or to delete, since one command does only so much.
    pub left: u32,
}

/// What a member is told of one resource that it reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedResource {
    /// The resource.
    pub resource: GroupResource,
    /// The version that the member's entry encodes now; `None` for a voter before anything is selected, whose gate
    /// stays closed.
    pub encoding: Option<ApiVersion>,
    /// The version selected for the resource, if one is.
    pub selected: Option<ApiVersion>,
    /// When selected last changed; zero if nothing was ever selected.
    pub selected_revision: Revision,
    /// The selection that the member's entry took or adopted last; `None` for a fixed entry, and for a voter before
    /// anything is selected. Another one than `selected_revision` has yet to be adopted.
    pub adopted_revision: Option<Revision>,
}

/// The kept outcome of one request of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeRow {
    /// The store's revision right after the command.
    pub revision: Revision,
    /// Whether the command changed anything.
    pub changed: bool,
    /// Its answer or refusal, without the object that a refusal may carry.
    pub result: Result<Answer, Refusal>,
}
