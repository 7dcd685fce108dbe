//! Reads durations that Python passed.

use std::time::Duration;

/// A number of seconds as a duration; zero if it cannot be one (negative, not finite or too large).
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
