//! Stamps entries with log time and hands them to the log one at a time, in the order of their stamps.
//!
//! Both lanes share one sequencer, because the order matters: the first entries stamped in a term lift the deadlines, so
//! no other may come before them. Entries are proposed only in the term that they were stamped in, so a leader that was
//! deposed without noticing can neither advance the log time nor expire any member.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use synod_machine::{Due, Envelope, Holder, State};
use synod_model::LogTime;
use tokio::time::Instant;

use super::entry;
use super::kept::{Extended, KeptRenewals};
use super::log_time::{EntryNumber, LogClock};
use crate::consensus::{Consensus, Pending, ProposeError, ReplicaId, Term};
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
    /// What is counted and kept in the term in which this replica leads; of an older term, or `None`, while it does not
    /// lead. It must never be held across an await: an entry is settled by the same task that waits for `pen`, so a fair
    /// lock over both could be granted to a future that is not polled, and the replica would never propose again.
    led: Mutex<Option<Led>>,
}

/// What a leader counts and keeps in its term.
struct Led {
    clock: LogClock,
    kept: KeptRenewals,
}

/// What an expiry is to remove.
pub(crate) struct Named {
    /// The term in which the holders were named.
    term: Term,
    /// The holders.
    pub(crate) due: Due,
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
                led: Mutex::new(None),
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
        let stamped = self.led_in(term, &mut self.led()).map(|led| {
            led.clock
                .stamp(Instant::now(), self.shared.consensus.quorum_silence())
        });
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
        if let Some(led) = present(&mut self.led(), term) {
            led.clock.settled(number, applied);
        }
    }

    /// This replica.
    pub(super) fn replica(&self) -> ReplicaId {
        self.shared.consensus.replica()
    }

    /// Extends the deadlines of what these commands renew, in memory alone. `None` if they must go into the log.
    pub(super) fn extend(&self, envelopes: &[Envelope]) -> Option<(Term, Vec<Extended>)> {
        self.leading(|term, led, state| {
            let now = led.clock.log_time();
            let mut extend = |envelope| led.kept.extend(state, envelope, now);
            let extended = envelopes.iter().map(&mut extend).collect::<Option<_>>()?;
            Some((term, extended))
        })?
    }

    /// The log time now, if this replica leads and may stamp.
    pub(crate) fn now(&self) -> Option<LogTime> {
        self.leading(|_, led, _| led.clock.log_time())
    }

    /// The log time that is left to a holder that renews. `None` if this replica does not lead: the leader alone knows.
    pub(crate) fn left(&self, state: &State, holder: &Holder) -> Option<Duration> {
        self.leading(|_, led, _| {
            let extended = led.kept.until(state, holder);
            let deadline = state.deadline(holder)?.max(extended.unwrap_or_default());
            Some(deadline.since(led.clock.log_time()))
        })?
    }

    /// Names what is past its deadline, up to `limit` holders and to what `bound` leaves of them. Until the expiry is
    /// [settled](Self::expired), renewals of them go into the log, behind it.
    pub(crate) fn name_due(
        &self,
        limit: usize,
        bound: impl FnOnce(&State, Due) -> Due,
    ) -> Option<Named> {
        self.leading(|term, led, state| {
            let now = led.clock.log_time();
            led.kept.forget(state, now);
            let spared = |holder: &Holder| led.kept.until(state, holder).is_some();
            let due = bound(state, state.due_besides(now, limit, spared));
            led.kept.name(&due.holders);
            Named { term, due }
        })
    }

    /// Notes that an expiry was applied, or certainly never will be.
    pub(crate) fn expired(&self, named: &Named) {
        if let Some(led) = present(&mut self.led(), named.term) {
            led.kept.settle(&named.due.holders);
        }
    }

    /// What `ask` finds in the term in which this replica leads and may stamp, with the time counted until now.
    fn leading<R>(&self, ask: impl FnOnce(Term, &mut Led, &State) -> R) -> Option<R> {
        let consensus = &self.shared.consensus;
        let leadership = *consensus.leadership().borrow();
        if !leadership.is_me {
            return None;
        }
        let mut led = self.led();
        let led = self.led_in(leadership.term, &mut led)?;
        led.clock.tick(Instant::now(), consensus.quorum_silence());
        Some(ask(leadership.term, led, &consensus.published().state))
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

    fn led(&self) -> MutexGuard<'_, Option<Led>> {
        self.shared
            .led
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// What is counted and kept in `term`, created on the first call for that term.
    fn led_in<'a>(&self, term: Term, led: &'a mut Option<Led>) -> Option<&'a mut Led> {
        if led.as_ref().is_none_or(|led| led.clock.term() < term) {
            if !self.may_stamp(term) {
                return None;
            }
            let base = self.shared.consensus.published().state.log_time();
            let patience = self.shared.consensus.election_timeout();
            *led = Some(Led {
                clock: LogClock::new(term, base, patience, Instant::now()),
                kept: KeptRenewals::default(),
            });
        }
        present(led, term)
    }
}

fn present(led: &mut Option<Led>, term: Term) -> Option<&mut Led> {
    led.as_mut().filter(|led| led.clock.term() == term)
}
