//! The requests that the reporter sent, with their results.

use synod_model::{Epoch, ErrorKind, ReportEntry};

use crate::{Error, Reported};

#[derive(Debug)]
pub(super) struct Sent {
    /// The epoch under which it was sent.
    pub(super) epoch: Epoch,
    pub(super) what: What,
}

/// The kind of the request, and its answer.
#[derive(Debug)]
pub(super) enum What {
    /// The last acknowledged entries, reported again.
    Base(Vec<ReportEntry>, Result<Reported, Error>),
    /// The job of this number, and what was sent for it.
    Job(u64, Saying, Result<Reported, Error>),
    /// The mark that the server is ready.
    Ready(Result<(), Error>),
}

/// The entries of a report, and whether they are all that the member reports.
#[derive(Clone, Debug)]
pub(super) struct Saying {
    pub(super) entries: Vec<ReportEntry>,
    pub(super) whole: bool,
}

/// Whether an error says that the epoch is over.
pub(super) fn is_over(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotAMember | ErrorKind::StaleEpoch)
}
