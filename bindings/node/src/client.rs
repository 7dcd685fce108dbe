//! The client: calls by name, and the life of its connections.

use std::time::Duration;

use napi::bindgen_prelude::block_on;
use napi::{Error, Result};
use napi_derive::napi;
use synod_bound::Bound;

use crate::calls::Thrown;
use crate::handle::handle;

handle! {
    "A client of a cluster."
    Client(Bound)

    "Calls a method by its name, with its request and by when it is answered, in milliseconds."
    later call(client, method: String, request: String, timeout_ms: Option<f64>) -> String {
        client.call(&method, &request, millis(timeout_ms)?).await?
    } or "The client was closed."

    "Writes a backup to a file, with what the file is called."
    later back_up(client, options: String) -> String {
        client.back_up(&options).await?
    } or "The client was closed."

    "The endpoints, as they were given."
    now endpoints(client) -> Vec<String> { client.endpoints() } or "The client was closed."
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
        let bound = block_on(Bound::connect(&options)).map_err(Thrown::from)?;
        Ok(Self::from(bound))
    }

    /// Lets the connections go, as soon as the calls under way are answered.
    #[napi]
    pub fn close(&self) {
        self.held
            .let_go("the client was closed, so it can be used no longer");
    }
}

/// The id that Kubernetes gives an API server on this host.
#[napi]
#[must_use]
pub fn apiserver_id(hostname: String) -> String {
    synod_client::apiserver_id(&hostname).to_string()
}

/// What the topic with this text is, as a document.
///
/// # Errors
///
/// It is no topic.
#[napi]
pub fn topic(text: String) -> Result<String> {
    Ok(synod_bound::topic(&text).map_err(Thrown::from)?)
}

/// What the topic is that a resource is, as a document.
///
/// # Errors
///
/// It is no resource.
#[napi]
pub fn topic_of(resource: String) -> Result<String> {
    Ok(synod_bound::topic_of(&resource).map_err(Thrown::from)?)
}

/// Reads a number of milliseconds that JavaScript passed.
pub(crate) fn millis(span: Option<f64>) -> Result<Option<Duration>> {
    let read = |span: f64| {
        Duration::try_from_secs_f64(span / 1_000.0)
            .map_err(|_| Error::from_reason(format!("{span} is no number of milliseconds")))
    };
    span.map(read).transpose()
}
