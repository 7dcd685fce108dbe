//! Waiting: for something that happens, until a deadline, which says what did not.

use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

/// By when anything happens that a test waits for: long, for a machine that has other things to do. No test passes by it.
pub(crate) const LIMIT: Duration = Duration::from_secs(45);

/// How often a process is asked that does not tell by itself.
const BEAT: Duration = Duration::from_millis(40);

/// What `event` resolves to.
pub(crate) async fn within<T>(what: &str, event: impl Future<Output = T>) -> T {
    match timeout(LIMIT, event).await {
        Ok(value) => value,
        Err(_) => panic!("waited {LIMIT:?} in vain for {what}"),
    }
}

/// What `ask` answers once it is what was waited for; until then it says what it has seen instead.
///
/// For what another process does not announce, such as who it believes to lead.
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

/// How many rounds of a fault to run: a few, unless the environment asks for more.
pub(crate) fn rounds(few: usize) -> usize {
    let asked = std::env::var("SYNOD_PROCESS_ROUNDS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// How long to go on at least: no longer than proves something, unless the environment asks for more.
pub(crate) fn span() -> Duration {
    let asked = std::env::var("SYNOD_PROCESS_SECONDS").ok();
    Duration::from_secs(asked.and_then(|text| text.parse().ok()).unwrap_or(0))
}
