//! The tokio runtime of this process, and what belongs to it.
//!
//! A forked child has none of its parent's threads, so nothing of the parent's runtime can be used or even dropped
//! there: everything that belongs to a runtime remembers its process, and is leaked in any other.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::failure;
use crate::logs::Logs;

static RUNTIME: ArcSwapOption<Owned> = ArcSwapOption::const_empty();

/// The threads of the runtime: one waits for the network while the other works.
const THREADS: usize = 2;

/// How long the end of the interpreter waits for Python threads in the runtime, and then for the runtime's threads.
const PATIENCE: Duration = Duration::from_secs(2);

struct Owned {
    home: Home,
    runtime: Mutex<Option<Runtime>>,
}

/// A cheap handle to the runtime, for everything that runs on it.
#[derive(Clone)]
pub(crate) struct Home {
    process: u32,
    handle: Handle,
    /// Cancelled when the interpreter ends.
    pub(crate) stop: CancellationToken,
    pub(crate) logs: Arc<Logs>,
    /// The number of Python threads that wait in [`Home::block_on`].
    waiting: Arc<AtomicI64>,
}

impl Home {
    /// The runtime of this process, which is started if there is none yet.
    pub(crate) fn get() -> PyResult<Self> {
        loop {
            let present = RUNTIME.load_full();
            if let Some(owned) = &present
                && owned.home.is_of_this_process()
            {
                return Ok(owned.home.clone());
            }
            let made = Arc::new(Owned::new()?);
            let home = made.home.clone();
            let before = RUNTIME.compare_and_swap(&present, Some(made));
            let won = match (&*before, &present) {
                (None, None) => true,
                (Some(before), Some(present)) => Arc::ptr_eq(before, present),
                _ => false,
            };
            if won {
                // The parent's runtime: dropping it would wait for threads that do not exist here.
                std::mem::forget(present);
                return Ok(home);
            }
        }
    }

    pub(crate) fn is_of_this_process(&self) -> bool {
        self.process == std::process::id()
    }

    /// Refuses to use what the parent made in a forked child, and to do anything while the interpreter ends.
    pub(crate) fn check(&self) -> PyResult<()> {
        if !self.is_of_this_process() {
            return Err(failure::closed(
                "it was made by the process that this one was forked from: make a new client here",
            ));
        }
        if self.stop.is_cancelled() {
            return Err(failure::closed("the interpreter is ending"));
        }
        Ok(())
    }

    /// Spawns a task.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.handle.spawn(task)
    }

    /// Waits with the interpreter released. The end of the interpreter waits until the thread has returned.
    pub(crate) fn block_on<T: Send>(
        &self,
        py: Python<'_>,
        work: impl Future<Output = T> + Send,
    ) -> T {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let result = py.detach(|| self.handle.block_on(work));
        self.waiting.fetch_sub(1, Ordering::AcqRel);
        result
    }

    /// Runs `work`, which needs a runtime around it but does not wait.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        let _guard = self.handle.enter();
        work()
    }
}

impl Owned {
    fn new() -> PyResult<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("synod")
            .enable_all()
            .build()?;
        let home = Home {
            process: std::process::id(),
            handle: runtime.handle().clone(),
            stop: CancellationToken::new(),
            logs: Arc::default(),
            waiting: Arc::default(),
        };
        Ok(Self {
            home,
            runtime: Mutex::new(Some(runtime)),
        })
    }
}

/// A value that belongs to a runtime. In a forked child it is leaked: threads that do not exist there may hold its
/// locks.
pub(crate) struct OnRuntime<T> {
    pub(crate) home: Home,
    value: Option<T>,
}

impl<T> OnRuntime<T> {
    pub(crate) fn new(home: Home, value: T) -> Self {
        count(1);
        Self {
            home,
            value: Some(value),
        }
    }

    /// The value, or an exception in a forked child or while the interpreter ends.
    pub(crate) fn get(&self) -> PyResult<&T> {
        self.home.check()?;
        self.value
            .as_ref()
            .ok_or_else(|| failure::closed("it is closed"))
    }

    /// The value, if it can still be used; for callers that raise no exception.
    pub(crate) fn here(&self) -> Option<&T> {
        let usable = self.home.is_of_this_process() && !self.home.stop.is_cancelled();
        self.value.as_ref().filter(|_| usable)
    }
}

impl<T> Drop for OnRuntime<T> {
    fn drop(&mut self) {
        count(-1);
        if let Some(value) = self.value.take() {
            if self.home.is_of_this_process() {
                self.home.within(|| drop(value));
            } else {
                std::mem::forget(value);
            }
        }
    }
}

/// The number of Python objects that hold something of the client.
static ALIVE: AtomicI64 = AtomicI64::new(0);

fn count(change: i64) {
    ALIVE.fetch_add(change, Ordering::Relaxed);
}

/// How many handles and calls are alive, by kind: what tests hold against leaks.
#[pyfunction(name = "_counts")]
pub(crate) fn counts() -> BTreeMap<&'static str, u64> {
    let counts = synod_bound::counts();
    let objects = u64::try_from(ALIVE.load(Ordering::Relaxed)).unwrap_or_default();
    BTreeMap::from([
        ("objects", objects),
        ("clients", counts.clients),
        ("calls", counts.calls),
        ("feeds", counts.feeds),
        ("memberships", counts.memberships),
        ("permits", counts.permits),
        ("locks", counts.locks),
        ("reflectors", counts.reflectors),
    ])
}

/// The log records of this process, if it has a runtime.
pub(crate) fn logs() -> Option<Arc<Logs>> {
    let owned = RUNTIME.load();
    let home = &owned.as_ref()?.home;
    home.is_of_this_process().then(|| Arc::clone(&home.logs))
}

/// Ends the runtime, after all threads of Python have come back from it. Called when the interpreter ends, after which a
/// thread that comes back would bring the process down.
#[pyfunction(name = "_shutdown")]
pub(crate) fn shutdown(py: Python<'_>) {
    let Some(owned) = RUNTIME.load_full() else {
        return;
    };
    if !owned.home.is_of_this_process() {
        return;
    }
    owned.home.stop.cancel();
    owned.home.logs.stop();
    let home = &owned.home;
    py.detach(|| {
        home.handle.block_on(async {
            let deadline = tokio::time::Instant::now() + PATIENCE;
            while home.waiting.load(Ordering::Acquire) > 0 && tokio::time::Instant::now() < deadline
            {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
        let runtime = owned
            .runtime
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(runtime) = runtime {
            runtime.shutdown_timeout(PATIENCE);
        }
    });
}
