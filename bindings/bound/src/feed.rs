//! [`Feed`]: hands over results without losing one when the waiter is cancelled.

use std::fmt;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::stream::{self, BoxStream, Stream, StreamExt as _};
use tokio_util::sync::CancellationToken;

use crate::counts::{Counted, Live};
use crate::failure::Failure;

/// A sequence of results, or a single one.
///
/// Wait until one is [`ready`](Self::ready), then [`pop`](Self::pop) it, which does not wait. A waiter may be cancelled
/// at any time: the next waiter goes on with the same result, and a result that was ready is still there. Languages
/// whose futures may be cancelled after they have a result would lose it otherwise.
///
/// Dropping or closing the feed stops what produces the results.
pub struct Feed<T> {
    coming: tokio::sync::Mutex<Option<BoxStream<'static, Result<T, Failure>>>>,
    come: Mutex<Option<T>>,
    closed: CancellationToken,
    _live: Live,
}

/// A hook for the moment when a result is popped. A result that is dropped before that gives back what it stands for.
pub trait Taken {
    /// Called when the result is popped: from now on its owner is responsible for it.
    fn taken(&self) {}
}

impl Taken for String {}

impl<T: Taken> Feed<T> {
    /// A feed of the results of a stream.
    pub(crate) fn of(coming: impl Stream<Item = Result<T, Failure>> + Send + 'static) -> Self {
        Self {
            coming: tokio::sync::Mutex::new(Some(coming.boxed())),
            come: Mutex::new(None),
            closed: CancellationToken::new(),
            _live: Live::new(Counted::Feed),
        }
    }

    /// A feed of one result.
    pub(crate) fn once(coming: impl Future<Output = Result<T, Failure>> + Send + 'static) -> Self {
        Self::of(stream::once(coming))
    }

    /// Waits until a result can be popped. False: the results have ended, or the feed was closed.
    ///
    /// # Errors
    ///
    /// A failure that came in place of a result. Whether results follow after it depends on the feed.
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

    /// Takes the result that is ready, if there is one.
    pub fn pop(&self) -> Option<T> {
        let result = self.come().take();
        if let Some(result) = &result {
            result.taken();
        }
        result
    }

    /// Waits for a result and takes it, for programs that do not cancel. `None`: the results have ended.
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

    /// Stops what produces the results. Waiters get "no more results"; a result that is ready can still be popped.
    pub fn close(&self) {
        self.closed.cancel();
        // If the lock is taken, the waiter that holds it drops the stream.
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
