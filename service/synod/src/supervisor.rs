//! What systemd is told if it has started this process and wants to know (`Type=notify`, sd_notify(3)): that the replica
//! runs, whether it serves, that it lives, and that it ends.
//!
//! A replica is ready when it has read its files and listens. Whether it serves depends on the others, and a first start
//! must not fail because they come later.

use std::time::Duration;

use sd_notify::{NotifyState, notify, watchdog_enabled};
use tokio::time::{MissedTickBehavior, interval};

/// The replica has read its files and listens.
pub(crate) fn ready() {
    tell(&[
        NotifyState::Ready,
        NotifyState::Status("waiting for a quorum"),
    ]);
}

/// The replica serves.
pub(crate) fn serving() {
    tell(&[NotifyState::Status("serving")]);
}

/// The replica ends in order.
pub(crate) fn ending() {
    tell(&[NotifyState::Stopping, NotifyState::Status("ending")]);
}

/// Tells again and again that this process lives, for as long as its runtime works; never ends. systemd says how often it
/// must hear of it (`WatchdogSec`), and restarts a process that it does not hear of.
pub(crate) async fn live() {
    let Some(patience) = watchdog_enabled() else {
        return std::future::pending().await;
    };
    let mut beat = interval((patience / 2).max(Duration::from_millis(1)));
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        beat.tick().await;
        tell(&[NotifyState::Watchdog]);
    }
}

fn tell(state: &[NotifyState<'_>]) {
    if let Err(error) = notify(state) {
        tracing::debug!(%error, "systemd is not told");
    }
}
