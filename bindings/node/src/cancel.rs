//! Cancelling a call from JavaScript.

use napi_derive::napi;
use tokio::sync::watch;

/// Gives up the call that it was handed to. It stands for an `AbortSignal`, whose handler JavaScript sets and removes.
///
/// The library's own class for `AbortSignal` is not used: it takes the signal's `onabort` for itself, ignores a signal
/// that was aborted before, and leaks at every call on a signal that lives long.
#[derive(Debug, Default)]
#[napi]
pub struct CancelToken {
    cancelled: watch::Sender<bool>,
}

#[napi]
impl CancelToken {
    /// One that gives nothing up yet.
    #[napi(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the call up.
    #[napi]
    pub fn cancel(&self) {
        self.cancelled.send_replace(true);
    }
}

impl CancelToken {
    /// A future that ends when the token is cancelled.
    pub(crate) fn cancelled(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut cancelled = self.cancelled.subscribe();
        async move {
            if cancelled.wait_for(|cancelled| *cancelled).await.is_err() {
                // The token was dropped without having been cancelled.
                std::future::pending().await
            }
        }
    }
}
