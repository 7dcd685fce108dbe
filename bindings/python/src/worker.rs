//! Workers of migrations whose stores and codecs are written in Python.

use std::sync::Arc;

use pyo3::prelude::*;
use synod_bound::{Failure, Migrator};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::call::{Call, object};
use crate::failure;
use crate::handle::{Of as _, handle};

handle! {
    /// A worker.
    Worker(Migrator) {
        now close(migrator) -> () { migrator.close() }
    }

    /// Works at the migration of this name, or at all of them, until that is closed.
    #[pyo3(signature = (name))]
    fn work(&self, name: Option<String>) -> PyResult<Work> {
        let (migrator, working) = (self.held.bound()?, self.held.bound()?);
        let home = self.held.home();
        // A task of its own, so that it goes on and keeps its claim while a store is slow.
        let running = home.run(async move {
            match name {
                Some(name) => working.run_one(&name).await.map(Some),
                None => working.run().await.map(|()| None),
            }
        });
        let running = Mutex::new(running);
        Ok(Work::of(Working { migrator, running }, home))
    }
}

/// Work under way, and the worker that does it.
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

handle! {
    /// Work under way.
    Work(Working) {}

    /// Answers the next task; or, when there is nothing more to do, what became of the migration, `None` for all of them.
    fn next(&self) -> PyResult<Call> {
        let (working, asking) = (self.held.bound()?, self.held.bound()?);
        let home = self.held.home().clone();
        let stepping = async move { asking.step().await };
        Ok(Call::finished(self.held.home(), stepping, move |py, step| match step {
            Step::Ended(ended) => object(py, ended),
            Step::Asked => match working.migrator.tasks().pop() {
                Some(task) => object(py, Task::of(task, &home)),
                None => Err(failure::closed("the worker was closed")),
            },
        }))
    }
}

handle! {
    /// What a worker asks.
    Task(synod_bound::Task) {
        now document(task) -> String { task.document() }
        now answer(task, answer: &str) -> () { task.answer(answer)? }
    }
}
