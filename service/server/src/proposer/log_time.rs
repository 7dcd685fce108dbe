//! The leader's count of log time.
//!
//! Log time decides when members and sessions expire, so it must not advance while they cannot renew. It is counted in
//! ticks: each adds the time since the last tick, at most 200 ms, but nothing while no quorum has answered the leader
//! for longer than an election timeout, or its oldest entry has waited that long to be applied. The count starts anew
//! in each term, at the log time of the last entry before it. It never runs faster than the leader's monotonic clock,
//! and does not depend on any wall clock.
//!
//! After a pause, and at the beginning of a term, no member could renew for a while. The entries stamped then lift every deadline,
//! so that every member has a whole TTL again, until one of them is applied: an expiry that stands in the log before it, or
//! whose predecessor was lost, ends nobody by the time of the pause.

use std::collections::BTreeMap;
use std::time::Duration;

use synod_model::LogTime;
use tokio::time::Instant;

use crate::consensus::Term;
use crate::limits::LOG_TIME_TICK_MAX;

/// The stamp of a log entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) log_time: LogTime,
    pub(super) lift_deadlines: bool,
}

/// The number of a stamped entry, until it is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EntryNumber(u64);

/// The count of log time in one term.
#[derive(Debug)]
pub(super) struct LogClock {
    term: Term,
    base: LogTime,
    counted: Duration,
    ticked: Instant,
    /// The first entry that was stamped after the last pause. Entries lift the deadlines until one from there on is applied; `None`
    /// since.
    lifting_from: Option<EntryNumber>,
    /// The entries that are proposed and not applied, and since when they wait.
    waiting: BTreeMap<EntryNumber, Instant>,
    stamped: u64,
    /// The length of silence, or of an entry's wait, after which the count pauses.
    patience: Duration,
}

impl LogClock {
    /// The count for a term. `base` is the log time at which the leader's log ended before the term's own entries.
    pub(super) fn new(term: Term, base: LogTime, patience: Duration, now: Instant) -> Self {
        Self {
            term,
            base,
            counted: Duration::ZERO,
            ticked: now,
            lifting_from: Some(EntryNumber(0)),
            waiting: BTreeMap::new(),
            stamped: 0,
            patience,
        }
    }

    /// The term that is counted.
    pub(super) fn term(&self) -> Term {
        self.term
    }

    /// The log time as of the last tick.
    pub(super) fn log_time(&self) -> LogTime {
        self.base.after(self.counted)
    }

    /// Counts the time since the last tick, unless members cannot renew. `silence` is how long ago the calls were sent
    /// that a quorum has answered last; `None` if a quorum has answered none in this term.
    pub(super) fn tick(&mut self, now: Instant, silence: Option<Duration>) {
        let passed = now.saturating_duration_since(self.ticked);
        self.ticked = now;
        if self.is_paused(now, silence) {
            self.lifting_from = Some(EntryNumber(self.stamped));
        } else {
            self.counted += passed.min(LOG_TIME_TICK_MAX);
        }
    }

    /// Ticks, and stamps an entry. The caller must pass the entry's result to [`Self::settled`].
    pub(super) fn stamp(
        &mut self,
        now: Instant,
        silence: Option<Duration>,
    ) -> (EntryNumber, Stamp) {
        self.tick(now, silence);
        let number = EntryNumber(self.stamped);
        self.stamped += 1;
        if self.is_paused(now, silence) {
            // The pause is not over, so this entry is not the one that counts.
            self.lifting_from = Some(EntryNumber(self.stamped));
        }
        self.waiting.insert(number, now);
        (
            number,
            Stamp {
                log_time: self.log_time(),
                lift_deadlines: self.lifting_from.is_some(),
            },
        )
    }

    /// Notes that an entry was applied, or that this is unknown. In the second case the lift that it may have carried
    /// is repeated: one lift too many does no harm.
    pub(super) fn settled(&mut self, number: EntryNumber, applied: bool) {
        self.waiting.remove(&number);
        self.lifting_from
            .take_if(|first| applied && number >= *first);
    }

    fn is_paused(&self, now: Instant, silence: Option<Duration>) -> bool {
        let waited = self
            .waiting
            .first_key_value()
            .map(|(_, since)| now.saturating_duration_since(*since));
        silence.is_none_or(|silence| silence > self.patience)
            || waited.is_some_and(|waited| waited > self.patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_millis(450);
    const ANSWERED: Option<Duration> = Some(Duration::from_millis(20));

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// A clock at log time 1,000 that has stamped its first entry, and the time of that stamp.
    fn running() -> (LogClock, Instant) {
        let start = Instant::now();
        let mut clock = LogClock::new(Term::new(3), LogTime::from_millis(1_000), PATIENCE, start);
        let (number, stamp) = clock.stamp(start, ANSWERED);
        assert_eq!(
            stamp,
            Stamp {
                log_time: LogTime::from_millis(1_000),
                lift_deadlines: true
            }
        );
        clock.settled(number, true);
        (clock, start)
    }

    fn stamp_at(clock: &mut LogClock, at: Instant) -> Stamp {
        let (number, stamp) = clock.stamp(at, ANSWERED);
        clock.settled(number, true);
        stamp
    }

    #[test]
    fn the_first_entry_of_a_term_lifts_and_the_second_does_not() {
        let (mut clock, start) = running();
        let second = stamp_at(&mut clock, start + millis(100));
        assert_eq!(
            second,
            Stamp {
                log_time: LogTime::from_millis(1_100),
                lift_deadlines: false
            }
        );
    }

    /// A disk that takes seconds for an entry must not let the expiry behind it be applied without a lift, if the entry is lost.
    #[test]
    fn every_entry_lifts_until_one_that_was_stamped_after_the_pause_is_applied() {
        let start = Instant::now();
        let mut clock = LogClock::new(Term::new(3), LogTime::ZERO, PATIENCE, start);
        let (first, _) = clock.stamp(start, ANSWERED);
        let (second, stamp) = clock.stamp(start + millis(100), ANSWERED);
        assert!(stamp.lift_deadlines, "the first is not applied");
        clock.settled(first, false);
        assert!(clock.stamp(start + millis(150), ANSWERED).1.lift_deadlines);
        // A pause begins, and an entry from before it is applied.
        let (within, stamp) = clock.stamp(start + millis(200), None);
        assert!(stamp.lift_deadlines);
        clock.settled(second, true);
        clock.settled(within, true);
        let (after, stamp) = clock.stamp(start + millis(300), ANSWERED);
        assert!(
            stamp.lift_deadlines,
            "what was applied was stamped before the pause was over"
        );
        clock.settled(after, true);
        assert!(!stamp_at(&mut clock, start + millis(400)).lift_deadlines);
    }

    #[test]
    fn a_leader_that_stood_still_counts_one_tick_at_most() {
        let (mut clock, start) = running();
        clock.tick(start + Duration::from_secs(60), ANSWERED);
        assert_eq!(clock.log_time(), LogTime::from_millis(1_200));
    }

    #[test]
    fn ticks_add_up_to_no_more_than_the_time_that_passed() {
        let (mut clock, start) = running();
        for tick in 1..=50 {
            clock.tick(start + millis(30 * tick), ANSWERED);
        }
        assert_eq!(clock.log_time(), LogTime::from_millis(2_500));
    }

    #[test]
    fn nothing_is_counted_while_no_quorum_answers_and_then_the_deadlines_are_lifted() {
        let (mut clock, start) = running();
        clock.tick(start + millis(100), Some(PATIENCE));
        assert_eq!(
            clock.log_time(),
            LogTime::from_millis(1_100),
            "not yet longer than the timeout"
        );
        clock.tick(start + millis(200), Some(PATIENCE + millis(1)));
        clock.tick(start + millis(300), None);
        assert_eq!(clock.log_time(), LogTime::from_millis(1_100));
        let stamp = stamp_at(&mut clock, start + millis(400));
        assert_eq!(
            stamp,
            Stamp {
                log_time: LogTime::from_millis(1_200),
                lift_deadlines: true
            }
        );
        assert!(!stamp_at(&mut clock, start + millis(401)).lift_deadlines);
    }

    #[test]
    fn nothing_is_counted_while_the_oldest_entry_waits_too_long_and_then_the_deadlines_are_lifted()
    {
        let (mut clock, start) = running();
        let (stuck, _) = clock.stamp(start, ANSWERED);
        let (younger, _) = clock.stamp(start + millis(150), ANSWERED);
        clock.tick(start + millis(300), ANSWERED);
        clock.tick(start + millis(450), ANSWERED);
        assert_eq!(clock.log_time(), LogTime::from_millis(1_450));
        clock.tick(start + millis(500), ANSWERED);
        assert_eq!(clock.log_time(), LogTime::from_millis(1_450));
        clock.settled(stuck, true);
        clock.settled(younger, true);
        let stamp = stamp_at(&mut clock, start + millis(550));
        assert_eq!(
            stamp,
            Stamp {
                log_time: LogTime::from_millis(1_500),
                lift_deadlines: true
            }
        );
    }

    #[test]
    fn a_lift_whose_entry_was_not_applied_is_carried_by_the_next_one() {
        let start = Instant::now();
        let mut clock = LogClock::new(Term::new(1), LogTime::ZERO, PATIENCE, start);
        let (number, stamp) = clock.stamp(start, ANSWERED);
        assert!(stamp.lift_deadlines);
        clock.settled(number, false);
        assert!(stamp_at(&mut clock, start).lift_deadlines);
    }
}
