//! The state that a data directory holds when it is opened.

use synod_machine::State;

use super::published::Published;
use super::types::{LogId, StoredMembership, position_of};

/// What a state machine begins with: nothing, or what a checkpoint held.
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
