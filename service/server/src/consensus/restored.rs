//! The state that a replica starts with, as restored from its data directory.

use synod_machine::State;

use super::published::Published;
use super::types::{LogId, StoredMembership, position_of};

/// The state that a state machine begins with: an empty one, or that of a checkpoint.
pub(super) struct Restored {
    pub(super) state: State,
    pub(super) applied: Option<LogId>,
    pub(super) membership: StoredMembership,
    /// Whether it is the newest that this replica had: no damaged checkpoint was skipped or put aside.
    pub(super) is_newest: bool,
}

impl Restored {
    /// The last index that any checkpoint of this replica covered, at most.
    pub(super) fn index_max(&self) -> Option<u64> {
        match self.is_newest {
            true => self.applied.as_ref().map(|applied| applied.index),
            false => Some(u64::MAX),
        }
    }

    pub(super) fn published(&self) -> Published {
        Published {
            state: self.state.clone(),
            applied: self.applied.as_ref().map(position_of),
            generation: 0,
        }
    }
}
