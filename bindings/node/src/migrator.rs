//! Workers of migrations, and their tasks.

use std::sync::Arc;

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Result};
use napi_derive::napi;

use crate::calls::{handed, promise, thrown};
use crate::cancel::CancelToken;
use crate::client::Client;

/// A worker at migrations.
#[derive(Debug)]
#[napi]
pub struct Migrator {
    bound: Arc<synod_bound::Migrator>,
}

/// What a worker asks.
#[derive(Debug)]
#[napi]
pub struct Task {
    bound: synod_bound::Task,
}

#[napi]
impl Client {
    /// A worker.
    ///
    /// # Errors
    ///
    /// The client was closed, or an option breaks a rule.
    #[napi]
    pub fn migrator(&self, options: String) -> Result<Migrator> {
        let bound = Arc::new(self.bound()?.migrator(&options).map_err(thrown)?);
        Ok(Migrator { bound })
    }
}

#[napi]
impl Migrator {
    /// Works until it is closed.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn run<'env>(
        &self,
        env: &'env Env,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, ()>> {
        let bound = Arc::clone(&self.bound);
        promise(env, token, async move { bound.run().await })
    }

    /// Works at one migration.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn run_one<'env>(
        &self,
        env: &'env Env,
        name: String,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, String>> {
        let bound = Arc::clone(&self.bound);
        promise(env, token, async move { bound.run_one(&name).await })
    }

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
        let (waited, bound) = (Arc::clone(&self.bound), Arc::clone(&self.bound));
        let ready = async move { waited.tasks().ready().await };
        handed(env, token, ready, move || {
            let task = bound.tasks().pop();
            Ok(task.map(|bound| Task { bound }))
        })
    }

    /// Stops it.
    #[napi]
    pub fn close(&self) {
        self.bound.close();
    }
}

#[napi]
impl Task {
    /// What is asked.
    #[napi]
    pub fn document(&self) -> String {
        self.bound.document()
    }

    /// Answers.
    ///
    /// # Errors
    ///
    /// It is no answer to what is asked.
    #[napi]
    pub fn answer(&self, answer: String) -> Result<()> {
        self.bound.answer(&answer).map_err(thrown)
    }
}
