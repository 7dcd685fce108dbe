//! What comes of a call that did not do what was asked.

use std::fmt;
use std::time::Duration;

use synod_client::{Error, ErrorKind, StoreError};

/// Why a store, or a write to it, did not do what was asked. These are three different answers: after the first the same
/// may be asked again, after the second it is of no use, and after the third it may still happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing was changed, and nothing will be.
    NotExecuted {
        /// Why not.
        why: String,
        /// How long to wait before it is asked again, if that is known.
        retry_after: Option<Duration>,
    },
    /// It was refused for good.
    Refused(String),
    /// It may have been executed, or may still be.
    Unknown(String),
}

impl Fault {
    /// The fault of what was not executed, for this reason.
    pub fn not_executed(why: impl Into<String>) -> Self {
        Self::NotExecuted {
            why: why.into(),
            retry_after: None,
        }
    }

    /// The fault of a write that the gate or the fence does not let pass now, or for good.
    pub(crate) fn of_check(error: &Error) -> Self {
        if error.kind() == ErrorKind::Conflict {
            // The fence is of another cluster or resource: only an operator can mend that.
            return Self::Refused(error.message().to_owned());
        }
        Self::not_executed(error.message())
    }

    /// The fault of a read: whether it was executed does not matter, since it changes nothing.
    pub(crate) fn of_read(self) -> Self {
        match self {
            Self::Unknown(why) => Self::not_executed(why),
            told @ (Self::NotExecuted { .. } | Self::Refused(_)) => told,
        }
    }
}

impl From<Fault> for StoreError {
    /// The error for a migration worker. What may have been executed may be asked again, too: a worker's writes all have
    /// conditions, so the second one finds what the first has done.
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::NotExecuted { retry_after, .. } => Self::Busy { retry_after },
            Fault::Refused(why) => Self::Refused(why),
            Fault::Unknown(_) => Self::Busy { retry_after: None },
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotExecuted { why, .. } => write!(f, "it was not executed: {why}"),
            Self::Refused(why) => write!(f, "it was refused: {why}"),
            Self::Unknown(why) => write!(f, "it may have been executed: {why}"),
        }
    }
}

impl std::error::Error for Fault {}
