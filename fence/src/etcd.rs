//! [`Etcd`]: what a fence needs of etcd, over etcd's JSON gateway.

use std::time::Duration;

use bytes::Bytes;
use data_encoding::BASE64;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{Condition, Fault, KeyStore, Page, Pair};

/// etcd, over the JSON gateway that each of its servers has at its port for clients. Clones share their connections.
///
/// It speaks plain HTTP to one URL, without users: for etcd on the same host, or behind a proxy that knows better. A server
/// that reaches its etcd by a client of its own implements [`KeyStore`] over that, in three calls: a range of one key, a
/// range, and a transaction.
#[derive(Clone, Debug)]
pub struct Etcd {
    url: String,
    client: Client<HttpConnector, Full<Bytes>>,
    limit: Duration,
}

/// How long etcd has for an answer, if it is not told otherwise.
const LIMIT: Duration = Duration::from_secs(5);

/// The largest answer that is read.
const ANSWER_BYTES_MAX: usize = 16 << 20;

impl Etcd {
    /// The etcd at a URL, such as `http://127.0.0.1:2379`. Connects when it is called.
    #[must_use]
    pub fn new(url: &str) -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .build_http();
        Self {
            url: url.trim_end_matches('/').to_owned(),
            client,
            limit: LIMIT,
        }
    }

    /// How long etcd has for an answer; 5 seconds if not set. The outcome of a write that takes longer is unknown.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    async fn ask(&self, what: &str, body: &Value) -> Result<Value, Fault> {
        let request = Request::post(format!("{}/v3/kv/{what}", self.url))
            .header(CONTENT_TYPE, "application/json")
            .body(Full::from(body.to_string()))
            .map_err(|error| Fault::Refused(error.to_string()))?;
        let answered = async {
            let response = self.client.request(request).await;
            let response = response.map_err(|error| match error.is_connect() {
                true => Fault::not_executed(format!("etcd cannot be reached: {error}")),
                false => Fault::Unknown(format!("etcd did not answer: {error}")),
            })?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
            let body = body.map_err(|error| Fault::Unknown(error.to_string()))?;
            match refusal(head.status, &head.headers) {
                None => serde_json::from_slice(&body.to_bytes()).map_err(|fault| malformed(&fault)),
                Some(fault) => Err(fault),
            }
        };
        let late = || {
            let limit = self.limit;
            Fault::Unknown(format!("etcd did not answer within {limit:?}"))
        };
        timeout(self.limit, answered).await.map_err(|_| late())?
    }

    async fn range(&self, range: &Value) -> Result<Page, Fault> {
        let answer = self.ask("range", range).await.map_err(Fault::of_read)?;
        let pairs = answer["kvs"].as_array().into_iter().flatten();
        Ok(Page {
            pairs: pairs
                .map(pair)
                .collect::<Result<_, _>>()
                .map_err(Fault::of_read)?,
            more: answer["more"].as_bool().unwrap_or(false),
        })
    }
}

impl KeyStore for Etcd {
    async fn get(&self, key: &str) -> Result<Option<Pair>, Fault> {
        let page = self.range(&json!({"key": text(key)})).await?;
        Ok(page.pairs.into_iter().next())
    }

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Page, Fault> {
        // The range begins right after the last key that was seen, and ends right after all keys with the prefix.
        let from = match (after, prefix) {
            (Some(after), _) => format!("{after}\0"),
            // etcd's way to say that there is no begin.
            (None, "") => "\0".to_owned(),
            (None, prefix) => prefix.to_owned(),
        };
        self.range(&json!({
            "key": text(&from),
            "range_end": BASE64.encode(&end_of(prefix)),
            "limit": limit.to_string(),
        }))
        .await
    }

    async fn put_if(
        &self,
        conditions: &[Condition],
        key: &str,
        value: &[u8],
    ) -> Result<bool, Fault> {
        let compare: Vec<Value> = conditions.iter().map(compared).collect();
        let put = json!({"request_put": {"key": text(key), "value": BASE64.encode(value)}});
        let transaction = json!({"compare": compare, "success": [put]});
        let answer = self.ask("txn", &transaction).await?;
        Ok(answer["succeeded"].as_bool().unwrap_or(false))
    }
}

/// What an answer that is no success says of a write.
fn refusal(status: StatusCode, headers: &HeaderMap) -> Option<Fault> {
    let why = || format!("etcd answered {status}");
    let seconds = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok());
    match status {
        status if status.is_success() => None,
        StatusCode::TOO_MANY_REQUESTS => Some(Fault::NotExecuted {
            why: why(),
            retry_after: seconds
                .and_then(|text| text.parse().ok())
                .map(Duration::from_secs),
        }),
        status if status.is_client_error() && status != StatusCode::REQUEST_TIMEOUT => {
            Some(Fault::Refused(why()))
        }
        // A server that gives up waiting for its quorum says so in this way, and the write may still be agreed on.
        _ => Some(Fault::Unknown(why())),
    }
}

fn compared(condition: &Condition) -> Value {
    match condition {
        Condition::Holds { key, value } => json!({
            "key": text(key), "target": "VALUE", "result": "EQUAL", "value": BASE64.encode(value),
        }),
        Condition::WrittenAt { key, revision } => json!({
            "key": text(key), "target": "MOD", "result": "EQUAL", "mod_revision": revision.to_string(),
        }),
    }
}

/// The first key behind all keys with this prefix. The last byte of a text is never the largest one.
fn end_of(prefix: &str) -> Vec<u8> {
    let mut end = prefix.as_bytes().to_vec();
    match end.last_mut() {
        Some(last) => *last += 1,
        // etcd's way to say that there is no end.
        None => end.push(0),
    }
    end
}

fn text(key: &str) -> String {
    BASE64.encode(key.as_bytes())
}

fn pair(kv: &Value) -> Result<Pair, Fault> {
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

fn malformed(fault: &dyn std::error::Error) -> Fault {
    Fault::Unknown(format!("etcd's answer cannot be understood: {fault}"))
}
