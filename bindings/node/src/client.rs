//! The client: calls by name, and the life of its connections.

use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::{PromiseRaw, block_on};
use napi::{Env, Error, Result};
use napi_derive::napi;
use synod_bound::Bound;

use crate::calls::{promise, thrown};
use crate::cancel::CancelToken;

/// A client of a cluster.
#[derive(Debug)]
#[napi]
pub struct Client {
    /// `None`: it was closed.
    bound: Option<Arc<Bound>>,
}

#[napi]
impl Client {
    /// A client that is made of these options, a document.
    ///
    /// # Errors
    ///
    /// An option breaks a rule.
    #[napi(constructor)]
    pub fn new(options: String) -> Result<Self> {
        // It waits for no replica.
        let bound = block_on(Bound::connect(&options)).map_err(thrown)?;
        Ok(Self {
            bound: Some(Arc::new(bound)),
        })
    }

    /// Calls a method by its name, with its request and by when it is answered, in milliseconds.
    ///
    /// # Errors
    ///
    /// The client was closed.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn call<'env>(
        &self,
        env: &'env Env,
        method: String,
        request: String,
        timeout_ms: Option<f64>,
        token: Option<&CancelToken>,
    ) -> Result<PromiseRaw<'env, String>> {
        let bound = self.bound()?;
        let timeout = millis(timeout_ms)?;
        promise(env, token, async move {
            bound.call(&method, &request, timeout).await
        })
    }

    /// The endpoints, as they were given.
    ///
    /// # Errors
    ///
    /// The client was closed.
    #[napi]
    pub fn endpoints(&self) -> Result<Vec<String>> {
        Ok(self.bound()?.endpoints())
    }

    /// Lets the connections go, as soon as the calls under way are answered.
    #[napi]
    pub fn close(&mut self) {
        self.bound = None;
    }
}

impl Client {
    pub(crate) fn bound(&self) -> Result<Arc<Bound>> {
        let closed = || Error::from_reason("the client was closed, so it can be used no longer");
        self.bound.clone().ok_or_else(closed)
    }
}

/// The id that Kubernetes gives an API server on this host.
#[napi]
#[must_use]
pub fn apiserver_id(hostname: String) -> String {
    synod_client::apiserver_id(&hostname).to_string()
}

/// Reads a number of milliseconds that JavaScript passed.
pub(crate) fn millis(span: Option<f64>) -> Result<Option<Duration>> {
    let read = |span: f64| {
        Duration::try_from_secs_f64(span / 1_000.0)
            .map_err(|_| Error::from_reason(format!("{span} is no number of milliseconds")))
    };
    span.map(read).transpose()
}
