//! Watches.

use serde_json::{Value, json};
use synod_proto::v1;
use synod_proto::v1::objects_client::ObjectsClient;

use crate::api::{Api, WIDGETS, widget};
use crate::replicas::Replicas;

#[tokio::test]
async fn a_watch_tells_what_there_is_and_then_what_happens() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    api.post(WIDGETS, &widget("a", 1)).await;
    let mut watch = api.watch(&format!("{WIDGETS}?watch=true")).await;
    assert_eq!(watch.told(1).await, ["ADDED a"]);
    api.post(WIDGETS, &widget("b", 1)).await;
    api.patch(
        &format!("{WIDGETS}/a"),
        "merge",
        &json!({"spec": {"size": 2}}),
    )
    .await;
    api.delete(&format!("{WIDGETS}/b"), &Value::Null).await;
    assert_eq!(watch.told(2).await, ["ADDED b", "MODIFIED a"]);
    let gone = watch.next().await.unwrap();
    assert_eq!(gone["type"], "DELETED");
    assert_eq!(gone["object"]["spec"]["size"], 1);
    // With the revision of its deletion, from which a watch goes on.
    let revision = gone["object"]["metadata"]["resourceVersion"]
        .as_str()
        .unwrap();
    let mut next = api
        .watch(&format!("{WIDGETS}?watch=1&resourceVersion={revision}"))
        .await;
    api.post(WIDGETS, &widget("c", 1)).await;
    assert_eq!(next.told(1).await, ["ADDED c"]);
}

// Guarantee: K-01
#[tokio::test]
async fn a_list_and_a_watch_from_its_revision_miss_nothing() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    api.post(WIDGETS, &widget("a", 1)).await;
    let list = api.get(WIDGETS).await;
    let revision = list.body["metadata"]["resourceVersion"].as_str().unwrap();
    for name in ["b", "c", "d"] {
        api.post(WIDGETS, &widget(name, 1)).await;
    }
    let mut watch = api
        .watch(&format!("{WIDGETS}?watch=true&resourceVersion={revision}"))
        .await;
    assert_eq!(watch.told(3).await, ["ADDED b", "ADDED c", "ADDED d"]);
}

#[tokio::test]
async fn what_begins_to_match_is_added_and_what_ceases_to_is_deleted() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    api.post(WIDGETS, &widget("a", 1)).await;
    let mut watch = api
        .watch(&format!("{WIDGETS}?watch=true&labelSelector=size%3D2"))
        .await;
    let label = |size: &str| json!({"metadata": {"labels": {"size": size}}});
    api.patch(&format!("{WIDGETS}/a"), "merge", &label("2"))
        .await;
    api.patch(&format!("{WIDGETS}/a"), "merge", &label("3"))
        .await;
    assert_eq!(watch.told(2).await, ["ADDED a", "DELETED a"]);
    let mut one = api
        .watch(&format!(
            "{WIDGETS}?watch=true&fieldSelector=metadata.name%3Db"
        ))
        .await;
    api.post(WIDGETS, &widget("c", 1)).await;
    api.post(WIDGETS, &widget("b", 1)).await;
    assert_eq!(one.told(1).await, ["ADDED b"]);
}

#[tokio::test]
async fn a_watch_ends_when_its_time_is_over_with_a_bookmark_of_how_far_it_is() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let created = api.post(WIDGETS, &widget("a", 1)).await;
    let path = format!("{WIDGETS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=1");
    let mut watch = api.watch(&path).await;
    assert_eq!(watch.next().await.unwrap()["type"], "ADDED");
    let mut last = Value::Null;
    while let Some(event) = watch.next().await {
        last = event;
    }
    assert_eq!(last["type"], "BOOKMARK");
    assert_eq!(
        (&last["object"]["kind"], &last["object"]["apiVersion"]),
        (&json!("Widget"), &json!("example.io/v1"))
    );
    // No less than what was told, and no more than there is.
    let revision = |of: &Value| {
        let text = of["metadata"]["resourceVersion"].as_str().unwrap();
        text.parse::<u64>().unwrap()
    };
    let told = revision(&last["object"]);
    let list = revision(&api.get(WIDGETS).await.body);
    assert!(told >= revision(&created.body) && told <= list, "{told}");
}

#[tokio::test]
async fn no_bookmark_is_before_where_a_watch_begins() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let created = api.post(WIDGETS, &widget("a", 1)).await;
    let revision = |of: &Value| {
        let text = of["metadata"]["resourceVersion"].as_str().unwrap();
        text.parse::<u64>().unwrap()
    };
    let at = revision(&created.body);
    let asked = "watch=true&allowWatchBookmarks=true&timeoutSeconds=1";
    let mut watch = api
        .watch(&format!("{WIDGETS}?{asked}&resourceVersion={at}"))
        .await;
    let mut bookmarks = 0;
    while let Some(event) = watch.next().await {
        assert_eq!(event["type"], "BOOKMARK");
        assert!(revision(&event["object"]) >= at, "{event}");
        bookmarks += 1;
    }
    assert!(bookmarks > 0, "it ended without one");
}

#[tokio::test]
async fn a_watch_list_tells_where_the_objects_end_that_there_were() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    api.post(WIDGETS, &widget("a", 1)).await;
    let asked = "watch=true&allowWatchBookmarks=true&sendInitialEvents=true";
    let mut watch = api
        .watch(&format!(
            "{WIDGETS}?{asked}&resourceVersionMatch=NotOlderThan"
        ))
        .await;
    assert_eq!(watch.next().await.unwrap()["type"], "ADDED");
    let end = watch.next().await.unwrap();
    assert_eq!(end["type"], "BOOKMARK");
    assert_eq!(
        end["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"],
        "true"
    );
    let refused = api.get(&format!("{WIDGETS}?{asked}")).await;
    assert_eq!(refused.code, 422, "{refused:?}");
}

#[tokio::test]
async fn only_the_first_table_of_a_watch_tells_its_columns() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    api.post(WIDGETS, &widget("a", 1)).await;
    api.post(WIDGETS, &widget("b", 1)).await;
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let mut watch = api.watch_as(&format!("{WIDGETS}?watch=true"), table).await;
    let first = watch.next().await.unwrap();
    assert_eq!(first["object"]["columnDefinitions"][0]["name"], "Name");
    assert_eq!(first["object"]["rows"][0]["cells"][0], "a");
    let second = watch.next().await.unwrap();
    assert_eq!(second["object"]["columnDefinitions"], Value::Null);
}

#[tokio::test]
async fn a_shutdown_ends_watches_in_order() {
    let mut replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    api.post(WIDGETS, &widget("a", 1)).await;
    let mut watch = api.watch(&format!("{WIDGETS}?watch=true")).await;
    assert_eq!(watch.told(1).await, ["ADDED a"]);
    let replica = replicas.running.pop().unwrap();
    let ended = async { while watch.next().await.is_some() {} };
    tokio::join!(replica.shutdown(), ended);
}

// Guarantee: K-01
#[tokio::test]
async fn a_watch_goes_on_at_another_replica_where_it_ended() {
    let replicas = Replicas::start(3, |_, _| {}).await;
    replicas.declare("widgets", "Widget", true).await;
    let api = |number: usize| Api(replicas.kube[number].clone());
    let created = api(0).post(WIDGETS, &widget("a", 1)).await;
    let revision = created.body["metadata"]["resourceVersion"]
        .as_str()
        .unwrap();
    api(1).post(WIDGETS, &widget("b", 1)).await;
    api(2).post(WIDGETS, &widget("c", 1)).await;
    for number in 0..3 {
        let path = format!("{WIDGETS}?watch=true&resourceVersion={revision}");
        let mut watch = api(number).watch(&path).await;
        assert_eq!(watch.told(2).await, ["ADDED b", "ADDED c"]);
    }
}

/// Creates widgets at one revision, and tells which.
async fn create_together(replicas: &Replicas, names: &[&str]) -> u64 {
    use v1::objects_operation::Operation;
    let create = |name: &&str| v1::ObjectsOperation {
        operation: Some(Operation::Create(v1::CreateOperation {
            key: Some(v1::ObjectKey {
                resource: Some(v1::GroupResource {
                    group: "example.io".to_owned(),
                    resource: "widgets".to_owned(),
                }),
                namespace: "n".to_owned(),
                name: (*name).to_owned(),
            }),
            content: Some(v1::ObjectContent {
                encoding_version: "example.io/v1".to_owned(),
                media_type: "application/json".to_owned(),
                data: b"{}".to_vec().into(),
            }),
            ..v1::CreateOperation::default()
        })),
    };
    let request = v1::ObjectsTransactRequest {
        operations: names.iter().map(create).collect(),
        ..v1::ObjectsTransactRequest::default()
    };
    let mut objects = ObjectsClient::new(replicas.channel().await);
    let done = objects.transact(request).await.unwrap().into_inner();
    assert!(done.succeeded);
    done.header.unwrap().revision
}

// Guarantee: K-01
#[tokio::test]
async fn a_watch_that_broke_off_within_a_revision_misses_nothing_of_it() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let path = format!("{WIDGETS}?watch=true&resourceVersion=");
    let revision = create_together(&replicas, &["a", "b", "c"]).await;
    // It may have read one of the three lines: each has this revision.
    let mut watch = api.watch(&format!("{path}{revision}")).await;
    assert_eq!(watch.told(3).await, ["ADDED a", "ADDED b", "ADDED c"]);
    let mut one = api
        .watch(&format!("{path}{revision}&fieldSelector=metadata.name%3Db"))
        .await;
    let revision = create_together(&replicas, &["d"]).await;
    let mut next = api.watch(&format!("{path}{revision}")).await;
    api.delete(&format!("{WIDGETS}/b"), &Value::Null).await;
    // What is the only change for a watch is what it has read.
    assert_eq!(one.told(1).await, ["DELETED b"]);
    assert_eq!(next.told(1).await, ["DELETED b"]);
    assert_eq!(watch.told(2).await, ["ADDED d", "DELETED b"]);
}

#[tokio::test]
async fn a_revision_that_is_too_large_to_be_one_is_refused() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    for revision in [u64::MAX, u64::MAX - 1, i64::MAX.unsigned_abs() + 1] {
        let path = format!("{WIDGETS}?watch=true&resourceVersion={revision}");
        let refused = api.get(&path).await;
        assert_eq!(refused.code, 400, "{refused:?}");
    }
}
