//! Results that nobody loses by being cancelled.

use std::fmt;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::stream::{self, BoxStream, Stream, StreamExt as _};
use tokio_util::sync::CancellationToken;

use crate::counts::{Counted, Live};
use crate::failure::Failure;

/// Results that come one after the other, or one and no more.
///
/// Wait until one is [`ready`](Self::ready), then [`pop`](Self::pop) it, which does not wait. A waiter may be cancelled at
/// any time: what it waited for goes on when the next one waits, and what was ready already is still there. Languages
/// whose futures may be cancelled after they have a result would lose it otherwise.
///
/// Dropped, or closed, it stops what brings the results.
pub struct Feed<T> {
    coming: tokio::sync::Mutex<Option<BoxStream<'static, Result<T, Failure>>>>,
    come: Mutex<Option<T>>,
    closed: CancellationToken,
    _live: Live,
}

/// What is done when a result is taken: one that nobody takes is given back when it is dropped.
pub trait Taken {
    /// The result was taken: from now on, its owner answers for it.
    fn taken(&self) {}
}

impl Taken for String {}

impl<T: Taken> Feed<T> {
    /// What this stream brings.
    pub(crate) fn of(coming: impl Stream<Item = Result<T, Failure>> + Send + 'static) -> Self {
        Self {
            coming: tokio::sync::Mutex::new(Some(coming.boxed())),
            come: Mutex::new(None),
            closed: CancellationToken::new(),
            _live: Live::new(Counted::Feed),
        }
    }

    /// One result.
    pub(crate) fn once(coming: impl Future<Output = Result<T, Failure>> + Send + 'static) -> Self {
        Self::of(stream::once(coming))
    }

    /// Waits until there is a result to be popped. False: there will be none any more, or it was closed.
    ///
    /// # Errors
    ///
    /// What came in place of a result; what may come after it is up to the feed.
    pub async fn ready(&self) -> Result<bool, Failure> {
        let waiting = async {
            let mut coming = self.coming.lock().await;
            if self.come().is_some() {
                return Ok(true);
            }
            let Some(stream) = coming.as_mut() else {
                return Ok(false);
            };
            match stream.next().await {
                Some(Ok(result)) => {
                    *self.come() = Some(result);
                    Ok(true)
                }
                Some(Err(failure)) => Err(failure),
                None => {
                    *coming = None;
                    Ok(false)
                }
            }
        };
        tokio::select! {
            biased;
            () = self.closed.cancelled() => {
                *self.coming.lock().await = None;
                Ok(false)
            }
            ready = waiting => ready,
        }
    }

    /// The result that is ready, if one is.
    pub fn pop(&self) -> Option<T> {
        let result = self.come().take();
        if let Some(result) = &result {
            result.taken();
        }
        result
    }

    /// Waits for a result and takes it: for programs that do not cancel. `None`: there will be none any more.
    ///
    /// # Errors
    ///
    /// As [`Feed::ready`].
    pub async fn next(&self) -> Result<Option<T>, Failure> {
        while self.ready().await? {
            if let Some(result) = self.pop() {
                return Ok(Some(result));
            }
        }
        Ok(None)
    }

    /// Stops what brings the results. Whoever waits is told that there will be none; what is ready can still be popped.
    pub fn close(&self) {
        self.closed.cancel();
        // If somebody waits, they drop it.
        if let Ok(mut coming) = self.coming.try_lock() {
            *coming = None;
        }
    }

    fn come(&self) -> MutexGuard<'_, Option<T>> {
        self.come.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> fmt::Debug for Feed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed")
            .field("closed", &self.closed.is_cancelled())
            .finish_non_exhaustive()
    }
}
