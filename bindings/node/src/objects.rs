//! Objects that JavaScript encodes and decodes.

use std::sync::Arc;

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Result};
use napi_derive::napi;
use synod_bound::Step as Bound;

use crate::calls::{promise, thrown};
use crate::cancel::CancelToken;
use crate::client::Client;

/// The objects of a collection.
#[derive(Debug)]
#[napi]
pub struct Objects {
    bound: synod_bound::Objects,
}

/// A change of an object on its way.
#[derive(Debug)]
#[napi]
pub struct Updater {
    bound: Arc<synod_bound::Updater>,
}

/// A new object on its way to the store.
#[derive(Debug)]
#[napi]
pub struct Creator {
    bound: Arc<synod_bound::Creator>,
}

/// What an updater asks for.
#[derive(Debug)]
#[napi(object)]
pub struct Step {
    /// The object to change, or as it is wanted.
    pub object: String,
    /// The version to encode in; absent when it is done.
    pub version: Option<String>,
    /// When it is done: false if nothing was written.
    pub changed: bool,
    /// When it is done: whether it is gone.
    pub deleted: bool,
}

#[napi]
impl Client {
    /// The objects of a collection.
    ///
    /// # Errors
    ///
    /// The client was closed, or an option breaks a rule.
    #[napi]
    pub fn objects(&self, options: String) -> Result<Objects> {
        let bound = self.bound()?.objects(&options).map_err(thrown)?;
        Ok(Objects { bound })
    }
}

#[napi]
impl Objects {
    /// The version that the next write is encoded in.
    #[napi]
    pub fn version(&self) -> String {
        self.bound.version()
    }

    /// Encodes from now on in this version.
    ///
    /// # Errors
    ///
    /// It is no version.
    #[napi]
    pub fn encode_in(&self, version: String) -> Result<()> {
        self.bound.encode_in(&version).map_err(thrown)
    }

    /// Changes an object until it is changed.
    ///
    /// # Errors
    ///
    /// They are no such documents.
    #[napi]
    pub fn updater(&self, key: String, cached: Option<String>) -> Result<Updater> {
        let updater = self.bound.updater(&key, cached.as_deref());
        let bound = Arc::new(updater.map_err(thrown)?);
        Ok(Updater { bound })
    }

    /// Stores a new object.
    ///
    /// # Errors
    ///
    /// An option breaks a rule.
    #[napi]
    pub fn creator(&self, options: String) -> Result<Creator> {
        let bound = Arc::new(self.bound.creator(&options).map_err(thrown)?);
        Ok(Creator { bound })
    }
}

#[napi]
impl Updater {
    /// The first step.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn begin<'env>(
        &self,
        env: &'env Env,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, Step>> {
        let bound = Arc::clone(&self.bound);
        promise(
            env,
            token,
            async move { bound.begin().await.map(Step::from) },
        )
    }

    /// Another object for a change that failed, if there is one.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn failed<'env>(
        &self,
        env: &'env Env,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, Option<Step>>> {
        let bound = Arc::clone(&self.bound);
        promise(env, token, async move {
            Ok(bound.failed().await?.map(Step::from))
        })
    }

    /// The step after what the change has made of the object was stored, or was not.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn write<'env>(
        &self,
        env: &'env Env,
        attributes: String,
        content: String,
        same: Option<bool>,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, Step>> {
        let bound = Arc::clone(&self.bound);
        promise(env, token, async move {
            let step = bound.write(&attributes, &content, same).await?;
            Ok(Step::from(step))
        })
    }
}

#[napi]
impl Creator {
    /// The version to encode in now.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn version<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, String>> {
        let bound = Arc::clone(&self.bound);
        promise(env, None, async move { Ok(bound.version().await) })
    }

    /// The object as it is stored; `null` if it is to be encoded again.
    ///
    /// # Errors
    ///
    /// No promise could be made.
    #[napi]
    pub fn write<'env>(
        &self,
        env: &'env Env,
        content: String,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, Option<String>>> {
        let bound = Arc::clone(&self.bound);
        promise(env, token, async move { bound.write(&content).await })
    }
}

impl From<Bound> for Step {
    fn from(step: Bound) -> Self {
        match step {
            Bound::Change { object, version } => Self {
                object,
                version: Some(version),
                changed: false,
                deleted: false,
            },
            Bound::Done {
                object,
                changed,
                deleted,
            } => Self {
                object,
                version: None,
                changed,
                deleted,
            },
        }
    }
}
