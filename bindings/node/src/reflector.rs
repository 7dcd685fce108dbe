//! Local caches that follow the cluster by a watch.

use std::time::Duration;

use napi::bindgen_prelude::BigInt;
use napi::{Error, Result};
use napi_derive::napi;

use crate::client::{Client, millis};
use crate::handle::{handle, methods};

/// How long a cache may take to reach a revision, by default.
const REACHED_WITHIN: Duration = Duration::from_secs(10);

methods! {
    Client:

    "A cache of all objects of some kinds."
    later reflect(client, options: String) -> Reflector { client.reflect(&options).await? } or "The client was closed."

    "What follows the objects of a collection."
    later reflect_objects(client, options: String) -> ObjectReflector { client.reflect_objects(&options).await? }
        or "The client was closed."
}

handle! {
    "A cache that follows the cluster."
    Reflector(synod_bound::Reflector)

    "The revision that it shows."
    now revision(reflector) -> u64 { reflector.revision() } or "It was closed."

    "All objects of a kind, a list."
    now list(reflector, kind: String) -> String { reflector.list(&kind)? }
        or "It was closed, or it is no kind that it keeps."

    "One object."
    now get(reflector, options: String) -> Option<String> { reflector.get(&options)? }
        or "It was closed, or an option breaks a rule."

    "The revision of the last change, once there is one after `since`."
    later changed(reflector, since: BigInt) -> u64 { reflector.changed(revision(&since)?).await? }
        or "It was closed, or `since` is no revision."

    "Waits until it shows a revision."
    later reached(reflector, wanted: BigInt, timeout_ms: Option<f64>) -> () {
        let limit = millis(timeout_ms)?.unwrap_or(REACHED_WITHIN);
        reflector.reached(revision(&wanted)?, limit).await?
    } or "It was closed, or it is no revision."
}

#[napi]
impl Reflector {
    /// Follows the cluster no longer.
    #[napi]
    pub fn close(&self) {
        self.held
            .let_go("the reflector was closed, so it can be used no longer");
    }
}

handle! {
    "What follows the objects of a collection."
    ObjectReflector(synod_bound::ObjectReflector)

    "What has changed since the pull before."
    now pull(reflector) -> Pulled { reflector.pull() } or "It was closed."

    "The revision that a pull would show."
    now revision(reflector) -> u64 { reflector.revision() } or "It was closed."

    "The revision, once it is after `since`."
    later changed(reflector, since: BigInt) -> u64 { reflector.changed(revision(&since)?).await? }
        or "It was closed, or `since` is no revision."

    "Waits until a pull would show a revision."
    later reached(reflector, wanted: BigInt, timeout_ms: Option<f64>) -> () {
        let limit = millis(timeout_ms)?.unwrap_or(REACHED_WITHIN);
        reflector.reached(revision(&wanted)?, limit).await?
    } or "It was closed, or it is no revision."
}

#[napi]
impl ObjectReflector {
    /// Follows the cluster no longer.
    #[napi]
    pub fn close(&self) {
        self.held
            .let_go("the cache was closed, so it can be used no longer");
    }
}

/// What has changed since the pull before.
#[derive(Debug)]
#[napi(object)]
pub struct Pulled {
    /// The revision that the cache shows with it.
    pub revision: BigInt,
    /// A document of the changes, if there are any.
    pub changes: Option<String>,
}

impl From<synod_bound::Pulled> for Pulled {
    fn from(pulled: synod_bound::Pulled) -> Self {
        Self {
            revision: pulled.revision.into(),
            changes: pulled.changes,
        }
    }
}

/// Reads a revision that JavaScript passed.
fn revision(given: &BigInt) -> Result<u64> {
    match given.get_u64() {
        (false, revision, true) => Ok(revision),
        _ => Err(Error::from_reason("a revision is 0 to 2^64 - 1")),
    }
}
