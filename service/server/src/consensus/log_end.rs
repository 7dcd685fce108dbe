//! Where this replica's log ends, as it is told to other replicas in the metadata of calls and answers.

use synod_store::Log;

use super::ballot::Ballot;
use super::facade::Consensus;
use super::published::Publisher;
use super::record::of_store_id;
use super::types::position_of;
use crate::peer::LogEnd;

/// The end of this replica's log. `Unsaid` while it may not vote, because its log may lack acknowledged entries.
pub(super) fn log_end(log: &Log, publisher: &Publisher, ballot: &Ballot) -> LogEnd {
    if !ballot.is_open() {
        return LogEnd::Unsaid;
    }
    let last = log
        .last_log_id()
        .map(|last| position_of(&of_store_id(&last)));
    // An installed checkpoint may reach further than the log for a moment.
    match last.max(publisher.latest().applied) {
        Some(position) => LogEnd::At(position),
        None => LogEnd::Empty,
    }
}

impl Consensus {
    /// The end of this replica's log, as other replicas are told.
    pub(crate) fn log_end(&self) -> LogEnd {
        let shared = &*self.shared;
        log_end(&shared.storage.log, &shared.publisher, &shared.ballot)
    }
}
