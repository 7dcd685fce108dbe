//! Local caches that follow the cluster by a watch.

use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::{BigInt, PromiseRaw};
use napi::{Env, Error, Result};
use napi_derive::napi;

use crate::calls::{promise, thrown};
use crate::cancel::CancelToken;
use crate::client::{Client, millis};

/// A cache that follows the cluster.
#[derive(Debug)]
#[napi]
pub struct Reflector {
    /// `None`: it was closed.
    bound: Option<Arc<synod_bound::Reflector>>,
}

/// How long a cache may take to reach a revision, by default.
const REACHED_WITHIN: Duration = Duration::from_secs(10);

#[napi]
impl Client {
    /// A cache of all objects of some kinds.
    ///
    /// # Errors
    ///
    /// The client was closed.
    #[napi]
    pub fn reflect<'env>(
        &self,
        env: &'env Env,
        options: String,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, Reflector>> {
        let client = self.bound()?;
        promise(env, token, async move {
            let bound = Arc::new(client.reflect(&options).await?);
            Ok(Reflector { bound: Some(bound) })
        })
    }
}

#[napi]
impl Reflector {
    /// The revision that it shows.
    ///
    /// # Errors
    ///
    /// It was closed.
    #[napi]
    pub fn revision(&self) -> Result<u64> {
        Ok(self.bound()?.revision())
    }

    /// All objects of a kind, a list.
    ///
    /// # Errors
    ///
    /// It was closed, or it is no kind that it keeps.
    #[napi]
    pub fn list(&self, kind: String) -> Result<String> {
        self.bound()?.list(&kind).map_err(thrown)
    }

    /// One object.
    ///
    /// # Errors
    ///
    /// It was closed, or an option breaks a rule.
    #[napi]
    pub fn get(&self, options: String) -> Result<Option<String>> {
        self.bound()?.get(&options).map_err(thrown)
    }

    /// The revision of the last change, once there is one after `since`.
    ///
    /// # Errors
    ///
    /// It was closed, or `since` is no revision.
    #[napi]
    pub fn changed<'env>(
        &self,
        env: &'env Env,
        since: BigInt,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, u64>> {
        let (bound, since) = (self.bound()?, revision(&since)?);
        promise(env, token, async move { bound.changed(since).await })
    }

    /// Waits until it shows a revision.
    ///
    /// # Errors
    ///
    /// It was closed, or it is no revision.
    #[napi]
    pub fn reached<'env>(
        &self,
        env: &'env Env,
        wanted: BigInt,
        timeout_ms: Option<f64>,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, ()>> {
        let (bound, wanted) = (self.bound()?, revision(&wanted)?);
        let limit = millis(timeout_ms)?.unwrap_or(REACHED_WITHIN);
        promise(
            env,
            token,
            async move { bound.reached(wanted, limit).await },
        )
    }

    /// Follows the cluster no longer.
    #[napi]
    pub fn close(&mut self) {
        self.bound = None;
    }

    fn bound(&self) -> Result<Arc<synod_bound::Reflector>> {
        let closed = || Error::from_reason("the reflector was closed, so it can be used no longer");
        self.bound.clone().ok_or_else(closed)
    }
}

/// Reads a revision that JavaScript passed.
fn revision(given: &BigInt) -> Result<u64> {
    match given.get_u64() {
        (false, revision, true) => Ok(revision),
        _ => Err(Error::from_reason("a revision is 0 to 2^64 - 1")),
    }
}
