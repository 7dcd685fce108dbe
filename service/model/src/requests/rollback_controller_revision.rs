//! Wanting again what was wanted before.

use crate::{ControllerHistory, ObjectName, Revision, RevisionNumber};

/// Makes an older snapshot the newest of its history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RollbackControllerRevision {
    /// Whose history.
    pub history: ControllerHistory,
    /// To which of its snapshots.
    pub to: RollbackTarget,
    /// The resource version that the newest snapshot of the history must have.
    pub if_newest: Option<Revision>,
}

/// A snapshot to roll back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RollbackTarget {
    /// The one before the newest.
    Previous,
    /// The one with this number; the last in order if several have it.
    Number(RevisionNumber),
    /// The one with this name.
    Name(ObjectName),
}
