//! The results of apply: the outcome of each command, and its answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use synod_model::{
    ApiVersion, Assumption, ClaimToken, Collection, Epoch, FencingToken, GroupResource,
    MigrationId, MigrationProgress, Object, ObjectName, Refusal, Revision, RevisionNumber,
    SessionId, Ticket, Ttl, Uid,
};

use crate::RevisionEvents;

/// The result of one log entry.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// One for each command, in order.
    pub outcomes: Vec<Outcome>,
    /// The events of each revision that was made, in order. The state's history already holds them.
    pub events: Vec<Arc<RevisionEvents>>,
}

/// The result of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The store's revision right after the command.
    pub revision: Revision,
    /// Whether the command changed anything, and so made a revision.
    pub changed: bool,
    /// The answer, or the refusal with its rule. A refused command changed nothing.
    pub result: Result<Answer, Refusal>,
}

/// The answer to a command that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The command was carried out, and there is no more to tell.
    Done,
    /// The session that was opened.
    SessionOpened(SessionId),
    /// The member is registered.
    Joined {
        /// Its fencing token.
        epoch: Epoch,
        /// The TTL in force.
        ttl: Ttl,
    },
    /// The report was accepted: for each resource, what the member has to encode.
    Reported(Vec<ReportedResource>),
    /// The migration that was created.
    MigrationStarted(MigrationId),
    /// The worker has claimed the migration.
    MigrationClaimed {
        /// The worker's fencing token.
        token: ClaimToken,
        /// The progress of the worker before it.
        progress: MigrationProgress,
    },
    /// The migration has succeeded, under a machine version below 3. The assumption is what that relies on beside what is known.
    MigrationCompleted(Option<Assumption>),
    /// The migration has succeeded.
    MigrationSucceeded {
        /// The assumptions that the success rests on.
        assumptions: BTreeSet<Assumption>,
    },
    /// How much of what was past its deadline was removed.
    Expired {
        /// The number of removed members.
        members: u32,
        /// The number of removed sessions.
        sessions: u32,
        /// The number of members that lost the entries of a replaced epoch.
        unreported: u32,
        /// The number of ended holds of leases.
        leases: u32,
        /// The number of removed places in queues for leases.
        waiters: u32,
        /// The number of removed candidates for leases.
        candidates: u32,
        /// The number of objects that were deleted or marked as being deleted.
        objects: u32,
        /// The number of expired observations of resources.
        observations: u32,
    },
    /// The result of a write of a collection or an object.
    Wrote(Written),
    /// The result of a transaction.
    Transacted {
        /// Whether every comparison held, and the operations were carried out.
        succeeded: bool,
        /// The result of each operation, in order; empty if they were not carried out.
        written: Vec<Written>,
    },
    /// The work of a garbage collection.
    Collected {
        /// The number of steps.
        steps: u32,
    },
    /// The result of recording what a controller wants.
    ControllerRevision(RevisionAnswer),
    /// The result of a change to a history.
    ControllerHistory(HistoryAnswer),
    /// The caller holds the lease.
    LeaseHeld {
        /// Its fencing token.
        token: FencingToken,
        /// The TTL in force.
        ttl: Ttl,
    },
    /// Another caller holds the lease; this one has a place in the queue.
    LeaseQueued(Ticket),
}

impl Answer {
    /// The assumptions that the success of a migration rests on; `None` if this is no such answer.
    #[must_use]
    pub fn completion_assumptions(&self) -> Option<BTreeSet<Assumption>> {
        if let Self::MigrationSucceeded { assumptions } = self {
            Some(assumptions.clone())
        } else if let Self::MigrationCompleted(assumption) = self {
            Some(assumption.iter().copied().collect())
        } else {
            None
        }
    }
}

/// The result of a write of a collection or an object. The object itself is read from the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// What the write did.
    pub how: WrittenHow,
    /// The uid of the collection or object.
    pub uid: Uid,
    /// The revision of the last change; of the deletion, if it was deleted.
    pub resource_version: Revision,
}

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WrittenHow {
    /// The object is new.
    Created,
    /// The object was changed.
    Updated,
    /// The object already was as requested.
    Unchanged,
    /// The object is deleted.
    Deleted,
    /// The object is being deleted and waits for its finalizers.
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

/// The result of recording what a controller wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionAnswer {
    /// The name of the snapshot that holds it.
    pub name: ObjectName,
    /// The number of that snapshot.
    pub number: RevisionNumber,
    /// How that snapshot became the newest.
    pub outcome: RevisionOutcome,
    /// The collision count that the owner must use from now on; zero for a rollback, which names nothing.
    pub collision_count: u32,
    /// What was done to the other snapshots.
    pub history: HistoryAnswer,
}

/// How a snapshot became the newest of its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevisionOutcome {
    /// It already was the newest.
    Unchanged,
    /// It is an older one, which got a new number.
    RolledBack,
    /// It was created.
    Created,
}

/// What was done to the snapshots of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryAnswer {
    /// The number of adopted snapshots.
    pub adopted: u32,
    /// The number of deleted snapshots.
    pub deleted: u32,
    /// The number that is left to adopt or to delete, because one command does a bounded number.
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
    /// anything is selected. If it differs from `selected_revision`, the member has yet to adopt that selection.
    pub adopted_revision: Option<Revision>,
}

/// The kept outcome of one request of a session, for retries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeRow {
    /// The store's revision right after the command.
    pub revision: Revision,
    /// Whether the command changed anything.
    pub changed: bool,
    /// The answer, or the refusal without the object that it may carry.
    pub result: Result<Answer, Refusal>,
}
