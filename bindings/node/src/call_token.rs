//! What goes with a call from JavaScript beside its arguments.

use napi_derive::napi;
use synod_bound::Caller;
use tokio::sync::watch;

/// Names the span in which the call that it is handed to is made, and gives the call up. For that it stands for an
/// `AbortSignal`, whose handler JavaScript sets and removes.
///
/// The library's own class for `AbortSignal` is not used: it takes the signal's `onabort` for itself, ignores a signal
/// that was aborted before, and leaks at every call on a signal that lives long.
#[derive(Debug, Default)]
#[napi]
pub struct CallToken {
    caller: Option<Caller>,
    cancelled: watch::Sender<bool>,
}

#[napi]
impl CallToken {
    /// One that gives nothing up yet, of a call in the span with these names of the Trace Context, if they are given.
    #[napi(constructor)]
    #[must_use]
    pub fn new(traceparent: Option<String>, tracestate: Option<String>) -> Self {
        Self {
            caller: traceparent.map(|traceparent| Caller {
                traceparent,
                tracestate,
            }),
            cancelled: watch::Sender::default(),
        }
    }

    /// Gives the call up.
    #[napi]
    pub fn cancel(&self) {
        self.cancelled.send_replace(true);
    }
}

impl CallToken {
    /// The span of the program in which the call is made.
    pub(crate) fn caller(&self) -> Option<Caller> {
        self.caller.clone()
    }

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
