//! Counts the lines that were dropped.

use std::sync::OnceLock;

use tracing_appender::non_blocking::ErrorCounter;

/// Counts the lines that found no room.
static DROPPED: OnceLock<ErrorCounter> = OnceLock::new();

/// From now on, this counts them.
pub(super) fn count_with(dropped: ErrorCounter) {
    DROPPED.get_or_init(|| dropped);
}

/// How many lines were dropped because nobody read those before them.
pub(crate) fn dropped_lines() -> u64 {
    let dropped = DROPPED.get().map_or(0, ErrorCounter::dropped_lines);
    u64::try_from(dropped).unwrap_or(u64::MAX)
}
