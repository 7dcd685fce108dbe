//! The errors of rows that do not make a state, and of a state that is not what its rows made.

use std::fmt;

use crate::Digest;

/// The reason why rows do not make a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorruptState(pub(super) String);

impl fmt::Display for CorruptState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the rows of the checkpoint do not form a valid state: {}",
            self.0
        )
    }
}

impl std::error::Error for CorruptState {}

/// The reason why a state must not be written anywhere: it is not what apply has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedMemory {
    pub(super) kept: Digest,
    pub(super) computed: Digest,
}

impl fmt::Display for DamagedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kept, computed } = self;
        write!(
            f,
            "the state's digest is {computed}, and should be {kept}: its memory is damaged"
        )
    }
}

impl std::error::Error for DamagedMemory {}

pub(super) fn orphan(what: &str, of: &str, key: impl fmt::Display) -> CorruptState {
    CorruptState(format!(
        "the checkpoint has {what} of {of} \"{key}\", but not that {of} itself"
    ))
}
