//! Lists: pages, selectors, tables.

use serde_json::{Value, json};

use crate::api::{Answer, Api, WIDGETS, widget};
use crate::replicas::Replicas;

fn names(answer: &Answer) -> Vec<String> {
    let items = answer.body["items"].as_array().unwrap();
    items
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned())
        .collect()
}

async fn with_five() -> (Replicas, Api) {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    for number in 0..5 {
        let created = api
            .post(WIDGETS, &widget(&format!("w{number}"), number))
            .await;
        assert_eq!(created.code, 201);
    }
    (replicas, api)
}

// Guarantee: K-02
#[tokio::test]
async fn a_list_comes_in_pages_of_one_revision_while_writes_go_on() {
    let (_replicas, api) = with_five().await;
    let first = api.get(&format!("{WIDGETS}?limit=2")).await;
    assert_eq!(names(&first), ["w0", "w1"]);
    assert_eq!(first.body["kind"], "WidgetList");
    let token = first.body["metadata"]["continue"].as_str().unwrap();
    api.delete(&format!("{WIDGETS}/w2"), &Value::Null).await;
    let second = api
        .get(&format!("{WIDGETS}?limit=2&continue={token}"))
        .await;
    assert_eq!(names(&second), ["w2", "w3"]);
    assert_eq!(
        second.body["metadata"]["resourceVersion"],
        first.body["metadata"]["resourceVersion"]
    );
    let token = second.body["metadata"]["continue"].as_str().unwrap();
    let last = api
        .get(&format!("{WIDGETS}?limit=2&continue={token}"))
        .await;
    assert_eq!(names(&last), ["w4"]);
    assert_eq!(last.body["metadata"]["continue"], Value::Null);
    assert_eq!(names(&api.get(WIDGETS).await), ["w0", "w1", "w3", "w4"]);
    assert_eq!(
        names(&api.get("/apis/example.io/v1/widgets").await).len(),
        4
    );
}

// Guarantee: K-02
#[tokio::test]
async fn a_list_longer_than_a_page_is_sent_page_by_page_and_is_one_document() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    // More than one page of what the replica reads at a time.
    for number in 0..510 {
        api.post(WIDGETS, &widget(&format!("w{number:03}"), 0))
            .await;
    }
    let all = api.get(WIDGETS).await;
    assert_eq!(names(&all).len(), 510);
    assert!(all.body["metadata"]["resourceVersion"].is_string());
    assert_eq!(all.body["metadata"]["continue"], Value::Null);
    // A limit beyond it is not taken at its word.
    let limited = api.get(&format!("{WIDGETS}?limit=100000")).await;
    assert_eq!(names(&limited).len(), 500);
    assert!(limited.body["metadata"]["continue"].is_string());
}

#[tokio::test]
async fn a_token_too_old_tells_how_to_go_on_at_the_present() {
    let (replicas, api) = with_five().await;
    let first = api.get(&format!("{WIDGETS}?limit=2")).await;
    let token = first.body["metadata"]["continue"].as_str().unwrap();
    replicas.keep(1_000).await;
    for number in 0..1_100 {
        let patch = json!({"spec": {"size": number}});
        api.patch(&format!("{WIDGETS}/w0"), "merge", &patch).await;
    }
    let expired = api
        .get(&format!("{WIDGETS}?limit=2&continue={token}"))
        .await;
    assert_eq!(
        (expired.code, &expired.body["reason"]),
        (410, &json!("Expired"))
    );
    let told = expired.body["message"].as_str().unwrap();
    assert!(
        told.starts_with(
            "The provided continue parameter is too old to display a consistent list result."
        ) && told.ends_with("and now may show up in the list."),
        "{told}"
    );
    let fresh = expired.body["metadata"]["continue"].as_str().unwrap();
    let rest = api
        .get(&format!("{WIDGETS}?limit=10&continue={fresh}"))
        .await;
    assert_eq!(names(&rest), ["w2", "w3", "w4"]);
    // The same for a watch, which has been answered with 200 by then.
    let revision = first.body["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watch = api
        .watch(&format!("{WIDGETS}?watch=true&resourceVersion={revision}"))
        .await;
    let event = watch.next().await.unwrap();
    assert_eq!(event["type"], "ERROR");
    assert_eq!(
        (&event["object"]["code"], &event["object"]["reason"]),
        (&json!(410), &json!("Expired"))
    );
    assert!(
        event["object"]["message"]
            .as_str()
            .unwrap()
            .starts_with("too old resource version: ")
    );
    assert!(watch.next().await.is_none());
}

#[tokio::test]
async fn labels_and_fields_select() {
    let (_replicas, api) = with_five().await;
    for (query, found) in [
        ("labelSelector=size%3D3", vec!["w3"]),
        ("labelSelector=size%20in%20(1,2)", vec!["w1", "w2"]),
        ("labelSelector=!size", vec![]),
        ("fieldSelector=metadata.name%3Dw4", vec!["w4"]),
        (
            "fieldSelector=metadata.name!%3Dw4,metadata.namespace%3Dn&labelSelector=size%20notin%20(0)",
            vec!["w1", "w2", "w3"],
        ),
    ] {
        assert_eq!(
            names(&api.get(&format!("{WIDGETS}?{query}")).await),
            found,
            "{query}"
        );
    }
    let refused = api
        .get(&format!("{WIDGETS}?fieldSelector=spec.size%3D1"))
        .await;
    assert_eq!(
        (refused.code, &refused.body["message"]),
        (400, &json!("field label not supported: spec.size"))
    );
    assert_eq!(
        api.get(&format!("{WIDGETS}?labelSelector=%3D%3D"))
            .await
            .code,
        400
    );
}

#[tokio::test]
async fn a_list_is_read_at_the_revision_that_is_asked_for() {
    let (_replicas, api) = with_five().await;
    let before = api.get(WIDGETS).await;
    let revision = before.body["metadata"]["resourceVersion"].as_str().unwrap();
    api.delete(&format!("{WIDGETS}/w0"), &Value::Null).await;
    let exact = api
        .get(&format!(
            "{WIDGETS}?resourceVersion={revision}&resourceVersionMatch=Exact"
        ))
        .await;
    assert_eq!(names(&exact).len(), 5);
    let newer = api
        .get(&format!("{WIDGETS}?resourceVersion={revision}"))
        .await;
    assert_eq!(names(&newer).len(), 4);
    let future = api
        .get(&format!("{WIDGETS}?resourceVersion=999999999"))
        .await;
    assert_eq!(
        (future.code, &future.body["reason"]),
        (504, &json!("Timeout"))
    );
    assert_eq!(
        future.body["details"]["causes"][0]["reason"],
        "ResourceVersionTooLarge"
    );
    let told = future.body["message"].as_str().unwrap();
    assert!(
        told.starts_with("Timeout: Too large resource version: 999999999, current: "),
        "{told}"
    );
}

#[tokio::test]
async fn a_list_is_told_as_a_table_or_by_metadata_alone() {
    let (_replicas, api) = with_five().await;
    let table = api
        .get_as(
            WIDGETS,
            "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
        )
        .await;
    assert_eq!(table.body["kind"], "Table");
    assert_eq!(table.body["columnDefinitions"][0]["format"], "name");
    let row = &table.body["rows"][4];
    assert_eq!(row["cells"][0], "w4");
    assert_eq!(row["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(row["object"]["metadata"]["namespace"], "n");
    let whole = api
        .get_as(
            &format!("{WIDGETS}?includeObject=Object"),
            "application/json;as=Table;v=v1;g=meta.k8s.io",
        )
        .await;
    assert_eq!(whole.body["rows"][4]["object"]["spec"]["size"], 4);
    let metadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let metadata = api.get_as(WIDGETS, metadata).await;
    assert_eq!(metadata.body["kind"], "PartialObjectMetadataList");
    assert_eq!(metadata.body["items"][0]["spec"], Value::Null);
    assert_eq!(
        api.get_as(WIDGETS, "application/vnd.kubernetes.protobuf")
            .await
            .code,
        406
    );
}
