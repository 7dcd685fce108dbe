//! The handles against real replicas, with the network and disks in memory that the client's own tests use.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod backups;
mod calls;
#[expect(dead_code, reason = "the client's own tests use all of it")]
#[path = "../../../../sdk/tests/replicas/cluster.rs"]
mod cluster;
mod feeds;
mod generated;
mod handles;
#[path = "../../../../sdk/tests/replicas/network.rs"]
mod network;
mod topics;

use serde_json::Value;
use synod_bound::Bound;

use cluster::Cluster;

/// A document in a text.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A client of all replicas.
async fn bound(cluster: &Cluster) -> Bound {
    Bound::over(cluster.client().await)
}

/// Calls a method, which must succeed.
async fn call(bound: &Bound, method: &str, request: Value) -> Value {
    let method = format!("synod.v1.{method}");
    let answer = bound.call(&method, &request.to_string(), None).await;
    parsed(&answer.unwrap())
}

/// A collection of widgets, with these rules.
async fn widgets(bound: &Bound, rules: Value) {
    let request = serde_json::json!({
        "resource": {"group": "example.io", "resource": "widgets"},
        "kind": "Widget",
        "rules": rules,
    });
    call(bound, "Collections/Create", request).await;
}

/// The key of a widget.
fn key(name: &str) -> Value {
    serde_json::json!({
        "resource": {"group": "example.io", "resource": "widgets"},
        "name": name,
    })
}
