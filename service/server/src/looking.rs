//! Looks at files that others replace.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::seams::Offload;
use crate::stop::Stop;

/// Until `stop`: looks at once and then in each interval, where it may wait for a disk, and passes on what was found.
pub(crate) async fn look_again<T: Send + 'static>(
    every: Duration,
    offload: Offload,
    stop: Stop,
    look: impl Fn() -> T + Clone + Send + 'static,
    take: impl Fn(T),
) {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = stop.requested() => return,
            _ = ticks.tick() => {}
        }
        take(offload.run(look.clone()).await);
    }
}
