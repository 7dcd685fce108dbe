//! [`Call`]: one request that is not answered yet, for a thread or an event loop to wait for.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use pyo3::BoundObject as _;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::bell::{Bell, BellPipe};
use crate::caller::{End, Followed};
use crate::failure::{self, Failure};
use crate::runtime::{Home, OnRuntime};

/// How long a waiting thread may take to see Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(100);

/// Turns the answer into a Python object, in the interpreter.
type PythonAnswer = Box<dyn for<'py> FnOnce(Python<'py>) -> PyResult<Py<PyAny>> + Send>;

type Work = Pin<Box<dyn Future<Output = CallEnd> + Send>>;

/// The result of a call.
enum CallEnd {
    Answered(PythonAnswer),
    Failed(Failure),
    /// A bug in the client; the runtime goes on.
    Panicked(String),
}

enum Stage {
    /// No one waits: the call was not begun, or the thread that waited was interrupted.
    Idle(Work),
    /// A thread waits for it.
    Waited,
    /// The runtime works on it, and signals the bell when it is done.
    Running {
        task: AbortHandle,
        bell: Arc<BellPipe>,
        number: u64,
    },
    Done(CallEnd),
    /// The answer was taken, or the call was cancelled.
    Over,
}

/// One thing that is asked for and not answered yet. It is cancelled when it is dropped.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Call {
    kept: OnRuntime<Arc<Slot>>,
    /// `None` once it has ended, or if no span is to be ended.
    followed: Mutex<Option<Followed>>,
}

struct Slot(Mutex<Stage>);

impl Call {
    /// A call whose answer is what `finish` makes, in the interpreter, of the result of `work`. `finish` does not run
    /// for an answer that is never taken.
    pub(crate) fn finished<T: Send + 'static>(
        home: &Home,
        work: impl Future<Output = Result<T, Failure>> + Send + 'static,
        finish: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> Self {
        let work = async move {
            match AssertUnwindSafe(work).catch_unwind().await {
                Ok(Ok(value)) => CallEnd::Answered(Box::new(move |py| finish(py, value))),
                Ok(Err(failure)) => CallEnd::Failed(failure),
                Err(panic) => CallEnd::Panicked(failure::of_panic(&*panic)),
            }
        };
        let slot = Slot(Mutex::new(Stage::Idle(Box::pin(work))));
        Self {
            kept: OnRuntime::new(home.clone(), Arc::new(slot)),
            followed: Mutex::default(),
        }
    }

    /// The same call, which ends this when it ends.
    pub(crate) fn followed(mut self, followed: Followed) -> Self {
        self.followed = Mutex::new(Some(followed).filter(Followed::has_span));
        self
    }

    fn ended(&self, py: Python<'_>, end: &End<'_>) {
        let followed = self.followed.lock();
        let followed = followed.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(followed) = followed {
            followed.ended(py, end);
        }
    }
}

/// A value as a Python object.
pub(crate) fn object<T>(py: Python<'_>, value: T) -> PyResult<Py<PyAny>>
where
    T: for<'py> IntoPyObject<'py>,
{
    Ok(value
        .into_pyobject(py)
        .map_err(Into::into)?
        .into_any()
        .unbind())
}

#[pymethods]
impl Call {
    /// Waits for the answer. The thread lets go of the interpreter meanwhile, and comes back within a moment for a
    /// signal; if that raises, the call can be waited for again.
    fn wait(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let slot = self.kept.get()?;
        let home = &self.kept.home;
        let mut work = slot.claim()?;
        let waited = home.block_on(py, async {
            loop {
                tokio::select! {
                    biased;
                    () = home.stop.cancelled() => return Err(failure::closed("the interpreter is ending")),
                    outcome = &mut work => return Ok(outcome),
                    () = sleep(SIGNALS) => Python::attach(|py| py.check_signals())?,
                }
            }
        });
        match waited {
            Ok(outcome) => {
                slot.set(Stage::Over);
                self.ended(py, &outcome.end());
                outcome.into_result(py)
            }
            Err(interrupted) => {
                slot.set(Stage::Idle(work));
                Err(interrupted)
            }
        }
    }

    /// Has the runtime work on it, and rings the bell with the number when the answer can be taken. Another bell may be
    /// named while it runs.
    fn start(&self, bell: &Bell, number: u64) -> PyResult<()> {
        let slot = Arc::clone(self.kept.get()?);
        let bell = bell.shared();
        let mut stage = slot.lock();
        match std::mem::replace(&mut *stage, Stage::Over) {
            Stage::Idle(work) => {
                let finished = Arc::clone(&slot);
                let task = self.kept.home.run(async move {
                    let outcome = work.await;
                    finished.finish(outcome);
                });
                let task = task.abort_handle();
                *stage = Stage::Running { task, bell, number };
            }
            Stage::Running { task, .. } => *stage = Stage::Running { task, bell, number },
            Stage::Done(outcome) => {
                *stage = Stage::Done(outcome);
                bell.ring(number);
            }
            busy @ (Stage::Waited | Stage::Over) => {
                *stage = busy;
                return Err(misused());
            }
        }
        Ok(())
    }

    /// Takes the answer that the bell was rung for.
    fn take(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let outcome = {
            let mut stage = self.kept.get()?.lock();
            match std::mem::replace(&mut *stage, Stage::Over) {
                Stage::Done(outcome) => outcome,
                other => {
                    *stage = other;
                    return Err(misused());
                }
            }
        };
        self.ended(py, &outcome.end());
        outcome.into_result(py)
    }

    /// Gives it up: what it waits for is not wanted any more, and the server is told.
    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        self.kept.get()?.cancel(&self.kept.home);
        self.ended(py, &End::GivenUp);
        Ok(())
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(slot) = self.kept.here() {
            slot.cancel(&self.kept.home);
        }
        let followed = self.followed.get_mut();
        if let Some(followed) = followed.unwrap_or_else(PoisonError::into_inner).take() {
            // An interpreter that is ending exports nothing more.
            let _ = Python::try_attach(|py| followed.ended(py, &End::GivenUp));
        }
    }
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, stage: Stage) {
        *self.lock() = stage;
    }

    /// Takes the work, for a thread that waits.
    fn claim(&self) -> PyResult<Work> {
        let mut stage = self.lock();
        match std::mem::replace(&mut *stage, Stage::Waited) {
            Stage::Idle(work) => Ok(work),
            other => {
                *stage = other;
                Err(misused())
            }
        }
    }

    fn finish(&self, outcome: CallEnd) {
        let mut stage = self.lock();
        if let Stage::Running { bell, number, .. } = &*stage {
            let (bell, number) = (Arc::clone(bell), *number);
            *stage = Stage::Done(outcome);
            drop(stage);
            bell.ring(number);
        }
    }

    fn cancel(&self, home: &Home) {
        let stage = std::mem::replace(&mut *self.lock(), Stage::Over);
        if let Stage::Running { task, .. } = &stage {
            task.abort();
        }
        // Dropping it may start tasks, such as one that closes a stream.
        home.within(|| drop(stage));
    }
}

impl CallEnd {
    fn end(&self) -> End<'_> {
        match self {
            Self::Answered(_) => End::Answered,
            Self::Failed(failure) => End::Failed(failure),
            Self::Panicked(_) => End::GivenUp,
        }
    }

    fn into_result(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self {
            Self::Answered(answer) => answer(py),
            Self::Failed(failure) => Err(failure::error(py, &failure)),
            Self::Panicked(message) => Err(PyRuntimeError::new_err(message)),
        }
    }
}

fn misused() -> PyErr {
    PyRuntimeError::new_err("the call is waited for by somebody else already, or it is over")
}
