//! Waits for an event with a deadline, and names the event if it does not come.

use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

/// The deadline of every wait: long, since the machine may be busy. No test passes because it has expired.
pub(crate) const LIMIT: Duration = Duration::from_secs(45);

/// How often a process is polled.
const BEAT: Duration = Duration::from_millis(40);

/// Waits for `event` within [`LIMIT`]. Panics with `what` if it does not come.
pub(crate) async fn within<T>(what: &str, event: impl Future<Output = T>) -> T {
    match timeout(LIMIT, event).await {
        Ok(value) => value,
        Err(_) => panic!("waited {LIMIT:?} in vain for {what}"),
    }
}

/// Polls with `ask` until it returns `Ok`; an `Err` says what it has seen instead. Panics after [`LIMIT`].
///
/// For events that a process does not announce, such as which leader it knows.
pub(crate) async fn eventually<T>(
    what: &str,
    mut ask: impl AsyncFnMut() -> Result<T, String>,
) -> T {
    let deadline = Instant::now() + LIMIT;
    let mut beat = interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        beat.tick().await;
        match ask().await {
            Ok(value) => return value,
            Err(seen) if Instant::now() > deadline => {
                panic!("waited {LIMIT:?} in vain for {what}; last seen: {seen}")
            }
            Err(_) => {}
        }
    }
}

/// The number of rounds of a fault: a few, unless the environment asks for more.
pub(crate) fn rounds(few: usize) -> usize {
    let asked = std::env::var("SYNOD_PROCESS_ROUNDS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// The number of objects of a test: a few, unless the environment asks for more.
pub(crate) fn objects(few: usize) -> usize {
    let asked = std::env::var("SYNOD_PROCESS_OBJECTS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// The least duration of a repeated test: zero, unless the environment asks for more.
pub(crate) fn span() -> Duration {
    let asked = std::env::var("SYNOD_PROCESS_SECONDS").ok();
    Duration::from_secs(asked.and_then(|text| text.parse().ok()).unwrap_or(0))
}
