//! Until when a version is served in any case, whatever its members prefer.
//!
//! A member names a date, as the deprecation policy of Kubernetes promises one. Log time does not know dates: leaders count
//! it while a quorum answers them, so it lags behind every clock. What a date is in log time is worked out once, by the
//! clock of the leader that has stamped the report, as the log time then and the span that is left. From then on no clock
//! decides: a version is never withdrawn earlier because a clock jumps, but later by as long as nobody led.

use std::time::Duration;

use crate::limits::{SERVE_UNTIL_DAYS_MAX, SERVE_UNTIL_MS_MAX, SERVE_UNTIL_TOLERANCE_MS};
use crate::{LogTime, Violation, WallTime};

/// The latest date that a member has named for a topic, and what it is in log time. It moves to later ones only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServeUntil {
    /// The date, in milliseconds since the Unix epoch.
    pub date: WallTime,
    /// The log time before which the version is not withdrawn.
    pub log: LogTime,
}

impl ServeUntil {
    /// The date of so many milliseconds since the Unix epoch.
    ///
    /// # Errors
    ///
    /// Zero, or after the year 9999.
    pub fn date(millis: u64) -> Result<WallTime, Violation> {
        if (1..=SERVE_UNTIL_MS_MAX).contains(&millis) {
            return Ok(WallTime::from_millis(millis));
        }
        let rule = format_args!(
            "must be between 1 and {SERVE_UNTIL_MS_MAX} milliseconds since the Unix epoch"
        );
        Err(Violation::invalid_number(millis, rule))
    }

    /// Checks that a date named at this time is not further away than anybody may hold up a withdrawal.
    ///
    /// # Errors
    ///
    /// A date that is.
    pub fn check(date: WallTime, wall: WallTime) -> Result<(), Violation> {
        if span(date, wall) <= SPAN_MAX {
            return Ok(());
        }
        let rule = format_args!(
            "must be within {SERVE_UNTIL_DAYS_MAX} days from now, which is {wall} by the clock of the leader"
        );
        Err(Violation::invalid(&date.to_string(), rule))
    }

    /// What holds once a member names a date at this log time and wall time.
    ///
    /// A date that is not later moves the log time only if the clock of this leader is behind that of the one that worked
    /// it out: nothing is withdrawn early because one of two clocks was ahead. A clock that is so far behind that
    /// nobody could name the date by it says nothing.
    #[must_use]
    pub fn named(kept: Option<Self>, date: WallTime, now: LogTime, wall: WallTime) -> Self {
        let log = now.after(span(date, wall));
        match kept {
            None => Self { date, log },
            Some(kept) if date > kept.date => Self {
                date,
                log: log.max(kept.log),
            },
            Some(kept) => {
                let left = span(date, wall);
                let is_ahead = !left.is_zero() && left <= SPAN_MAX;
                let is_behind = log > kept.log.after(TOLERANCE) && is_ahead;
                let log = if is_behind { log } else { kept.log };
                Self { log, ..kept }
            }
        }
    }
}

/// Clocks of leaders differ by so much without anything being wrong, and no row changes for that.
const TOLERANCE: Duration = Duration::from_millis(SERVE_UNTIL_TOLERANCE_MS);

const SPAN_MAX: Duration = Duration::from_secs(SERVE_UNTIL_DAYS_MAX * 24 * 60 * 60);

fn span(date: WallTime, wall: WallTime) -> Duration {
    Duration::from_millis(date.as_millis().saturating_sub(wall.as_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: u64 = 24 * 60 * 60 * 1000;

    fn named(kept: Option<ServeUntil>, date: u64, now: u64, wall: u64) -> ServeUntil {
        let (date, wall) = (WallTime::from_millis(date), WallTime::from_millis(wall));
        ServeUntil::named(kept, date, LogTime::from_millis(now), wall)
    }

    fn parts(of: ServeUntil) -> (u64, u64) {
        (of.date.as_millis(), of.log.as_millis())
    }

    #[test]
    fn a_date_is_as_far_away_in_log_time_as_by_the_clock_of_the_leader() {
        let first = named(None, 90 * DAY_MS, 1_000, 80 * DAY_MS);
        assert_eq!(parts(first), (90 * DAY_MS, 1_000 + 10 * DAY_MS));
        let past = named(None, 5, 1_000, 80 * DAY_MS);
        assert_eq!(parts(past), (5, 1_000));
    }

    #[test]
    fn a_date_and_its_log_time_only_move_to_later_ones() {
        let first = named(None, 90 * DAY_MS, 0, 80 * DAY_MS);
        let earlier = named(Some(first), 85 * DAY_MS, DAY_MS, 80 * DAY_MS);
        assert_eq!(earlier, first);
        // Log time lags by a day here: what was worked out first stands.
        let again = named(Some(first), 90 * DAY_MS, 0, 81 * DAY_MS);
        assert_eq!(again, first);
        let later = named(Some(first), 91 * DAY_MS, 0, 80 * DAY_MS);
        assert_eq!(parts(later), (91 * DAY_MS, 11 * DAY_MS));
        // By a clock that is ahead the later date is nearer than the earlier one was.
        let ahead = named(Some(first), 91 * DAY_MS, 0, 89 * DAY_MS);
        assert_eq!(parts(ahead), (91 * DAY_MS, 10 * DAY_MS));
    }

    #[test]
    fn a_clock_that_was_ahead_is_made_up_for_and_small_differences_move_nothing() {
        let ahead = named(None, 90 * DAY_MS, 0, 89 * DAY_MS);
        assert_eq!(parts(ahead), (90 * DAY_MS, DAY_MS));
        let close = 89 * DAY_MS - SERVE_UNTIL_TOLERANCE_MS;
        assert_eq!(named(Some(ahead), 90 * DAY_MS, 0, close), ahead);
        // A nearer date than the one that such a clock took for past is kept, too.
        let long = named(None, 900 * DAY_MS, 0, 900 * DAY_MS);
        let nearer = named(Some(long), 90 * DAY_MS, 0, 80 * DAY_MS);
        assert_eq!(parts(nearer), (900 * DAY_MS, 10 * DAY_MS));
        // Once it is past, it is past.
        assert_eq!(
            named(Some(ahead), 90 * DAY_MS, 40 * DAY_MS, 91 * DAY_MS),
            ahead
        );
        let right = named(Some(ahead), 90 * DAY_MS, 0, 80 * DAY_MS);
        assert_eq!(parts(right), (90 * DAY_MS, 10 * DAY_MS));
        let lost = named(Some(ahead), 90_000 * DAY_MS, 0, 89_999 * DAY_MS);
        assert_eq!(named(Some(lost), 90_000 * DAY_MS, 0, 0), lost);
    }

    // Guarantee: T-08
    #[test]
    fn a_date_is_bounded_on_its_own_and_from_now() {
        for millis in [0, SERVE_UNTIL_MS_MAX + 1] {
            assert!(ServeUntil::date(millis).is_err());
        }
        for millis in [1, SERVE_UNTIL_MS_MAX] {
            assert!(ServeUntil::date(millis).is_ok());
        }
        let from = |days: u64, ms: u64| WallTime::from_millis((1_000 + days) * DAY_MS + ms);
        let last = from(SERVE_UNTIL_DAYS_MAX, 0);
        assert_eq!(ServeUntil::check(last, from(0, 0)), Ok(()));
        let fault = ServeUntil::check(from(SERVE_UNTIL_DAYS_MAX, 1), from(0, 0));
        let fault = fault.unwrap_err().to_string();
        assert!(fault.contains("within 1096 days"), "{fault}");
    }
}
