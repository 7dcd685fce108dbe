//! The client.

use std::time::Duration;

use serde_json::Value;
use synod_client::Client;
use tokio::runtime::Handle;

use crate::counts::{Counted, Live};
use crate::failure::{Failure, RequestKey};
use crate::options::{Options, document, flag, list, millis, text};

/// A client of a cluster: [`synod_client::Client`], by documents.
#[derive(Debug)]
pub struct Bound {
    /// `None` only while it is dropped.
    client: Option<Client>,
    /// Where its connections live.
    home: Handle,
    _live: Live,
}

impl Bound {
    /// A client for the replicas at `endpoints`. It waits for none of them.
    ///
    /// Options: `endpoints`, each `host:port`, of all replicas; and, if they are to be others than by default,
    /// `requestTimeoutMs` (10,000), `connectTimeoutMs` (2,000), `keepaliveIntervalMs` (10,000) with `keepaliveTimeoutMs`
    /// (5,000), and `sessions` (true), without which changes are made at most once and never repeated.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: an option is no such option, or breaks a rule.
    pub async fn connect(options: &str) -> Result<Self, Failure> {
        let mut options = Options::parse(options)?;
        let endpoint = text(|text| Ok::<_, synod_client::Violation>(text.to_owned()));
        let mut builder = Client::builder();
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
        let builder = options.end(Some(builder))?;
        Ok(Self::over(builder.connect().await?))
    }

    /// The same over a client that was made otherwise. Called within the runtime that the client was made in.
    #[must_use]
    pub fn over(client: Client) -> Self {
        Self {
            client: Some(client),
            home: Handle::current(),
            _live: Live::new(Counted::Client),
        }
    }

    /// Calls a method by its name, such as `synod.v1.Objects/Create`, with its request, and answers its response. A
    /// request id is filled in unless the request has one. `timeout` is by when it is answered, over all tries; without
    /// it, as the client was told.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: there is no such method, it is a stream, the document is no request of it, or the timeout is
    /// zero; then nothing was sent. Else as the method says.
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

    /// What became of a request whose failure had this key: the response of `synod.v1.Sessions/GetOutcome`.
    ///
    /// # Errors
    ///
    /// `REQUEST_EXPIRED`: nobody can tell any more.
    pub async fn outcome(&self, key: &RequestKey) -> Result<String, Failure> {
        let request = serde_json::json!({
            "session": key.session.to_string(),
            "sequence": key.sequence.to_string(),
            "clusterId": key.cluster,
        });
        self.call("synod.v1.Sessions/GetOutcome", &request.to_string(), None)
            .await
    }

    /// Ends the client's session, if it has one. It can be used further, and then opens another.
    ///
    /// # Errors
    ///
    /// No replica answered in time. The session ends by itself then.
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
    /// Within its runtime, so that its session is ended there.
    fn drop(&mut self) {
        let _home = self.home.enter();
        drop(self.client.take());
    }
}
