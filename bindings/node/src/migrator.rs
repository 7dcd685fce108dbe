//! Workers of migrations, and their tasks.

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Result};
use napi_derive::napi;

use crate::calls::handed;
use crate::cancel::CancelToken;
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

    "Works until it is closed."
    later run(migrator) -> () { migrator.run().await? }

    "Works at one migration."
    later run_one(migrator, name: String) -> String { migrator.run_one(&name).await? }

    "Stops it."
    now close(migrator) -> () { migrator.close() }
}

#[napi]
impl Migrator {
    /// What is asked next, or `null` at the end.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn task<'env>(
        &self,
        env: &'env Env,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, Option<Task>>> {
        let (waited, migrator) = (self.held.bound()?, self.held.bound()?);
        let ready = async move { waited.tasks().ready().await };
        handed(env, token, ready, move || {
            Ok(migrator.tasks().pop().map(Task::from))
        })
    }
}

handle! {
    "What a worker asks."
    Task(synod_bound::Task)

    "What is asked."
    now document(task) -> String { task.document() }

    "Answers."
    now answer(task, answer: String) -> () { task.answer(&answer)? } or "It is no answer to what is asked."
}
