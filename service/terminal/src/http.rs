//! The HTTP client of this program: of the demo's processes, and of whoever looks at API servers.

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

/// How many bytes an answer may have. The largest documents that are asked for are those of discovery.
const ANSWER_BYTES_MAX: usize = 8 << 20;

/// A client that keeps its connections. Clones share them.
#[derive(Clone, Debug)]
pub struct Http {
    client: Client<HttpConnector, Full<Bytes>>,
}

/// What was answered.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status of the answer.
    pub status: StatusCode,
    /// Its body, whole.
    pub body: Bytes,
}

/// Why there is no answer. Only the first of them is certain to have changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoReply {
    /// Nobody was reached.
    NotSent(String),
    /// It was sent, as far as is known, and not answered.
    Unanswered(String),
}

impl Default for Http {
    /// A client without connections yet.
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
    /// Asks for `http://address/path`.
    ///
    /// # Errors
    ///
    /// There was no answer within the limit.
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
    /// The body as JSON; null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

/// The error at the bottom, which names the cause; those above it say only what was tried.
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
