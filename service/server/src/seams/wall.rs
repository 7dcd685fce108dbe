//! The wall clock, which is for display: of all rules only a date that a member names depends on it, once.

use std::time::{SystemTime, UNIX_EPOCH};

use synod_model::WallTime;

/// Tells the time of day. It may jump, so no deadline may be decided by it.
pub trait WallClock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> WallTime;
}

/// The system's wall clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemWallClock;

impl WallClock for SystemWallClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the seam that everything else reads the wall clock through"
    )]
    fn now(&self) -> WallTime {
        // A clock set before 1970 counts as 1970: the display may be wrong, but must not fail.
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        WallTime::from_millis(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
    }
}
