//! [`Bound`]: the client as the bindings use it. Requests, answers and options cross as JSON documents.

use std::time::Duration;

use serde_json::Value;
use synod_client::{Client, MemberId};
use tokio::runtime::Handle;

use crate::caller::Callers;
use crate::counts::{Counted, Live};
use crate::failure::{Failure, RequestKey};
use crate::options::{Options, document, flag, list, millis, text};
use crate::tls::{tls, token};

/// A client of a cluster: [`synod_client::Client`], with JSON documents in place of Rust types.
#[derive(Debug)]
pub struct Bound {
    /// `None` only while `drop` runs.
    client: Option<Client>,
    /// The runtime that the client's connections live on.
    home: Handle,
    _live: Live,
}

impl Bound {
    /// Makes a client for the replicas at `endpoints`, without waiting for any of them.
    ///
    /// Options: `endpoints` (required), each `host:port`, of all replicas. Optional, with their defaults:
    /// `requestTimeoutMs` (10,000), `connectTimeoutMs` (2,000), `keepaliveIntervalMs` (10,000), `keepaliveTimeoutMs`
    /// (5,000) and `sessions` (true). Without sessions, changes are made at most once and never repeated. With `tls`,
    /// connections are encrypted: `ca` (required), `certificate` and `key`, each `{"file": path}` or `{"pem": text}`, and
    /// `serverName`, the name that the replicas' certificates must be for in place of their hosts. Files are read again at
    /// each new connection. `token` is that of a Kubernetes service account, `{"file": path}` or `{"text": token}`, which
    /// proves who calls in place of a certificate. `name` is what the names of holders begin with that are not given.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: there is no option of that name, or its value breaks a rule.
    pub async fn connect(options: &str) -> Result<Self, Failure> {
        let mut options = Options::parse(options)?;
        let endpoint = text(|text| Ok::<_, synod_client::Violation>(text.to_owned()));
        let mut builder = Client::builder().traces(Callers);
        if let Some(endpoints) = options.need("endpoints", list(endpoint)) {
            builder = builder.endpoints(endpoints);
        }
        if let Some(timeout) = options.take("requestTimeoutMs", millis) {
            builder = builder.request_timeout(timeout);
        }
        if let Some(timeout) = options.take("connectTimeoutMs", millis) {
            builder = builder.connect_timeout(timeout);
        }
        let interval = options.take("keepaliveIntervalMs", millis);
        let timeout = options.take("keepaliveTimeoutMs", millis);
        if interval.is_some() || timeout.is_some() {
            let interval = interval.unwrap_or(Duration::from_secs(10));
            builder = builder.keepalive(interval, timeout.unwrap_or(Duration::from_secs(5)));
        }
        if let Some(sessions) = options.take("sessions", flag) {
            builder = builder.sessions(sessions);
        }
        if let Some(tls) = options.take("tls", tls) {
            builder = builder.tls(tls);
        }
        if let Some(token) = options.take("token", token) {
            builder = builder.token(token);
        }
        if let Some(name) = options.take("name", text(MemberId::parse)) {
            builder = builder.name(name);
        }
        let builder = options.end(Some(builder))?;
        Ok(Self::over(builder.connect().await?))
    }

    /// Wraps a client that was made otherwise. It must be called within the runtime that the client was made in.
    #[must_use]
    pub fn over(client: Client) -> Self {
        Self {
            client: Some(client),
            home: Handle::current(),
            _live: Live::new(Counted::Client),
        }
    }

    /// Calls a method by its name, such as `synod.v1.Objects/Create`, and returns its response. A request id is filled
    /// in unless the request has one. `timeout` limits the whole call with all its tries; without it, the client's own
    /// request timeout applies.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: there is no such method, it is a stream, the document is not a request of it, or the timeout
    /// is zero; then nothing was sent. Otherwise as the method says.
    pub async fn call(
        &self,
        method: &str,
        request: &str,
        timeout: Option<Duration>,
    ) -> Result<String, Failure> {
        let _live = Live::new(Counted::Call);
        let request: Value = document(request)?;
        let client = self.client();
        let answer = match timeout {
            Some(timeout) => client.call_json_within(method, &request, timeout).await?,
            None => client.call_json(method, &request).await?,
        };
        Ok(answer.to_string())
    }

    /// Asks for the outcome of the request with this key: the response of `synod.v1.Sessions/GetOutcome`.
    ///
    /// # Errors
    ///
    /// `REQUEST_EXPIRED`: the outcome can no longer be found out.
    pub async fn outcome(&self, key: &RequestKey) -> Result<String, Failure> {
        let request = serde_json::json!({
            "session": key.session.to_string(),
            "sequence": key.sequence.to_string(),
            "clusterId": key.cluster,
        });
        self.call("synod.v1.Sessions/GetOutcome", &request.to_string(), None)
            .await
    }

    /// Ends the client's session, if it has one. The client can still be used, and then opens another session.
    ///
    /// # Errors
    ///
    /// No replica answered in time. The session then expires by itself.
    pub async fn close(&self) -> Result<(), Failure> {
        Ok(self.client().close().await?)
    }

    /// The endpoints, as they were given.
    #[must_use]
    pub fn endpoints(&self) -> Vec<String> {
        self.client().endpoints()
    }

    pub(crate) fn client(&self) -> &Client {
        self.client.as_ref().expect("only a drop takes it away")
    }

    pub(crate) fn home(&self) -> &Handle {
        &self.home
    }
}

impl Drop for Bound {
    /// Drops the client within its runtime, so that its session is ended there.
    fn drop(&mut self) {
        let _home = self.home.enter();
        drop(self.client.take());
    }
}
