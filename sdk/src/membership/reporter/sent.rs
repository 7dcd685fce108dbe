//! Requests that were answered.

use synod_model::{Epoch, ErrorKind, ReportEntry};

use crate::{Error, Reported};

/// A request that was answered.
#[derive(Debug)]
pub(super) struct Sent {
    /// The epoch under which it was sent.
    pub(super) epoch: Epoch,
    pub(super) what: What,
}

/// What it was about, and its answer.
#[derive(Debug)]
pub(super) enum What {
    /// What was acknowledged before, reported again.
    Base(Vec<ReportEntry>, Result<Reported, Error>),
    /// The job of this number.
    Job(u64, Result<Reported, Error>),
    /// That the server is ready.
    Ready(Result<(), Error>),
}

/// Whether an error says that the epoch is over.
pub(super) fn is_over(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotAMember | ErrorKind::StaleEpoch)
}
