//! The time in which a worker may start rewrites, and the rewrites that it has started and that were not answered.
//!
//! A claim that has run out is another worker's, and the cluster counts on what the first worker does then: it starts no
//! rewrite later than nine tenths of the TTL after it has *sent* the last report that was answered, by a clock that counts
//! suspension. And it says whether what it had started was answered, since what was not may still reach the store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use synod_model::WorkerStop;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::StoreError;
use crate::seams::Clock;

/// How long a worker that stops waits for answers to the rewrites that it has sent.
const ANSWERING: Duration = Duration::from_millis(500);

/// The rewrites of one claim.
pub(super) struct Rewrites {
    clock: Arc<dyn Clock>,
    ttl: Duration,
    book: Mutex<Book>,
    changed: Notify,
}

#[derive(Debug)]
struct Book {
    /// No rewrite is started from this time on.
    until: Duration,
    /// The rewrites that may still reach the store.
    unanswered: usize,
    /// Whether none is started any more.
    is_closed: bool,
}

/// A rewrite that was started. It counts as unanswered until [`ended`](Self::ended).
pub(super) struct PendingRewrite<'a> {
    rewrites: &'a Rewrites,
    /// Whether a try of it has ended without telling whether it was done.
    is_unknown: bool,
}

impl Rewrites {
    /// The rewrites of a claim whose request was sent at this time.
    pub(super) fn new(clock: Arc<dyn Clock>, ttl: Duration, sent_at: Duration) -> Self {
        let book = Book {
            until: Duration::ZERO,
            unanswered: 0,
            is_closed: false,
        };
        let rewrites = Self {
            clock,
            ttl,
            book: Mutex::new(book),
            changed: Notify::new(),
        };
        rewrites.extend(sent_at);
        rewrites
    }

    /// The time by the worker's clock.
    pub(super) fn now(&self) -> Duration {
        self.clock.now()
    }

    /// Allows rewrites for as long as a report allows them that was sent at this time and was answered.
    pub(super) fn extend(&self, sent_at: Duration) {
        let mut book = self.book();
        book.until = book.until.max(sent_at + self.ttl / 10 * 9);
        drop(book);
        self.changed.notify_waiters();
    }

    /// Allows no rewrite any more, and waits for a short time for answers to those that were started, for which `rest` is awaited.
    pub(super) async fn settle(&self, rest: impl Future) {
        self.book().is_closed = true;
        self.changed.notify_waiters();
        let settled = async {
            tokio::select! {
                biased;
                () = self.all_answered() => {}
                _ = rest => {}
            }
        };
        // What was not answered in this time drains.
        let _ = timeout(ANSWERING, settled).await;
    }

    async fn all_answered(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.book().unanswered == 0 {
                return;
            }
            changed.await;
        }
    }

    /// Starts a rewrite, once one may be started. `None`: none may any more.
    pub(super) async fn start(&self) -> Option<PendingRewrite<'_>> {
        self.allowed().await.then(|| {
            self.book().unanswered += 1;
            PendingRewrite {
                rewrites: self,
                is_unknown: false,
            }
        })
    }

    /// Waits until a rewrite may be sent. Returns false if none may any more.
    pub(super) async fn allowed(&self) -> bool {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let book = self.book();
                if book.is_closed {
                    return false;
                }
                if self.clock.now() < book.until {
                    return true;
                }
            }
            changed.await;
        }
    }

    /// The words of the worker about its rewrites, for when it gives up its claim.
    pub(super) fn stop(&self) -> WorkerStop {
        match self.book().unanswered {
            0 => WorkerStop::AllAnswered,
            _ => WorkerStop::SomeUnanswered,
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingRewrite<'_> {
    /// Notes the answer to a try.
    ///
    /// A rewrite is conditional, so after a success, and after a change by another writer, no earlier try can be done any more.
    pub(super) fn tried(&mut self, answer: &Result<(), StoreError>) {
        match answer {
            Ok(()) | Err(StoreError::Conflict | StoreError::NotFound) => self.is_unknown = false,
            Err(StoreError::Busy { .. } | StoreError::Refused(_) | StoreError::Expired(_)) => {
                self.is_unknown = true;
            }
            Err(
                StoreError::NotSupported
                | StoreError::Forbidden
                | StoreError::Undecodable { .. }
                | StoreError::NotReady(_),
            ) => {}
        }
    }

    /// Ends the rewrite. It stays unanswered if the store has not told whether it was done.
    pub(super) fn ended(self) {
        if !self.is_unknown {
            self.rewrites.book().unanswered -= 1;
            self.rewrites.changed.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests;
