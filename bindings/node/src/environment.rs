//! The thread of JavaScript that loaded this library: when it ends, what it waits for ends with it.
//!
//! A worker thread that is terminated leaves its calls behind in the runtime, which all threads of the process share.
//! So every call also waits for the end of the thread that made it.

use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;
use tokio::sync::watch;

thread_local! {
    /// Whether this thread of JavaScript goes on. One thread has one environment.
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
        // After the thread's own values are gone there is nobody left to tell.
        let _ = ENDING.try_with(|ending| ending.send_replace(true));
    })?;
    Ok(())
}

/// What ends with the thread of JavaScript that asks.
pub(crate) fn ending() -> impl Future<Output = ()> + Send + 'static {
    let mut ending = ENDING.with(watch::Sender::subscribe);
    async move {
        // Without its sender the thread is gone.
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
