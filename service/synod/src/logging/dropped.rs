//! Counts the lines of the log that were dropped.

use std::sync::OnceLock;

use tracing_appender::non_blocking::ErrorCounter;

/// The counter of lines that found the queue full.
static DROPPED: OnceLock<ErrorCounter> = OnceLock::new();

/// Sets the counter.
pub(super) fn count_with(dropped: ErrorCounter) {
    DROPPED.get_or_init(|| dropped);
}

/// The number of lines that were dropped because the queue was full.
pub(crate) fn dropped_lines() -> u64 {
    let dropped = DROPPED.get().map_or(0, ErrorCounter::dropped_lines);
    u64::try_from(dropped).unwrap_or(u64::MAX)
}
