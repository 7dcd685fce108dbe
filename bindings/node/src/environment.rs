//! Ends the pending calls of a JavaScript thread when the thread ends, and counts handles.
//!
//! All JavaScript threads of the process share one tokio runtime, and a worker thread that is terminated leaves its
//! calls there. So every call also waits for the end of the thread that made it.

use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;
use tokio::sync::watch;

thread_local! {
    /// True once this JavaScript thread ends. A thread has one environment.
    static ENDING: watch::Sender<bool> = watch::Sender::new(false);
}

/// What is done when a thread of JavaScript loads the library.
///
/// # Errors
///
/// Node takes no note of what is to be done when the thread ends.
#[napi(module_exports)]
pub fn exports(_exports: Object, env: Env) -> Result<()> {
    ENDING.with(|ending| ending.send_replace(false));
    env.add_env_cleanup_hook((), |()| {
        // Once the thread's own values are gone, no call of the thread is left to be told.
        let _ = ENDING.try_with(|ending| ending.send_replace(true));
    })?;
    Ok(())
}

/// A future that ends with the calling JavaScript thread.
pub(crate) fn ending() -> impl Future<Output = ()> + Send + 'static {
    let mut ending = ENDING.with(watch::Sender::subscribe);
    async move {
        // An error means that the sender is gone, and the thread with it.
        let _ = ending.wait_for(|ending| *ending).await;
    }
}

/// What this process holds in Rust, over all its threads of JavaScript: for finding leaks.
#[derive(Debug)]
#[napi(object)]
pub struct Counts {
    /// Calls and results that are waited for, or wait to be taken.
    pub calls: i64,
    /// Clients, memberships, permits, locks and reflectors.
    pub handles: i64,
}

/// What this process holds in Rust, over all its threads of JavaScript: for finding leaks.
#[napi]
#[must_use]
pub fn counts() -> Counts {
    let counts = synod_bound::counts();
    let handles = [
        counts.clients,
        counts.memberships,
        counts.permits,
        counts.locks,
        counts.reflectors,
    ];
    Counts {
        calls: shown(counts.calls + counts.feeds),
        handles: shown(handles.iter().sum()),
    }
}

fn shown(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
