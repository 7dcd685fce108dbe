//! Where this replica's log ends, as it is told to other replicas in the metadata of calls and answers.

use synod_store::{Log, LostEnd};

use super::ballot::Ballot;
use super::facade::Consensus;
use super::published::Publisher;
use super::record::of_store_id;
use super::types::position_of;
use crate::peer::LogEnd;

/// The end of this replica's log. `Cut` while it may lack acknowledged entries.
pub(super) fn log_end(log: &Log, publisher: &Publisher, ballot: &Ballot) -> LogEnd {
    let last = log
        .last_log_id()
        .map(|last| position_of(&of_store_id(&last)));
    // An installed checkpoint may reach further than the log for a moment.
    let at = last.max(publisher.latest().applied);
    match (ballot.lost_end(), at) {
        (Some(LostEnd(lost)), at) => LogEnd::Cut {
            at,
            lost: position_of(&of_store_id(&lost)),
        },
        (None, Some(at)) => LogEnd::At(at),
        (None, None) => LogEnd::Empty,
    }
}

impl Consensus {
    /// The end of this replica's log, as other replicas are told.
    pub(crate) fn log_end(&self) -> LogEnd {
        let shared = &*self.shared;
        log_end(&shared.storage.log, &shared.publisher, &shared.ballot)
    }
}
