//! An HTTP client for the processes of the demo.

use std::fmt;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde_json::Value;
use tokio::time::timeout;

/// The most bytes that the body of an answer may have.
const ANSWER_BYTES_MAX: usize = 8 << 20;

/// An HTTP client that keeps its connections. Clones share them.
#[derive(Clone, Debug)]
pub struct Http {
    client: Client<HttpConnector, Full<Bytes>>,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status code.
    pub status: StatusCode,
    /// The whole body.
    pub body: Bytes,
}

/// Why there is no answer. Only [`NoReply::NotSent`] is certain to have changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoReply {
    /// No connection was made: the server has received nothing.
    NotSent(String),
    /// The request may have been sent. No complete answer came.
    Unanswered(String),
}

impl Default for Http {
    /// A client that has no connections yet.
    fn default() -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .build(connector);
        Self { client }
    }
}

impl Http {
    /// Sends a request to `http://address/path` and waits for the answer.
    ///
    /// # Errors
    ///
    /// The server was not reached, or did not answer within `limit`.
    pub async fn ask(
        &self,
        method: Method,
        address: &str,
        path: &str,
        body: Option<&Value>,
        limit: Duration,
    ) -> Result<Reply, NoReply> {
        let text = body.map(ToString::to_string).unwrap_or_default();
        let request = Request::builder()
            .method(method)
            .uri(format!("http://{address}{path}"))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::from(text))
            .map_err(|error| NoReply::NotSent(error.to_string()))?;
        match timeout(limit, self.answered(request)).await {
            Ok(answered) => answered,
            Err(_) => Err(NoReply::Unanswered(format!("no answer within {limit:?}"))),
        }
    }

    async fn answered(&self, request: Request<Full<Bytes>>) -> Result<Reply, NoReply> {
        let response = self.client.request(request).await.map_err(|error| {
            let text = innermost(&error);
            if error.is_connect() {
                NoReply::NotSent(text)
            } else {
                NoReply::Unanswered(text)
            }
        })?;
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX);
        let body = body.collect().await;
        let body = body.map_err(|error| NoReply::Unanswered(innermost(&*error)))?;
        Ok(Reply {
            status,
            body: body.to_bytes(),
        })
    }
}

impl Reply {
    /// The body as JSON; null if the body is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

/// The innermost source of the error, which names the cause; the outer ones say only what was tried.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

impl fmt::Display for NoReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent(why) => write!(f, "not reached: {why}"),
            Self::Unanswered(why) => write!(f, "not answered: {why}"),
        }
    }
}
