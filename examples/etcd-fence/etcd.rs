//! The part of etcd that an API server needs, over etcd's JSON gateway: reads, and conditional writes.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Request, header};
use data_encoding::BASE64;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde_json::{Value, json};
use synod_client::StoreError;
use tokio::time::timeout;

/// A client of etcd. Clones share their connections.
#[derive(Clone, Debug)]
pub(crate) struct Etcd {
    url: String,
    client: Client<HttpConnector, Full<Bytes>>,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) key: String,
    pub(crate) value: Vec<u8>,
    /// The revision of its last write.
    pub(crate) revision: i64,
}

/// A condition on a key, which must hold for a write to land.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The key has this value.
    Holds(String, Vec<u8>),
    /// The key was last written at this revision; 0: there is no such key.
    WrittenAt(String, i64),
}

const LIMIT: Duration = Duration::from_secs(5);
const ANSWER_BYTES_MAX: usize = 16 << 20;

impl Etcd {
    /// The client of the etcd at a URL.
    pub(crate) fn new(url: &str) -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .build_http();
        Self {
            url: url.trim_end_matches('/').to_owned(),
            client,
        }
    }

    /// The present value of a key.
    pub(crate) async fn get(&self, key: &str) -> Result<Option<Pair>, StoreError> {
        let answer = self.ask("range", json!({"key": text(key)})).await?;
        Ok(pairs(&answer)?.pop())
    }

    /// The pairs whose keys begin with `prefix` and come after `after`, at most `limit`, and whether there are more.
    pub(crate) async fn list(
        &self,
        prefix: &str,
        after: &str,
        limit: usize,
    ) -> Result<(Vec<Pair>, bool), StoreError> {
        // The range begins right after the last key that was seen, and ends right after all keys with the prefix.
        let from = match after {
            "" => prefix.to_owned(),
            after => format!("{after}\0"),
        };
        let end = format!("{}0", prefix.trim_end_matches('/'));
        let range =
            json!({"key": text(&from), "range_end": text(&end), "limit": limit.to_string()});
        let answer = self.ask("range", range).await?;
        Ok((pairs(&answer)?, answer["more"].as_bool().unwrap_or(false)))
    }

    /// Writes a key if every condition holds. Returns false if one does not.
    pub(crate) async fn put_if(
        &self,
        conditions: &[Condition],
        key: &str,
        value: &[u8],
    ) -> Result<bool, StoreError> {
        let compare: Vec<Value> = conditions.iter().map(Condition::compare).collect();
        let put = json!({"request_put": {"key": text(key), "value": BASE64.encode(value)}});
        let answer = self
            .ask("txn", json!({"compare": compare, "success": [put]}))
            .await?;
        Ok(answer["succeeded"].as_bool().unwrap_or(false))
    }

    async fn ask(&self, what: &str, body: Value) -> Result<Value, StoreError> {
        let request = Request::post(format!("{}/v3/kv/{what}", self.url))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::from(body.to_string()))
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        let busy = StoreError::Busy { retry_after: None };
        let answered = async {
            let response = self
                .client
                .request(request)
                .await
                .map_err(|_| busy.clone())?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
            let body = body.map_err(|_| busy.clone())?.to_bytes();
            match StoreError::of_http(head.status, &head.headers) {
                None => serde_json::from_slice(&body).map_err(|fault| malformed(&fault)),
                Some(error) => Err(error),
            }
        };
        timeout(LIMIT, answered).await.map_err(|_| busy.clone())?
    }
}

impl Condition {
    fn compare(&self) -> Value {
        match self {
            Self::Holds(key, value) => json!({
                "key": text(key), "target": "VALUE", "result": "EQUAL", "value": BASE64.encode(value),
            }),
            Self::WrittenAt(key, revision) => json!({
                "key": text(key), "target": "MOD", "result": "EQUAL", "mod_revision": revision.to_string(),
            }),
        }
    }
}

fn text(key: &str) -> String {
    BASE64.encode(key.as_bytes())
}

fn pairs(answer: &Value) -> Result<Vec<Pair>, StoreError> {
    let pairs = answer["kvs"].as_array().into_iter().flatten();
    pairs.map(pair).collect()
}

fn pair(kv: &Value) -> Result<Pair, StoreError> {
    let bytes = |field: &str| {
        let text = kv[field].as_str().unwrap_or_default();
        BASE64
            .decode(text.as_bytes())
            .map_err(|fault| malformed(&fault))
    };
    let revision = kv["mod_revision"].as_str().unwrap_or_default();
    Ok(Pair {
        key: String::from_utf8(bytes("key")?).map_err(|fault| malformed(&fault))?,
        value: bytes("value")?,
        revision: revision.parse().map_err(|fault| malformed(&fault))?,
    })
}

fn malformed(fault: &dyn std::error::Error) -> StoreError {
    StoreError::Refused(format!("etcd answered something else: {fault}"))
}
