//! When a follower last heard of its leader.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// When the leader that this replica follows last called.
#[derive(Debug, Default)]
pub(super) struct Contact {
    last: Mutex<Option<Instant>>,
    lost: Notify,
}

impl Contact {
    pub(super) fn note(&self) {
        *self.lock() = Some(Instant::now());
    }

    /// Notes that this replica no longer waits for its leader's lease.
    pub(super) fn lose(&self) {
        *self.lock() = None;
        self.lost.notify_one();
    }

    /// How long ago that was; `None` if it never was.
    pub(super) fn silence(&self) -> Option<Duration> {
        self.lock().map(|last| last.elapsed())
    }

    /// Waits until it is lost.
    pub(super) async fn lost(&self) {
        self.lost.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Instant>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
