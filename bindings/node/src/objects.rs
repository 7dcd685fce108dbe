//! Objects that JavaScript encodes and decodes.

use napi::bindgen_prelude::PromiseRaw;
use napi::{Env, Result};
use napi_derive::napi;
use synod_bound::Step as Bound;

use crate::client::Client;
use crate::handle::{handle, methods};

methods! {
    Client:

    "The objects of a collection."
    now objects(client, options: String) -> Objects { client.objects(&options)? }
        or "The client was closed, or an option breaks a rule."
}

handle! {
    "The objects of a collection."
    Objects(synod_bound::Objects)

    "The version that the next write is encoded in."
    now version(objects) -> String { objects.version() }

    "Encodes from now on in this version."
    now encode_in(objects, version: String) -> () { objects.encode_in(&version)? } or "It is no version."

    "Changes an object until it is changed."
    now updater(objects, key: String, cached: Option<String>) -> Updater { objects.updater(&key, cached.as_deref())? }
        or "They are no such documents."

    "Stores a new object."
    now creator(objects, options: String) -> Creator { objects.creator(&options)? } or "An option breaks a rule."
}

handle! {
    "A change of an object on its way."
    Updater(synod_bound::Updater)

    "The first step."
    later begin(updater) -> Step { updater.begin().await? }

    "Another object for a change that failed, if there is one."
    later failed(updater) -> Option<Step> { updater.failed().await?.map(Step::from) }

    "The step after what the change has made of the object was stored, or was not."
    later write(updater, attributes: String, content: String, same: Option<bool>) -> Step {
        updater.write(&attributes, &content, same).await?
    }
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

handle! {
    "A new object on its way to the store."
    Creator(synod_bound::Creator)

    "The object as it is stored; `null` if it is to be encoded again."
    later write(creator, content: String) -> Option<String> { creator.write(&content).await? }
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
        self.held.later(
            env,
            None,
            |creator| async move { Ok(creator.version().await) },
        )
    }
}
