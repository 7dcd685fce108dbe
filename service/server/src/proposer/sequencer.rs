//! The leader's pen: stamps entries with log time and hands them to the log, one at a time, in that order.
//!
//! Both lanes share it, because the order matters: the first entry that is stamped in a term lifts the deadlines, so no
//! other may come before it. Entries are proposed only in the term they were stamped in, so that a leader that was
//! deposed without noticing can neither move the log time nor expire anybody.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use synod_model::LogTime;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::entry;
use super::log_time::{EntryNumber, LogClock};
use crate::consensus::{Consensus, Pending, ProposeError, Term};
use crate::seams::WallClock;

/// How often a leader counts while it stamps nothing.
const TICK: Duration = Duration::from_millis(100);

/// Clones share one pen.
#[derive(Clone)]
pub(crate) struct Sequencer {
    shared: Arc<Shared>,
}

struct Shared {
    consensus: Consensus,
    wall: Arc<dyn WallClock>,
    /// The count of the term in which this replica leads; of an older one, or none, while it does not.
    clock: Mutex<Option<LogClock>>,
}

/// An entry that was handed to the log.
pub(super) struct Submitted {
    pub(super) term: Term,
    pub(super) number: EntryNumber,
    pub(super) pending: Pending,
}

impl Sequencer {
    pub(super) fn new(consensus: Consensus, wall: Arc<dyn WallClock>) -> Self {
        Self {
            shared: Arc::new(Shared {
                consensus,
                wall,
                clock: Mutex::new(None),
            }),
        }
    }

    /// Whether this replica may stamp in `term`: it has applied an entry that it wrote in that term itself, so it knows
    /// the last log time before it. Another leader may have written in the same term before it.
    pub(super) fn may_stamp(&self, term: Term) -> bool {
        let consensus = &self.shared.consensus;
        consensus.published().applied.is_some_and(|position| {
            position.term == term && position.leader == consensus.replica()
        })
    }

    /// Stamps an entry of these commands and hands it to the log. [`Self::settled`] must be told what became of it.
    pub(super) async fn submit<'a>(
        &self,
        term: Term,
        envelopes: impl Iterator<Item = &'a Bytes> + Clone,
    ) -> Result<Submitted, ProposeError> {
        let mut clock = self.shared.clock.lock().await;
        let Some(clock) = self.clock_of(term, &mut clock) else {
            return Err(ProposeError::NotLeader { hint: None });
        };
        let (number, stamp) = clock.stamp(Instant::now(), self.shared.consensus.quorum_silence());
        let payload = entry::encode(stamp, self.shared.wall.now(), envelopes);
        // The lock is held, so that entries stand in the log in the order in which they were stamped.
        match self.shared.consensus.submit(payload, Some(term)).await {
            Ok(pending) => Ok(Submitted {
                term,
                number,
                pending,
            }),
            Err(error) => {
                clock.settled(number, false);
                Err(error)
            }
        }
    }

    /// Takes note of what became of an entry.
    pub(super) async fn settled(&self, term: Term, number: EntryNumber, applied: bool) {
        if let Some(clock) = self
            .shared
            .clock
            .lock()
            .await
            .as_mut()
            .filter(|clock| clock.term() == term)
        {
            clock.settled(number, applied);
        }
    }

    /// The term in which this replica leads and may stamp, and its log time now. `None` while it does not.
    pub(crate) async fn now(&self) -> Option<(Term, LogTime)> {
        let leadership = *self.shared.consensus.leadership().borrow();
        if !leadership.is_me {
            return None;
        }
        let mut clock = self.shared.clock.lock().await;
        let clock = self.clock_of(leadership.term, &mut clock)?;
        clock.tick(Instant::now(), self.shared.consensus.quorum_silence());
        Some((leadership.term, clock.log_time()))
    }

    /// Counts for as long as this replica leads, also while nothing is proposed. Never ends.
    pub(super) async fn count(self) {
        let mut leadership = self.shared.consensus.leadership();
        loop {
            if leadership.borrow_and_update().is_me {
                let _ = self.now().await;
                tokio::time::sleep(TICK).await;
            } else if leadership.changed().await.is_err() {
                // Consensus has ended, and with it every term.
                return std::future::pending().await;
            }
        }
    }

    /// The count of `term`, begun if this is the first look at it.
    fn clock_of<'a>(
        &self,
        term: Term,
        clock: &'a mut Option<LogClock>,
    ) -> Option<&'a mut LogClock> {
        if clock.as_ref().is_none_or(|clock| clock.term() < term) {
            if !self.may_stamp(term) {
                return None;
            }
            let base = self.shared.consensus.published().state.log_time();
            let patience = self.shared.consensus.election_timeout();
            *clock = Some(LogClock::new(term, base, patience, Instant::now()));
        }
        clock.as_mut().filter(|clock| clock.term() == term)
    }
}
