//! The wall clock for the recordings.

use synod_server::seams::{SystemWallClock, WallClock as _};

/// Milliseconds since the Unix epoch. All processes of a run are on one machine, so their times can be compared.
pub(crate) fn now_ms() -> u64 {
    SystemWallClock.now().as_millis()
}
