//! Workers of migrations whose stores and codecs are written in Python.

use std::sync::Arc;

use pyo3::prelude::*;
use synod_bound::{Failure, Migrator};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::call::{Call, object};
use crate::failure::{self, raised};
use crate::runtime::{Home, OnRuntime};

/// A worker.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Worker {
    kept: OnRuntime<Arc<Migrator>>,
}

impl Worker {
    pub(crate) fn new(home: Home, migrator: Migrator) -> Self {
        Self {
            kept: OnRuntime::new(home, Arc::new(migrator)),
        }
    }
}

#[pymethods]
impl Worker {
    /// Works at the migration of this name, or at all of them, until that is closed.
    #[pyo3(signature = (name))]
    fn work(&self, name: Option<String>) -> PyResult<Work> {
        let migrator = Arc::clone(self.kept.get()?);
        let home = self.kept.home.clone();
        let working = Arc::clone(&migrator);
        // A task of its own, so that it goes on and keeps its claim while a store is slow.
        let running = home.run(async move {
            match name {
                Some(name) => working.run_one(&name).await.map(Some),
                None => working.run().await.map(|()| None),
            }
        });
        let working = Working {
            migrator,
            running: Mutex::new(running),
        };
        Ok(Work {
            kept: OnRuntime::new(home, Arc::new(working)),
        })
    }

    fn close(&self) -> PyResult<()> {
        let migrator = self.kept.get()?;
        self.kept.home.within(|| migrator.close());
        Ok(())
    }
}

/// Work under way.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Work {
    kept: OnRuntime<Arc<Working>>,
}

struct Working {
    migrator: Arc<Migrator>,
    running: Mutex<JoinHandle<Result<Option<String>, Failure>>>,
}

impl Drop for Working {
    fn drop(&mut self) {
        self.running.get_mut().abort();
    }
}

/// The next result of [`Work::next`].
enum Step {
    Asked,
    Ended(Option<String>),
}

impl Working {
    async fn step(&self) -> Result<Step, Failure> {
        let mut running = self.running.lock().await;
        tokio::select! {
            biased;
            ended = &mut *running => match ended {
                Ok(ended) => ended.map(Step::Ended),
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(_) => Ok(Step::Ended(None)),
            },
            asked = self.migrator.tasks().ready() => Ok(match asked? {
                true => Step::Asked,
                false => Step::Ended(None),
            }),
        }
    }
}

#[pymethods]
impl Work {
    /// Answers the next task; or, when there is nothing more to do, what became of the migration, `None` for all of them.
    fn next(&self) -> PyResult<Call> {
        let (working, home) = (Arc::clone(self.kept.get()?), self.kept.home.clone());
        let asking = Arc::clone(&working);
        let stepping = async move { asking.step().await };
        Ok(Call::finished(
            &self.kept.home,
            stepping,
            move |py, step| match step {
                Step::Ended(ended) => object(py, ended),
                Step::Asked => match working.migrator.tasks().pop() {
                    Some(task) => object(
                        py,
                        Task {
                            kept: OnRuntime::new(home, task),
                        },
                    ),
                    None => Err(failure::closed("the worker was closed")),
                },
            },
        ))
    }
}

/// What a worker asks.
#[pyclass(frozen, module = "synod._synod")]
pub(crate) struct Task {
    kept: OnRuntime<synod_bound::Task>,
}

#[pymethods]
impl Task {
    fn document(&self) -> PyResult<String> {
        Ok(self.kept.get()?.document())
    }

    fn answer(&self, py: Python<'_>, answer: &str) -> PyResult<()> {
        raised(py, self.kept.get()?.answer(answer))
    }
}
