//! The last statements of replicas whose logs were cut off, as their leader notes them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use synod_store::{LogId, LostEnd};
use tokio::time::Instant;

use super::record::to_store_id;
use super::types::log_id_of;
use super::{Position, ReplicaId};
use crate::peer::LogEnd;

/// The time after which a statement that is repeated was not under way when it was made first, but for two calls that were delayed
/// together: that costs a new term.
const AGAIN_MIN: Duration = Duration::from_millis(500);

/// The last statements of replicas whose logs were cut off.
#[derive(Debug, Default)]
pub(super) struct StatedCuts(Mutex<BTreeMap<ReplicaId, StatedCut>>);

#[derive(Debug)]
struct StatedCut {
    at: Option<Position>,
    lost: Position,
    /// When the log was first said to end there.
    since: Instant,
}

impl StatedCuts {
    /// Notes what a replica said. Returns whether it says again that its log ends there: such a log lacks what was counted before.
    pub(super) fn note(&self, replica: ReplicaId, end: LogEnd) -> bool {
        let mut stated = self.lock();
        let (at, lost) = match end {
            LogEnd::Cut { at, lost } => (at, lost),
            LogEnd::At(_) | LogEnd::Empty => {
                stated.remove(&replica);
                return false;
            }
            LogEnd::Unsaid => return false,
        };
        let since = Instant::now();
        let said = stated
            .entry(replica)
            .or_insert(StatedCut { at, lost, since });
        if said.at != at {
            *said = StatedCut { at, lost, since };
        }
        said.since.elapsed() >= AGAIN_MIN
    }

    /// Whether a replica would vote for a candidate whose log ends so, by what it said.
    pub(super) fn would_vote(&self, replica: ReplicaId, last: Option<LogId>) -> bool {
        let stated = self.lock();
        let said = stated.get(&replica);
        said.is_none_or(|said| LostEnd(to_store_id(&log_id_of(&said.lost))).is_held_by(last))
    }

    /// Forgets since when a replica's log ends where it does, so that it has to say so again.
    pub(super) fn begin_anew(&self, replica: ReplicaId) {
        if let Some(said) = self.lock().get_mut(&replica) {
            said.since = Instant::now();
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ReplicaId, StatedCut>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::Term;

    fn position(index: u64) -> Position {
        Position {
            term: Term::new(1),
            leader: ReplicaId::new(1),
            index,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_replica_is_heard_again_though_another_speaks_between() {
        let stated = StatedCuts::default();
        let (one, other) = (ReplicaId::new(2), ReplicaId::new(3));
        let cut = |index| LogEnd::Cut {
            at: Some(position(index)),
            lost: position(9),
        };
        assert!(!stated.note(one, cut(5)) && !stated.note(other, cut(6)));
        tokio::time::advance(AGAIN_MIN).await;
        assert!(stated.note(one, cut(5)) && stated.note(other, cut(6)));
        assert!(!stated.note(one, cut(7)), "its log grows");
        let last = |index| Some(to_store_id(&log_id_of(&position(index))));
        assert!(!stated.would_vote(one, last(8)) && stated.would_vote(one, last(9)));
        // It has caught up.
        stated.note(one, LogEnd::At(position(9)));
        assert!(stated.would_vote(one, None));
    }
}
