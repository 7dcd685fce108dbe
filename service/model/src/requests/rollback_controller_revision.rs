//! The request that rolls a history back to an older snapshot.

use crate::{ControllerHistory, ObjectName, Revision, RevisionNumber};

/// Makes an older snapshot the newest of its history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RollbackControllerRevision {
    /// The history.
    pub history: ControllerHistory,
    /// The snapshot to roll back to.
    pub to: RollbackTarget,
    /// The resource version that the newest snapshot of the history must have.
    pub if_newest: Option<Revision>,
}

/// A snapshot to roll back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RollbackTarget {
    /// The snapshot before the newest.
    Previous,
    /// The snapshot with this number; the last in order if several have it.
    Number(RevisionNumber),
    /// The snapshot with this name.
    Name(ObjectName),
}
