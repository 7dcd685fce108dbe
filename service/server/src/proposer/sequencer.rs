//! Stamps entries with log time and hands them to the log one at a time, in the order of their stamps.
//!
//! Both lanes share one sequencer, because the order matters: the first entry stamped in a term lifts the deadlines, so
//! no other may come before it. Entries are proposed only in the term that they were stamped in, so a leader that was
//! deposed without noticing can neither advance the log time nor expire any member.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use synod_model::LogTime;
use tokio::time::Instant;

use super::entry;
use super::log_time::{EntryNumber, LogClock};
use crate::consensus::{Consensus, Pending, ProposeError, Term};
use crate::seams::WallClock;

/// How often a leader counts log time while it stamps nothing.
const TICK: Duration = Duration::from_millis(100);

/// Stamps entries and submits them. Clones share the order and the count.
#[derive(Clone)]
pub(crate) struct Sequencer {
    shared: Arc<SequencerParts>,
}

struct SequencerParts {
    consensus: Consensus,
    wall: Arc<dyn WallClock>,
    /// Held while an entry is stamped and handed to the log, so that the log has the order of the stamps.
    pen: tokio::sync::Mutex<()>,
    /// The count of the term in which this replica leads; of an older term, or `None`, while it does not lead. It must
    /// never be held across an await: an entry is settled by the same task that waits for `pen`, so a fair lock over
    /// both could be granted to a future that is not polled, and the replica would never propose again.
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

    /// Whether this replica may stamp in `term`: once it has applied an entry that it wrote itself in that term, it
    /// knows the last log time before its own. Another leader may have written in the same term before it.
    pub(super) fn may_stamp(&self, term: Term) -> bool {
        let consensus = &self.shared.consensus;
        consensus
            .published()
            .applied
            .is_some_and(|position| position.term == term && position.leader == consensus.replica())
    }

    /// Stamps an entry of these commands and hands it to the log. The caller must pass its result to [`Self::settled`].
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

    /// Notes whether an entry was applied.
    pub(super) fn settled(&self, term: Term, number: EntryNumber, applied: bool) {
        let mut clock = self.clock();
        if let Some(clock) = clock.as_mut().filter(|clock| clock.term() == term) {
            clock.settled(number, applied);
        }
    }

    /// The term in which this replica leads and may stamp, and its log time now. `None` while it does not lead.
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

    /// Counts log time for as long as this replica leads, even if nothing is proposed. Never ends.
    pub(super) async fn count(self) {
        let mut leadership = self.shared.consensus.leadership();
        loop {
            if leadership.borrow_and_update().is_me {
                let _ = self.now();
                tokio::time::sleep(TICK).await;
            } else if leadership.changed().await.is_err() {
                // Consensus has ended, so this replica will not lead again.
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

    /// The count of `term`, created on the first call for that term.
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
