//! The client with which the processes of the demo call the store.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use super::PutBody;
use crate::records::Writer;
use synod_terminal::http::{Http, NoReply, Reply};

/// The longest that a call may take. The setting `write_grace` of the run is longer, so a write whose caller has given
/// up still lands within the grace.
const LIMIT: Duration = Duration::from_secs(1);

/// A client of the store. Clones share connections.
#[derive(Clone, Debug)]
pub(crate) struct StoreClient {
    http: Http,
    address: String,
}

/// The outcome of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// The object is written.
    Landed { version: u64, position: u64 },
    /// The object has another version: nothing was written.
    Conflict,
    /// The store was not reached, or refused the write: nothing was written.
    NotSent(String),
    /// The store did not answer: the outcome is unknown.
    Unknown(String),
}

/// Some objects of a resource, in the order of their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) items: Vec<(String, Get)>,
    /// The number of objects after this page.
    pub(crate) remaining: u64,
}

/// The value stored under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Get {
    pub(crate) version: u64,
    pub(crate) data: Value,
}

impl StoreClient {
    pub(crate) fn new(address: &str) -> Self {
        Self {
            http: Http::default(),
            address: address.to_owned(),
        }
    }

    /// Writes an object if its version is `expected`; 0 means that it must not exist.
    pub(crate) async fn put(
        &self,
        resource: &str,
        name: &str,
        expected: u64,
        writer: Writer,
        data: Value,
    ) -> Put {
        let body = json!(PutBody {
            expected,
            writer,
            data,
        });
        let path = format!("/objects/{resource}/{name}");
        let reply = match self.ask(Method::PUT, &path, Some(&body)).await {
            Ok(reply) => reply,
            Err(NoReply::NotSent(why)) => return Put::NotSent(why),
            Err(NoReply::Unanswered(why)) => return Put::Unknown(why),
        };
        let answer = reply.json();
        match reply.status {
            StatusCode::OK => Put::Landed {
                version: number(&answer, "version"),
                position: number(&answer, "position"),
            },
            StatusCode::CONFLICT => Put::Conflict,
            status => Put::NotSent(format!("the store answered {status}: {answer}")),
        }
    }

    /// The value stored under a name, if there is one.
    ///
    /// # Errors
    ///
    /// The store did not answer.
    pub(crate) async fn get(&self, resource: &str, name: &str) -> Result<Option<Get>, String> {
        let path = format!("/objects/{resource}/{name}");
        let reply = self.read(&path).await?;
        let answer = reply.json();
        match reply.status {
            StatusCode::OK => Ok(Some(Get::of(&answer))),
            StatusCode::NOT_FOUND => Ok(None),
            status => Err(format!("the store answered {status}: {answer}")),
        }
    }

    /// The objects of a resource whose names come after `after`, at most `limit` of them.
    ///
    /// # Errors
    ///
    /// The store did not answer.
    pub(crate) async fn list(
        &self,
        resource: &str,
        after: &str,
        limit: usize,
    ) -> Result<Page, String> {
        let path = format!("/objects/{resource}?after={after}&limit={limit}");
        let answer = self.read(&path).await?.json();
        let items = answer.get("items").and_then(Value::as_array);
        let items = items.ok_or_else(|| format!("the store answered {answer}"))?;
        let items = items.iter().map(|item| {
            let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
            (name.to_owned(), Get::of(item))
        });
        Ok(Page {
            items: items.collect(),
            remaining: number(&answer, "remaining"),
        })
    }

    /// Every object, one JSON document a line.
    ///
    /// # Errors
    ///
    /// The store did not answer.
    pub(crate) async fn dump(&self) -> Result<Vec<u8>, String> {
        Ok(self.read("/objects").await?.body.to_vec())
    }

    /// The number of writes so far.
    ///
    /// # Errors
    ///
    /// The store did not answer.
    pub(crate) async fn position(&self) -> Result<u64, String> {
        let answer = self.read("/position").await?.json();
        let position = answer.get("position").and_then(Value::as_u64);
        position.ok_or_else(|| format!("the store answered {answer}"))
    }

    /// The version in which an administrator wants a resource to be stored, if one is set.
    ///
    /// # Errors
    ///
    /// The store did not answer.
    pub(crate) async fn definition(&self, resource: &str) -> Result<Option<String>, String> {
        let reply = self.read(&format!("/definitions/{resource}")).await?;
        let version = reply.json();
        let version = version.get("storageVersion").and_then(Value::as_str);
        Ok(version.map(str::to_owned))
    }

    /// Sets the version in which a resource is to be stored.
    ///
    /// # Errors
    ///
    /// The store did not answer.
    pub(crate) async fn define(&self, resource: &str, version: &str) -> Result<(), String> {
        let path = format!("/definitions/{resource}");
        let body = json!({"storageVersion": version});
        let reply = self.ask(Method::PUT, &path, Some(&body)).await;
        reply
            .map(drop)
            .map_err(|error| format!("the store was {error}"))
    }

    async fn read(&self, path: &str) -> Result<Reply, String> {
        let reply = self.ask(Method::GET, path, None).await;
        reply.map_err(|error| format!("the store was {error}"))
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Reply, NoReply> {
        self.http
            .ask(method, &self.address, path, body, LIMIT)
            .await
    }
}

impl Get {
    fn of(answer: &Value) -> Self {
        Self {
            version: number(answer, "version"),
            data: answer.get("data").cloned().unwrap_or_default(),
        }
    }
}

fn number(answer: &Value, field: &str) -> u64 {
    answer.get(field).and_then(Value::as_u64).unwrap_or(0)
}
