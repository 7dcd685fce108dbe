//! Where the log of this replica ends, as the other replicas are told.

use synod_store::Log;

use super::ballot::Ballot;
use super::facade::Consensus;
use super::published::Publisher;
use super::record::of_store_id;
use super::types::position_of;
use crate::peer::LogEnd;

/// Where the log of this replica ends, to be told the others.
pub(super) fn log_end(log: &Log, publisher: &Publisher, ballot: &Ballot) -> LogEnd {
    if !ballot.is_open() {
        return LogEnd::Unsaid;
    }
    let last = log
        .last_log_id()
        .map(|last| position_of(&of_store_id(&last)));
    // A checkpoint that was installed may reach further than the log for a moment.
    match last.max(publisher.latest().applied) {
        Some(position) => LogEnd::At(position),
        None => LogEnd::Empty,
    }
}

impl Consensus {
    /// Where the log of this replica ends.
    pub(crate) fn log_end(&self) -> LogEnd {
        let shared = &*self.shared;
        log_end(&shared.log, &shared.publisher, &shared.ballot)
    }
}
