//! Calls by the name of their method, with JSON documents in place of typed values.

use std::time::Duration;

use prost_reflect::DynamicMessage;
use serde_json::Value;
use synod_model::{Verdict, Violation};
use synod_proto::{Change, v1};

use super::Client;
use super::leases::{WAIT_CALL, WAIT_ROUND};
use crate::messages::{self, AnyAnswer, AnyRequest, Method, Nature};
use crate::session::deadline;
use crate::transport::{Repeats, Try};
use crate::{Error, RequestKey};

impl Client {
    /// Calls a method by its name, such as `synod.v1.Objects/Create`, with its request in protobuf's JSON form, and
    /// returns the response in that form. For programs that have no types for the messages; others call the typed
    /// methods of this client.
    ///
    /// The guarantees are those of a typed call: it fails over, a change is executed at most once, with a session
    /// exactly once, and a dry run takes no place in the session. The client fills in the request id. A request that
    /// already has an id is sent with that id: then the caller keeps the session.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: there is no such method, the method is a stream, or the document is no request of the
    /// method; then nothing was sent, and every fault is named by its path. `UNAVAILABLE` as for
    /// [`Client::update_settings`]. Other errors are those of the method.
    pub async fn call_json(&self, method: &str, request: &Value) -> Result<Value, Error> {
        self.call_document(method, request, None).await
    }

    /// As [`Client::call_json`], with this deadline over all tries. `call_json` itself uses the client's timeout, and
    /// for a request that waits for a lease at least that of [`Client::send_acquire_lease`].
    ///
    /// # Errors
    ///
    /// As [`Client::call_json`]; also `INVALID_ARGUMENT`: the timeout is zero.
    pub async fn call_json_within(
        &self,
        method: &str,
        request: &Value,
        timeout: Duration,
    ) -> Result<Value, Error> {
        if timeout.is_zero() {
            let fault = Violation::invalid("0", "must be greater than zero");
            return Err(Error::invalid(fault.at("timeout")));
        }
        self.call_document(method, request, Some(timeout)).await
    }

    async fn call_document(
        &self,
        method: &str,
        request: &Value,
        timeout: Option<Duration>,
    ) -> Result<Value, Error> {
        let method = Method::find(method)?;
        let message = messages::read(&method.request(), request).map_err(Error::invalid)?;
        let waits = method.waits(&message);
        let timeout = match timeout {
            Some(timeout) => timeout,
            None if waits => self.timeout.max(WAIT_CALL),
            None => self.timeout,
        };
        // A waiting call is limited at one replica, so that it is answered there before another replica is tried.
        let limit = waits.then(|| WAIT_ROUND.min(timeout * 3 / 10));
        let client = self.with_timeout(timeout);
        if let Some(feature) = method.names_switch_of(&message) {
            Box::pin(client.check_switches(feature)).await?;
        }
        // The request may hold a whole object: the future is boxed, so that the futures that await it stay small.
        let answer = Box::pin(client.call_any(&method, message, limit)).await?;
        Ok(messages::write(&answer.message))
    }

    async fn call_any(
        &self,
        method: &Method,
        message: DynamicMessage,
        limit: Option<Duration>,
    ) -> Result<AnyAnswer, Error> {
        let send = |attempt: Try, request: AnyRequest| method.send(attempt, request.0, limit);
        match method.nature(&message) {
            Nature::Read => {
                let again = |attempt| method.send(attempt, message.clone(), limit);
                self.read(again).await
            }
            Nature::Repeatable => {
                let again = |attempt| method.send(attempt, message.clone(), limit);
                self.repeatable(again).await
            }
            Nature::Change => self.change(Change::new(message), send).await,
            Nature::Fenced => self.fenced_change(Change::new(message), send).await,
            Nature::Joining => self.joining_change(Change::new(message), send).await,
            Nature::Keyed => {
                let again = |attempt| method.send(attempt, message.clone(), limit);
                let call = self.call(deadline(self.timeout), Repeats::ExactlyOnce);
                let sent = call.run(again).await;
                sent.map_err(|failure| named(failure.error, &message))
            }
        }
    }
}

/// Adds to an error of unknown outcome the key under which the caller sent the request.
fn named(error: Error, request: &DynamicMessage) -> Error {
    let field = request.get_field_by_name("request_id");
    let key = field.and_then(|field| field.as_message()?.transcode_to::<v1::RequestId>().ok());
    match key.and_then(|key| RequestKey::from_wire(&key)) {
        Some(key) if error.execution() == Verdict::Unknown => error.with_request_key(key),
        Some(_) | None => error,
    }
}
