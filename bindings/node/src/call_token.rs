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
    caller: Caller,
    cancelled: watch::Sender<bool>,
}

#[napi]
impl CallToken {
    /// One that gives nothing up yet, of a call in the span with these names of the Trace Context, if they are given.
    #[napi(constructor)]
    #[must_use]
    pub fn new(traceparent: Option<String>, tracestate: Option<String>) -> Self {
        Self {
            caller: Caller::new(traceparent, tracestate),
            cancelled: watch::Sender::default(),
        }
    }

    /// What the call has asked of replicas so far, as a document: `requests`, their number, and `failed`, the tries that have
    /// failed, each with its `endpoint`, its `code` and `at`, in milliseconds since 1970.
    #[napi]
    #[must_use]
    pub fn asked(&self) -> String {
        self.caller.asked().to_json()
    }

    /// Gives the call up.
    #[napi]
    pub fn cancel(&self) {
        self.cancelled.send_replace(true);
    }
}

impl CallToken {
    /// The span of the program in which the call is made.
    pub(crate) fn caller(&self) -> Caller {
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
