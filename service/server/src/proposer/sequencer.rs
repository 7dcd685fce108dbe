//! The leader's pen: stamps entries with log time and hands them to the log, one at a time, in that order.
//!
//! Both lanes share it, because the order matters: the first entry that is stamped in a term lifts the deadlines, so no
//! other may come before it. Entries are proposed only in the term they were stamped in, so that a leader that was
//! deposed without noticing can neither move the log time nor expire anybody.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use synod_model::LogTime;
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
    shared: Arc<SequencerParts>,
}

struct SequencerParts {
    consensus: Consensus,
    wall: Arc<dyn WallClock>,
    /// Held by whoever hands an entry to the log, so that entries stand there in the order in which they were stamped.
    pen: tokio::sync::Mutex<()>,
    /// The count of the term in which this replica leads; of an older one, or none, while it does not. Nobody waits
    /// while holding it: who settles an entry is polled by the very task that waits for the pen, so a fair lock over
    /// both would be handed to somebody who is not polled, and the replica would never propose again.
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
            shared: Arc::new(SequencerParts {
                consensus,
                wall,
                pen: tokio::sync::Mutex::new(()),
                clock: Mutex::new(None),
            }),
        }
    }

    /// Whether this replica may stamp in `term`: it has applied an entry that it wrote in that term itself, so it knows
    /// the last log time before it. Another leader may have written in the same term before it.
    pub(super) fn may_stamp(&self, term: Term) -> bool {
        let consensus = &self.shared.consensus;
        consensus
            .published()
            .applied
            .is_some_and(|position| position.term == term && position.leader == consensus.replica())
    }

    /// Stamps an entry of these commands and hands it to the log. [`Self::settled`] must be told what became of it.
    pub(super) async fn submit<'a>(
        &self,
        term: Term,
        envelopes: impl Iterator<Item = &'a Bytes> + Clone,
    ) -> Result<Submitted, ProposeError> {
        let _pen = self.shared.pen.lock().await;
        let stamped = self
            .clock_of(term, &mut self.clock())
            .map(|clock| clock.stamp(Instant::now(), self.shared.consensus.quorum_silence()));
        let Some((number, stamp)) = stamped else {
            return Err(ProposeError::NotLeader { hint: None });
        };
        let payload = entry::encode(stamp, self.shared.wall.now(), envelopes);
        match self.shared.consensus.submit(payload, Some(term)).await {
            Ok(pending) => Ok(Submitted {
                term,
                number,
                pending,
            }),
            Err(error) => {
                self.settled(term, number, false);
                Err(error)
            }
        }
    }

    /// Takes note of what became of an entry.
    pub(super) fn settled(&self, term: Term, number: EntryNumber, applied: bool) {
        let mut clock = self.clock();
        if let Some(clock) = clock.as_mut().filter(|clock| clock.term() == term) {
            clock.settled(number, applied);
        }
    }

    /// The term in which this replica leads and may stamp, and its log time now. `None` while it does not.
    pub(crate) fn now(&self) -> Option<(Term, LogTime)> {
        let leadership = *self.shared.consensus.leadership().borrow();
        if !leadership.is_me {
            return None;
        }
        let mut clock = self.clock();
        let clock = self.clock_of(leadership.term, &mut clock)?;
        clock.tick(Instant::now(), self.shared.consensus.quorum_silence());
        Some((leadership.term, clock.log_time()))
    }

    /// Counts for as long as this replica leads, also while nothing is proposed. Never ends.
    pub(super) async fn count(self) {
        let mut leadership = self.shared.consensus.leadership();
        loop {
            if leadership.borrow_and_update().is_me {
                let _ = self.now();
                tokio::time::sleep(TICK).await;
            } else if leadership.changed().await.is_err() {
                // Consensus has ended, and with it every term.
                return std::future::pending().await;
            }
        }
    }

    fn clock(&self) -> MutexGuard<'_, Option<LogClock>> {
        self.shared
            .clock
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
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
