//! The etcd behind API servers, and what they have stored in it.

use data_encoding::BASE64;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::http::{Request, answered};
use crate::program::LIMIT;

/// One etcd process. Dropping it ends it.
pub(super) struct Etcd {
    url: String,
    _process: Child,
    _folder: TempDir,
}

/// What an API server has stored under a key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stored {
    pub(super) document: Value,
    /// The revision of its last write.
    pub(super) written_at: i64,
}

impl Etcd {
    pub(super) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (command, url) = synod_tests::etcd(folder.path());
        let process = Command::from(command)
            .kill_on_drop(true)
            .spawn()
            .expect("etcd is installed (in Debian: etcd-server)");
        let etcd = Self {
            url,
            _process: process,
            _folder: folder,
        };
        let serves = async { while etcd.range("ready").await.is_none() {} };
        timeout(LIMIT, serves).await.expect("etcd does not serve");
        etcd
    }

    pub(super) fn url(&self) -> String {
        self.url.clone()
    }

    /// What is stored under the keys that begin like this, in their order.
    pub(super) async fn stored(&self, beginning: &str) -> Vec<Stored> {
        let found = self.range(beginning).await.unwrap();
        let pairs = found["kvs"].as_array().cloned().unwrap_or_default();
        let read = pairs.iter().map(|pair| {
            let value = BASE64.decode(pair["value"].as_str().unwrap().as_bytes());
            Stored {
                document: serde_json::from_slice(&value.unwrap()).unwrap(),
                written_at: pair["mod_revision"].as_str().unwrap().parse().unwrap(),
            }
        });
        read.collect()
    }

    /// Forgets what was stored before the last write of all.
    pub(super) async fn compact(&self) {
        let now = self.range("ready").await.unwrap()["header"]["revision"].clone();
        let compacted = self
            .post(
                "/v3/kv/compaction",
                &json!({"revision": now, "physical": true}),
            )
            .await;
        assert!(compacted.is_some(), "{now} cannot be compacted");
    }

    async fn range(&self, beginning: &str) -> Option<Value> {
        let end = beginning.strip_suffix('/').map(|rest| format!("{rest}0"));
        let end = end.unwrap_or_default();
        let [key, range_end] = [beginning, &end].map(|text| BASE64.encode(text.as_bytes()));
        self.post("/v3/kv/range", &json!({"key": key, "range_end": range_end}))
            .await
    }

    /// Calls etcd's gateway for JSON. `None`: it does not succeed.
    async fn post(&self, path: &str, body: &Value) -> Option<Value> {
        let stream = TcpStream::connect(self.url.trim_start_matches("http://"))
            .await
            .ok()?;
        let request = Request {
            method: "POST",
            path,
            token: None,
            body: Some(body),
        };
        let (code, body) = answered(stream, &request).await.ok()?;
        (code == 200).then(|| serde_json::from_slice(&body).unwrap())
    }
}
