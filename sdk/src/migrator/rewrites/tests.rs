use std::future::pending;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::FutureExt as _;

use super::*;

struct Hand(AtomicU64);

impl Clock for Hand {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

fn rewrites() -> (Arc<Hand>, Rewrites) {
    let clock = Arc::new(Hand(AtomicU64::new(100)));
    let ttl = Duration::from_secs(10);
    let rewrites = Rewrites::new(Arc::clone(&clock) as Arc<dyn Clock>, ttl, clock.now());
    (clock, rewrites)
}

// Guarantee: V-17
#[test]
fn no_rewrite_starts_after_nine_tenths_of_the_ttl_from_the_last_answered_report() {
    let (clock, rewrites) = rewrites();
    clock.0.store(108, Ordering::Relaxed);
    assert!(rewrites.start().now_or_never().is_some());
    clock.0.store(109, Ordering::Relaxed);
    assert!(rewrites.start().now_or_never().is_none());
    let mut waiting = Box::pin(rewrites.start());
    assert!(waiting.as_mut().now_or_never().is_none());
    // Sent at 104, and answered only now.
    rewrites.extend(Duration::from_secs(104));
    assert!(waiting.now_or_never().flatten().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_stops_starts_nothing_and_wakes_what_waits() {
    let (clock, rewrites) = rewrites();
    clock.0.store(200, Ordering::Relaxed);
    let mut waiting = Box::pin(rewrites.start());
    assert!(waiting.as_mut().now_or_never().is_none());
    // Nothing is unanswered, so it waits for nothing.
    assert!(rewrites.settle(pending::<()>()).now_or_never().is_some());
    assert!(waiting.now_or_never().unwrap().is_none());
}

// Guarantee: V-17
#[test]
fn what_the_store_has_not_told_stays_unanswered() {
    let ends = |answers: &[Result<(), StoreError>]| {
        let (_, rewrites) = rewrites();
        let mut started = rewrites.start().now_or_never().flatten().unwrap();
        for answer in answers {
            started.tried(answer);
        }
        started.ended();
        rewrites.stop()
    };
    let busy = || Err(StoreError::Busy { retry_after: None });
    let (all, some) = (WorkerStop::AllAnswered, WorkerStop::SomeUnanswered);
    assert_eq!(ends(&[Ok(())]), all);
    assert_eq!(ends(&[busy()]), some);
    assert_eq!(ends(&[busy(), Ok(())]), all);
    assert_eq!(ends(&[busy(), Err(StoreError::Conflict)]), all);
    assert_eq!(ends(&[Err(StoreError::Forbidden)]), all);
    assert_eq!(ends(&[busy(), Err(StoreError::Forbidden)]), some);
    // One whose future was dropped.
    let (_, rewrites) = rewrites();
    assert!(rewrites.start().now_or_never().is_some());
    assert_eq!(rewrites.stop(), some);
}
