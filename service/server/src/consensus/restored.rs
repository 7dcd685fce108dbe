//! The state that a replica starts with, as restored from its data directory.

use synod_machine::State;

use super::published::Published;
use super::types::{LogId, StoredMembership, position_of};

/// The state that a state machine begins with: an empty one, or that of a checkpoint.
pub(super) struct Restored {
    pub(super) state: State,
    pub(super) applied: Option<LogId>,
    pub(super) membership: StoredMembership,
}

impl Restored {
    pub(super) fn published(&self) -> Published {
        Published {
            state: self.state.clone(),
            applied: self.applied.as_ref().map(position_of),
            generation: 0,
        }
    }
}
