//! Spans of time that Python gave.

use std::time::Duration;

/// A span that Python gave. One that is none is shorter than anything.
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
