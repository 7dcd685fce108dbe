//! Calls of methods by name: round trips, retries, dry runs, refusals and timeouts.

use std::time::Duration;

use serde_json::json;
use synod_bound::Bound;
use tokio::time::Instant;

use crate::cluster::{Cluster, endpoint, within};
use crate::network::Weather;
use crate::{bound, call, key, parsed, widgets};

#[tokio::test(start_paused = true)]
async fn an_object_goes_there_and_back_as_documents() {
    let cluster = Cluster::start(3).await;
    let bound = bound(&cluster).await;
    widgets(&bound, json!({})).await;
    let content = json!({"encodingVersion": "example.io/v1", "data": "eyJhIjoxfQ=="});
    let create = json!({"key": key("a"), "content": content, "attributes": {"labels": {"b": "c"}}});
    let created = call(&bound, "Objects/Create", create).await;
    assert_eq!(created["header"]["revision"], created["resourceVersion"]);

    let read = call(&bound, "Objects/Get", json!({"key": key("a")})).await;
    assert_eq!(read["object"]["content"]["data"], "eyJhIjoxfQ==");
    assert_eq!(read["object"]["metadata"]["labels"], json!({"b": "c"}));
    assert_eq!(read["object"]["metadata"]["uid"], created["uid"]);
}

#[tokio::test(start_paused = true)]
async fn a_change_is_made_once_although_its_answer_was_lost() {
    let cluster = Cluster::start(3).await;
    let bound = bound(&cluster).await;
    widgets(&bound, json!({})).await;
    // The client asks the replica that answered last: it executes the request, and its answer is lost.
    let status = call(&bound, "Cluster/Status", json!({})).await;
    let asked: u64 = status["header"]["replicaId"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    cluster.network.set(&endpoint(asked), Weather::Mute);
    let content = json!({"encodingVersion": "example.io/v1", "data": "e30="});
    let created = call(
        &bound,
        "Objects/Create",
        json!({"key": key("a"), "content": content}),
    )
    .await;
    assert_ne!(
        created["header"]["replicaId"],
        status["header"]["replicaId"]
    );
    // A second execution would have been refused, since the object exists.
    let read = call(&bound, "Objects/Get", json!({"key": key("a")})).await;
    let metadata = &read["object"]["metadata"];
    assert_eq!(metadata["resourceVersion"], created["resourceVersion"]);
}

#[tokio::test(start_paused = true)]
async fn a_request_under_a_key_of_its_own_is_executed_once() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    widgets(&bound, json!({})).await;
    let opened = call(&bound, "Sessions/Open", json!({})).await;
    let content = json!({"encodingVersion": "example.io/v1", "data": "e30="});
    let create = json!({
        "requestId": {"session": opened["session"], "sequence": "1", "lowestUnanswered": "1"},
        "key": key("a"),
        "content": content,
    });
    let first = call(&bound, "Objects/Create", create.clone()).await;
    let again = call(&bound, "Objects/Create", create).await;
    assert_eq!(first["resourceVersion"], again["resourceVersion"]);
    let ask = json!({"session": opened["session"], "sequence": "1"});
    let outcome = call(&bound, "Sessions/GetOutcome", ask).await;
    assert_eq!(outcome["outcome"]["changed"], true);
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_changes_nothing_and_opens_no_session() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    let sessions = || async {
        let status = call(&bound, "Cluster/Status", json!({})).await;
        status["header"]["revision"].clone()
    };
    let before = sessions().await;
    let dry = json!({
        "resource": {"group": "example.io", "resource": "widgets"},
        "kind": "Widget",
        "dryRun": true,
    });
    call(&bound, "Collections/Create", dry).await;
    assert_eq!(sessions().await, before);
}

#[tokio::test(start_paused = true)]
async fn a_document_that_is_no_request_is_refused_before_anything_is_sent() {
    // No replica listens there: a request that was sent would not be answered.
    let bound = Bound::connect(r#"{"endpoints": ["127.0.0.1:1"]}"#)
        .await
        .unwrap();
    let refused = |method: &'static str, request: &'static str| {
        let method = format!("synod.v1.{method}");
        let bound = &bound;
        async move { bound.call(&method, request, None).await.unwrap_err() }
    };
    let failure = refused("Objects/Get", r#"{"key": {"nam": "a", "name": 1}}"#).await;
    assert_eq!(failure.kind, "INVALID_ARGUMENT");
    assert_eq!((failure.execution, failure.retryable), ("refused", false));
    let mut fields: Vec<&str> = failure
        .violations
        .iter()
        .map(|fault| fault.field.as_str())
        .collect();
    fields.sort_unstable();
    assert_eq!(fields, ["key.nam", "key.name"]);
    for (method, request) in [
        ("Objects/Get", "{"),
        ("Objects/Gett", "{}"),
        ("Watch/Watch", "{}"),
    ] {
        let failure = refused(method, request).await;
        assert_eq!(failure.kind, "INVALID_ARGUMENT", "{method} {request}");
    }
    let none = Some(Duration::ZERO);
    let failure = bound.call("synod.v1.Objects/Get", "{}", none).await;
    assert_eq!(failure.unwrap_err().violations[0].field, "timeout");
    let failure = Bound::connect(r#"{"endpoint": []}"#).await.unwrap_err();
    assert_eq!(failure.violations.len(), 2, "{failure}");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_crosses_the_border_with_all_that_it_says() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    widgets(&bound, json!({})).await;
    let content = json!({"encodingVersion": "example.io/v1", "data": "e30="});
    call(
        &bound,
        "Objects/Create",
        json!({"key": key("a"), "content": content}),
    )
    .await;
    let update = json!({
        "key": key("a"),
        "content": content,
        "preconditions": {"resourceVersion": "1"},
    });
    let update = update.to_string();
    let updating = bound.call("synod.v1.Objects/Update", &update, None);
    let failure = updating.await.unwrap_err();
    let document = parsed(&failure.to_json());
    assert_eq!(document["code"], "CONFLICT");
    assert_eq!(document["execution"], "refused");
    assert_eq!(document["current"]["metadata"]["name"], "a");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_nobody_answers_says_that_it_was_not_executed() {
    let mut cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    cluster.kill(1);
    let timeout = Some(Duration::from_secs(2));
    let calling = bound.call("synod.v1.Cluster/GetSettings", "{}", timeout);
    let failure = within(calling).await.unwrap_err();
    assert_eq!(failure.execution, "not_executed", "{failure}");
    assert!(failure.retryable);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_at_a_replica_is_answered_within_its_callers_time() {
    let cluster = Cluster::start(3).await;
    let bound = bound(&cluster).await;
    let lease = json!({"namespace": "n", "name": "l"});
    let held = json!({"lease": lease, "holder": "one", "ttlMs": "60000"});
    call(&bound, "Leases/Acquire", held).await;
    let wait = json!({"lease": lease, "holder": "two", "ttlMs": "60000", "waitMs": "60000"});
    let begun = Instant::now();
    let span = Duration::from_secs(4);
    let waiting = bound
        .call("synod.v1.Leases/Acquire", &wait.to_string(), Some(span))
        .await;
    assert!(parsed(&waiting.unwrap())["queued"].is_object());
    assert!(begun.elapsed() < span, "{:?}", begun.elapsed());
}
