//! Workers of migrations whose stores and codecs are written in Python.

use std::sync::Arc;

use pyo3::prelude::*;
use synod_bound::{Asking, Failure, Migrator};
use tokio::sync::Mutex;
use tokio::task::{AbortHandle, JoinHandle};

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
        let stop = running.abort_handle();
        let running = Mutex::new(running);
        let working = Working {
            migrator,
            running,
            stop,
        };
        Ok(Work::of(working, home))
    }
}

/// Work under way, and the worker that does it.
struct Working {
    migrator: Arc<Migrator>,
    running: Mutex<JoinHandle<Result<Option<String>, Failure>>>,
    stop: AbortHandle,
}

impl Drop for Working {
    fn drop(&mut self) {
        self.running.get_mut().abort();
    }
}

/// The next result of [`Work::next`].
enum Step {
    Asked,
    Withdrawn,
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
            asking = self.migrator.asking() => Ok(match asking? {
                Asking::Task => Step::Asked,
                Asking::Withdrawn => Step::Withdrawn,
                Asking::Ended => Step::Ended(None),
            }),
        }
    }
}

handle! {
    /// Work under way.
    Work(Working) {
        now stop(working) -> () { working.stop.abort() }
    }

    /// Answers the next task; `None`, when tasks that were taken are not wanted any more; or, when there is nothing more to
    /// do, a tuple with what became of the migration, `None` for all of them.
    fn next(&self) -> PyResult<Call> {
        let (working, asking) = (self.held.bound()?, self.held.bound()?);
        let home = self.held.home().clone();
        let stepping = async move { asking.step().await };
        Ok(Call::finished(self.held.home(), stepping, move |py, step| match step {
            Step::Ended(ended) => object(py, (ended,)),
            Step::Withdrawn => Ok(py.None()),
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
        now is_wanted(task) -> bool { task.is_wanted() }
        now answer(task, answer: &str) -> () { task.answer(answer)? }
    }
}
