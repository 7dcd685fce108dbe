//! Workers of migrations whose stores and codecs are written in Python.

use std::sync::Arc;

use pyo3::prelude::*;
use synod_bound::{Asking, Failure, Migrator};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

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
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let running = home.run(async move {
            match name {
                Some(name) => working.run_one(&name, stopped).await.map(Some),
                None => working.run(stopped).await.map(|()| None),
            }
        });
        let running = Mutex::new(Some(running));
        let working = Working {
            migrator,
            running,
            stop,
        };
        Ok(Work::of(working, home))
    }
}

/// The end of work: what became of the migration; `None` for all of them.
type Outcome = Result<Option<String>, Failure>;

/// Work under way, and the worker that does it.
struct Working {
    migrator: Arc<Migrator>,
    /// `None` once its end was told.
    running: Mutex<Option<JoinHandle<Outcome>>>,
    stop: CancellationToken,
}

impl Drop for Working {
    /// It goes on for a moment, to give back what it has claimed.
    fn drop(&mut self) {
        self.stop.cancel();
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
        let mut kept = self.running.lock().await;
        let Some(running) = &mut *kept else {
            return Ok(Step::Ended(None));
        };
        let ended = tokio::select! {
            biased;
            ended = &mut *running => ended,
            asking = self.migrator.asking() => match asking? {
                Asking::Task => return Ok(Step::Asked),
                Asking::Withdrawn => return Ok(Step::Withdrawn),
                // It was closed, and gives back what it has claimed.
                Asking::Ended => running.await,
            },
        };
        *kept = None;
        match ended {
            Ok(ended) => ended.map(Step::Ended),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => Ok(Step::Ended(None)),
        }
    }
}

handle! {
    /// Work under way.
    Work(Working) {
        now stop(working) -> () { working.stop.cancel() }
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
