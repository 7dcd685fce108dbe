//! The status of objects, which its subresource writes and nothing else.

use serde_json::{Value, json};

use crate::api::{Answer, Api, WIDGETS, widget};
use crate::replicas::Replicas;

fn a() -> String {
    format!("{WIDGETS}/a")
}

fn status() -> String {
    format!("{WIDGETS}/a/status")
}

/// The widget `a` of this size with this status.
fn observed(size: u64, status: &Value) -> Value {
    let mut document = widget("a", size);
    document["status"] = status.clone();
    document
}

/// The size, the status and the generation that an answer tells.
fn told(answer: &Answer) -> (u16, Value, Value, Value) {
    let body = &answer.body;
    (
        answer.code,
        body["spec"]["size"].clone(),
        body["status"].clone(),
        body["metadata"]["generation"].clone(),
    )
}

fn expected(
    code: u16,
    size: u64,
    status: impl Into<Value>,
    generation: u64,
) -> (u16, Value, Value, Value) {
    (code, json!(size), status.into(), json!(generation))
}

fn revision(answer: &Answer) -> u64 {
    let revision = answer.body["metadata"]["resourceVersion"].as_str();
    revision.unwrap().parse().unwrap()
}

/// What the managers of an object have written: the operation, the subresource, and the top fields.
fn managers(answer: &Answer) -> Vec<String> {
    let entries = answer.body["metadata"]["managedFields"].as_array();
    let told = entries.into_iter().flatten().map(|entry| {
        let fields: Vec<&String> = entry["fieldsV1"].as_object().unwrap().keys().collect();
        let text = |field: &str| entry[field].as_str().unwrap_or("-");
        format!(
            "{} {} {} {fields:?}",
            text("manager"),
            text("operation"),
            text("subresource")
        )
    });
    told.collect()
}

// Guarantee: K-07
#[tokio::test]
async fn a_write_of_the_object_keeps_the_status_and_one_of_the_status_all_else() {
    let replicas = Replicas::with_status().await;
    let api = Api::of(&replicas);
    // A new object has no status, whatever is said of it.
    let created = api.post(WIDGETS, &observed(1, &json!({"ready": 9}))).await;
    assert_eq!(told(&created), expected(201, 1, Value::Null, 1));

    let mut next = created.body.clone();
    next["spec"]["size"] = json!(7);
    next["metadata"]["labels"] = json!({"other": "label"});
    next["status"] = json!({"ready": 1});
    let put = api.put(&status(), &next).await;
    assert_eq!(told(&put), expected(200, 1, json!({"ready": 1}), 1));
    assert_eq!(put.body["metadata"]["labels"], json!({"size": "1"}));
    assert!(revision(&put) > revision(&created));
    assert_eq!(api.get(&status()).await.body, put.body);
    assert_eq!(api.get(&a()).await.body, put.body);

    // The revision is that of the whole object.
    let late = api.put(&status(), &next).await;
    assert_eq!((late.code, &late.body["reason"]), (409, &json!("Conflict")));

    let mut next = put.body.clone();
    next["spec"]["size"] = json!(2);
    next["status"] = json!({"ready": 5});
    let updated = api.put(&a(), &next).await;
    assert_eq!(told(&updated), expected(200, 2, json!({"ready": 1}), 2));
    next["metadata"]["resourceVersion"] = updated.body["metadata"]["resourceVersion"].clone();
    next["status"] = Value::Null;
    let same = api.put(&a(), &next).await;
    assert_eq!(revision(&same), revision(&updated), "nothing is different");

    // A status that is not there is taken away.
    let mut bare = updated.body.clone();
    bare.as_object_mut().unwrap().remove("status");
    let gone = api.put(&status(), &bare).await;
    assert_eq!(told(&gone), expected(200, 2, Value::Null, 2));
}

// Guarantee: K-07
#[tokio::test]
async fn patches_of_each_form_change_their_part_alone() {
    let replicas = Replicas::with_status().await;
    let api = Api::of(&replicas);
    api.post(WIDGETS, &widget("a", 1)).await;
    let both = |size: u64, ready: u64| json!({"spec": {"size": size}, "status": {"ready": ready}});
    let merged = api.patch(&status(), "merge", &both(3, 1)).await;
    assert_eq!(told(&merged), expected(200, 1, json!({"ready": 1}), 1));
    let merged = api.patch(&a(), "merge", &both(3, 2)).await;
    assert_eq!(told(&merged), expected(200, 3, json!({"ready": 1}), 2));
    let strategic = api.patch(&status(), "strategic-merge", &both(4, 3)).await;
    assert_eq!(told(&strategic), expected(200, 3, json!({"ready": 3}), 2));
    let operations = |ready: u64| {
        json!([
            {"op": "replace", "path": "/status/ready", "value": ready},
            {"op": "add", "path": "/metadata/labels/x", "value": "y"},
        ])
    };
    let patched = api.patch(&status(), "json", &operations(4)).await;
    assert_eq!(told(&patched), expected(200, 3, json!({"ready": 4}), 2));
    assert_eq!(patched.body["metadata"]["labels"]["x"], Value::Null);
    let patched = api.patch(&a(), "json", &operations(5)).await;
    assert_eq!(told(&patched), expected(200, 3, json!({"ready": 4}), 2));
    assert_eq!(patched.body["metadata"]["labels"]["x"], "y");

    let path = format!("{}?dryRun=All", status());
    let dry = api.patch(&path, "merge", &both(1, 8)).await;
    assert_eq!(told(&dry), expected(200, 3, json!({"ready": 8}), 2));
    assert_eq!(api.get(&a()).await.body["status"]["ready"], 4);
    let mut expecting = both(1, 9);
    expecting["metadata"] = json!({"resourceVersion": "1"});
    let late = api.patch(&status(), "merge", &expecting).await;
    assert_eq!((late.code, &late.body["reason"]), (409, &json!("Conflict")));
}

#[tokio::test]
async fn a_status_has_managers_of_its_own() {
    let replicas = Replicas::with_status().await;
    let api = Api::of(&replicas);
    let created = format!("{WIDGETS}?fieldManager=maker");
    api.post(&created, &observed(1, &json!({"ready": 0}))).await;
    let observes = |ready: u64| observed(1, &json!({ "ready": ready }));
    let applied = api.apply(&status(), "watcher", &observes(1)).await;
    assert_eq!(told(&applied), expected(200, 1, json!({"ready": 1}), 1));
    assert_eq!(
        managers(&applied),
        [
            r#"watcher Apply status ["f:status"]"#,
            r#"maker Update - ["f:metadata", "f:spec"]"#,
        ]
    );
    // Applied to the object, its status says nothing.
    let applied = api.apply(&a(), "maker", &observes(2)).await;
    assert_eq!(told(&applied), expected(200, 1, json!({"ready": 1}), 1));
    let refused = api.apply(&status(), "other", &observes(3)).await;
    assert_eq!(refused.code, 409);
    assert_eq!(
        refused.body["message"],
        "Apply failed with 1 conflict: conflict with \"watcher\" with subresource \"status\": .status.ready"
    );
    let path = format!("{}?fieldManager=updater", status());
    let updated = api
        .patch(&path, "merge", &json!({"status": {"seen": true}}))
        .await;
    let updater = r#"updater Update status ["f:status"]"#.to_owned();
    assert!(managers(&updated).contains(&updater), "{updated:?}");
    // Who applies without what it had takes that away, and nothing else.
    let applied = api
        .apply(&status(), "watcher", &observed(1, &json!({})))
        .await;
    assert_eq!(applied.body["status"], json!({"seen": true}));
    assert_eq!(applied.body["spec"], json!({"size": 1}));
}

#[tokio::test]
async fn there_is_a_status_only_where_it_is_declared_and_something_is_there() {
    let replicas = Replicas::with_status().await;
    replicas.declare("plains", "Plain", true).await;
    let api = Api::of(&replicas);
    let observes = observed(1, &json!({"ready": 1}));
    for answer in [
        api.get(&status()).await,
        api.put(&status(), &observes).await,
        api.patch(&status(), "merge", &json!({"status": {}})).await,
        api.apply(&status(), "watcher", &observes).await,
    ] {
        assert_eq!(
            (answer.code, &answer.body["message"]),
            (404, &json!("widgets.example.io \"a\" not found"))
        );
    }
    api.post(WIDGETS, &widget("a", 1)).await;
    let none = json!({});
    assert_eq!(api.post(&status(), &observes).await.code, 405);
    assert_eq!(api.delete(&status(), &none).await.code, 405);
    assert_eq!(api.get(&format!("{}/scale", a())).await.code, 404);

    let plains = "/apis/example.io/v1/namespaces/n/plains";
    let mut plain = observes.clone();
    plain["kind"] = json!("Plain");
    let created = api.post(plains, &plain).await;
    assert_eq!(created.body["status"], json!({"ready": 1}));
    let path = format!("{plains}/a/status");
    assert_eq!(api.get(&path).await.code, 404);
    assert_eq!(api.put(&path, &plain).await.code, 404);
}

#[tokio::test]
async fn an_object_that_is_written_in_another_version_brings_its_status_along() {
    let replicas = Replicas::with_status().await;
    let api = Api::of(&replicas);
    api.post(WIDGETS, &widget("a", 1)).await;
    let set = json!({"status": {"ready": 1}});
    api.patch(&status(), "merge", &set).await;
    let later = WIDGETS.replace("v1", "v2");
    let mut document = api.get(&a()).await.body;
    document["apiVersion"] = json!("example.io/v2");
    let refused = api.put(&format!("{later}/a/status"), &document).await;
    assert_eq!(
        (refused.code, &refused.body["reason"]),
        (409, &json!("Conflict"))
    );
    document["status"] = json!({"isReady": true});
    let updated = api.put(&format!("{later}/a"), &document).await;
    assert_eq!(
        told(&updated),
        expected(200, 1, json!({"isReady": true}), 2)
    );
}

#[tokio::test]
async fn discovery_and_openapi_tell_of_the_status() {
    let replicas = Replicas::with_status().await;
    replicas.declare("plains", "Plain", true).await;
    let api = Api::of(&replicas);
    let listed = api.get("/apis/example.io/v1").await;
    let resources = listed.body["resources"].as_array().unwrap().clone();
    let named = |name: &str| resources.iter().find(|one| one["name"] == name);
    let own = named("widgets/status").unwrap();
    assert_eq!(own["verbs"], json!(["get", "patch", "update"]));
    assert_eq!(
        (&own["kind"], &own["namespaced"]),
        (&json!("Widget"), &json!(true))
    );
    assert!(named("plains").is_some() && named("plains/status").is_none());

    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let all = api.get_as("/apis", accept).await.body;
    let groups = all["items"].as_array().unwrap();
    let group = groups
        .iter()
        .find(|group| group["metadata"]["name"] == "example.io");
    let resources = group.unwrap()["versions"][0]["resources"].as_array();
    let of = |plural: &str| {
        let mut all = resources.into_iter().flatten();
        all.find(|one| one["resource"] == plural).unwrap()["subresources"].clone()
    };
    assert_eq!(of("widgets")[0]["subresource"], "status");
    assert_eq!(of("widgets")[0]["responseKind"]["kind"], "Widget");
    assert_eq!(of("plains"), Value::Null);

    let document = api.get("/openapi/v3/apis/example.io/v1").await.body;
    let path = |plural: &str| {
        format!("/apis/example.io/v1/namespaces/{{namespace}}/{plural}/{{name}}/status")
    };
    let of = &document["paths"][path("widgets")];
    let methods: Vec<&String> = of.as_object().unwrap().keys().collect();
    assert_eq!(methods, ["get", "put", "patch"]);
    assert_eq!(document["paths"][path("plains")], Value::Null);
}
