//! Workers of migrations, and their tasks.

use futures::future::{Either, pending};
use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Result};
use napi_derive::napi;
use synod_bound::{Asking, Caller};

use crate::call_token::CallToken;
use crate::calls::{Thrown, handed, promise};
use crate::client::Client;
use crate::handle::{handle, methods};

methods! {
    Client:

    "A worker."
    now migrator(client, options: String) -> Migrator { client.migrator(&options)? }
        or "The client was closed, or an option breaks a rule."
}

handle! {
    "A worker at migrations."
    Migrator(synod_bound::Migrator)

    "Stops it. Those who wait for what it works at go on waiting until it has given back what it has claimed."
    now close(migrator) -> () { migrator.close() }
}

#[napi]
impl Migrator {
    /// Works until it is closed, or its token is cancelled. Then it gives back what it has claimed before it answers.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn run<'env>(
        &self,
        env: &'env Env,
        token: Option<&CallToken>,
    ) -> Result<PromiseRaw<'env, ()>> {
        let (migrator, stop) = (self.held.bound()?, stopped(token));
        let running = async move { Ok::<_, Thrown>(migrator.run(stop).await?) };
        let caller = token.map(CallToken::caller);
        promise(env, None, Caller::of(caller, running))
    }

    /// Works at one migration, as [`run`](Self::run).
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn run_one<'env>(
        &self,
        env: &'env Env,
        name: String,
        token: Option<&CallToken>,
    ) -> Result<PromiseRaw<'env, String>> {
        let (migrator, stop) = (self.held.bound()?, stopped(token));
        let running = async move { Ok::<_, Thrown>(migrator.run_one(&name, stop).await?) };
        let caller = token.map(CallToken::caller);
        promise(env, None, Caller::of(caller, running))
    }

    /// What comes next.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn asking<'env>(
        &self,
        env: &'env Env,
        token: Option<&CallToken>,
    ) -> Result<PromiseRaw<'env, Asked>> {
        let (waited, migrator) = (self.held.bound()?, self.held.bound()?);
        let asking = async move { waited.asking().await };
        handed(env, token, asking, move |asking| {
            Ok(Asked {
                ended: asking == Asking::Ended,
                task: match asking {
                    Asking::Task => migrator.tasks().pop().map(Task::from),
                    Asking::Withdrawn | Asking::Ended => None,
                },
            })
        })
    }
}

/// Ends when the token is cancelled, if there is one.
fn stopped(token: Option<&CallToken>) -> impl Future<Output = ()> + Send + use<> {
    match token {
        Some(token) => Either::Left(token.cancelled()),
        None => Either::Right(pending()),
    }
}

/// What comes next from a worker: a task, the end, or neither, if tasks that were taken are not wanted any more.
#[derive(Debug)]
#[napi]
pub struct Asked {
    ended: bool,
    task: Option<Task>,
}

#[napi]
impl Asked {
    /// Whether nothing more will be asked.
    #[napi(getter)]
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The task, once, if there is one.
    #[napi]
    pub fn take_task(&mut self) -> Option<Task> {
        self.task.take()
    }
}

handle! {
    "What a worker asks."
    Task(synod_bound::Task)

    "What is asked."
    now document(task) -> String { task.document() }

    "Whether the worker still waits for the answer."
    now is_wanted(task) -> bool { task.is_wanted() }

    "Answers."
    now answer(task, answer: String) -> () { task.answer(&answer)? } or "It is no answer to what is asked."
}
