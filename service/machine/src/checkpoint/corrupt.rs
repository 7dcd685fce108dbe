//! The error of rows that do not make a state.

use std::fmt;

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

pub(super) fn orphan(what: &str, of: &str, key: impl fmt::Display) -> CorruptState {
    CorruptState(format!(
        "the checkpoint has {what} of {of} \"{key}\", but not that {of} itself"
    ))
}
