//! Snapshots of controllers.

use serde_json::{Value, json};
use synod_proto::v1;
use synod_proto::v1::controller_revisions_client::ControllerRevisionsClient;

use crate::api::{Answer, Api, WIDGETS, widget};
use crate::replicas::Replicas;

const SNAPSHOTS: &str = "/apis/apps/v1/namespaces/n/controllerrevisions";

#[tokio::test]
async fn snapshots_of_controllers_are_read_and_watched() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let owner = api.post(WIDGETS, &widget("web", 1)).await.body;
    let path = "/apis/apps/v1/namespaces/n/controllerrevisions";
    let mut watch = api.watch(&format!("{path}?watch=true")).await;
    let create = v1::ControllerRevisionsCreateRequest {
        history: Some(v1::ControllerHistory {
            namespace: "n".to_owned(),
            owner: Some(v1::OwnerReference {
                api_version: "example.io/v1".to_owned(),
                kind: "Widget".to_owned(),
                name: "web".to_owned(),
                uid: owner["metadata"]["uid"].as_str().unwrap().to_owned(),
                controller: true,
                ..v1::OwnerReference::default()
            }),
            selector: [("app".to_owned(), "web".to_owned())].into(),
        }),
        data: br#"{"spec":{"image":"a"}}"#.to_vec().into(),
        prefix: "web".to_owned(),
        collision_count: Some(0),
        ..v1::ControllerRevisionsCreateRequest::default()
    };
    let mut revisions = ControllerRevisionsClient::new(replicas.channel().await);
    let created = revisions.create(create).await.unwrap().into_inner();
    let name = created.answer.unwrap().name;
    assert_eq!(watch.told(1).await, [format!("ADDED {name}")]);
    let one = api.get(&format!("{path}/{name}")).await.body;
    assert_eq!(
        (&one["data"]["spec"]["image"], &one["revision"]),
        (&json!("a"), &json!(1)),
        "{one}"
    );
    let selected = api
        .get(&format!("{path}?labelSelector=app%3Dweb"))
        .await
        .body;
    assert_eq!(selected["items"].as_array().unwrap().len(), 1);
    let table = api
        .get_as(path, "application/json;as=Table;v=v1;g=meta.k8s.io")
        .await
        .body;
    assert_eq!(table["rows"][0]["cells"][1], "widget.example.io/web");
    assert_eq!(table["rows"][0]["cells"][2], 1);
    let path = format!("{path}/{name}");
    let wrong = json!({ "preconditions": { "resourceVersion": "1" } });
    assert_eq!(api.delete(&path, &wrong).await.code, 409);
    let deleted = api.delete(&path, &Value::Null).await.body;
    assert_eq!(
        deleted["details"]["uid"], one["metadata"]["uid"],
        "{deleted}"
    );
    assert_eq!(watch.told(1).await, [format!("DELETED {name}")]);
    assert_eq!(api.get(&path).await.code, 404);
}

/// A widget that controls snapshots, as an owner reference.
async fn owner(api: &Api, name: &str) -> Value {
    let owner = api.post(WIDGETS, &widget(name, 1)).await.body;
    json!({
        "apiVersion": "example.io/v1",
        "kind": "Widget",
        "name": name,
        "uid": owner["metadata"]["uid"],
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// A snapshot as Kubernetes' own controllers send it.
fn snapshot(name: &str, owner: &Value, command: &str, revision: u64) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": name,
            "namespace": "n",
            "labels": { "app": "web", "controller.kubernetes.io/hash": "789b" },
            "ownerReferences": [owner],
        },
        "data": { "spec": { "template": { "command": command } } },
        "revision": revision,
    })
}

fn names(list: &Answer) -> Vec<(String, u64)> {
    let items = list.body["items"].as_array().unwrap().iter();
    let told = items.map(|one| {
        let name = one["metadata"]["name"].as_str().unwrap();
        (name.to_owned(), one["revision"].as_u64().unwrap())
    });
    told.collect()
}

#[tokio::test]
async fn a_controller_of_kubernetes_keeps_its_history() {
    let replicas = Replicas::with_widgets().await;
    replicas.raised().await;
    let api = Api::of(&replicas);
    let web = owner(&api, "web").await;
    let first = snapshot("web-6d9f", &web, "a && b <c>", 1);
    let dry = api.post(&format!("{SNAPSHOTS}?dryRun=All"), &first).await;
    assert_eq!(
        (dry.code, &dry.body["revision"]),
        (201, &json!(1)),
        "{dry:?}"
    );
    let created = api.post(SNAPSHOTS, &first).await;
    assert_eq!(created.code, 201, "{created:?}");
    assert_eq!(created.body["data"], first["data"]);
    assert_eq!(created.body["metadata"]["ownerReferences"], json!([web]));
    // The name is taken: the controller looks whether it is the same, and else counts a collision.
    let again = api.post(SNAPSHOTS, &first).await;
    assert_eq!(
        (again.code, &again.body["message"]),
        (
            409,
            &json!("controllerrevisions.apps \"web-6d9f\" already exists")
        )
    );
    // The same data under another name is another snapshot.
    let second = snapshot("web-7c8e", &web, "a && b <c>", 2);
    assert_eq!(api.post(SNAPSHOTS, &second).await.code, 201);
    let listed = api
        .get(&format!("{SNAPSHOTS}?labelSelector=app%3Dweb"))
        .await;
    let both = [("web-6d9f".to_owned(), 1), ("web-7c8e".to_owned(), 2)];
    assert_eq!(names(&listed), both);

    // It goes back to the first.
    let path = format!("{SNAPSHOTS}/web-6d9f");
    let mut forward = created.body.clone();
    forward["revision"] = json!(3);
    forward["metadata"]["labels"]["tier"] = json!("front");
    let moved = api.put(&path, &forward).await;
    assert_eq!(
        (moved.code, &moved.body["revision"]),
        (200, &json!(3)),
        "{moved:?}"
    );
    assert_eq!(moved.body["metadata"]["labels"]["tier"], "front");
    assert_eq!(api.put(&path, &forward).await.code, 409, "it has moved on");
    forward["metadata"]["resourceVersion"] = Value::Null;
    let blind = api.put(&path, &forward).await;
    assert_eq!(blind.code, 422, "{blind:?}");
    let patched = api
        .patch(&path, "strategic-merge", &json!({"revision": 4}))
        .await;
    assert_eq!((patched.code, &patched.body["revision"]), (200, &json!(4)));
    let back = api.patch(&path, "merge", &json!({"revision": 1})).await;
    assert_eq!(back.code, 422, "{back:?}");
    assert_eq!(api.delete(&path, &json!({})).await.code, 200);
    assert_eq!(
        names(&api.get(SNAPSHOTS).await),
        [("web-7c8e".to_owned(), 2)]
    );
}

#[tokio::test]
async fn a_snapshot_is_released_and_adopted_as_kubernetes_does_it() {
    let replicas = Replicas::with_widgets().await;
    replicas.raised().await;
    let api = Api::of(&replicas);
    let (web, other) = (owner(&api, "web").await, owner(&api, "other").await);
    let created = api.post(SNAPSHOTS, &snapshot("web-1", &web, "a", 1)).await;
    let path = format!("{SNAPSHOTS}/web-1");
    let uid = created.body["metadata"]["uid"].clone();
    let owners = |owners: Value| json!({"metadata": {"uid": uid, "ownerReferences": owners}});
    // The two patches of Kubernetes' history package.
    let release = owners(json!([{"$patch": "delete", "uid": web["uid"]}]));
    let released = api.patch(&path, "strategic-merge", &release).await;
    assert_eq!(released.code, 200, "{released:?}");
    assert_eq!(released.body["metadata"]["ownerReferences"], Value::Null);
    // Whoever has seen another state of it, or another one of this name, adopts nothing.
    let mut stale = released.body.clone();
    stale["metadata"]["ownerReferences"] = json!([other]);
    let mut another = stale.clone();
    stale["metadata"]["resourceVersion"] = created.body["metadata"]["resourceVersion"].clone();
    stale["data"] = json!({});
    another["metadata"]["uid"] = json!("00000000-0000-8000-8000-000000000000");
    for document in [stale, another] {
        let refused = api.put(&path, &document).await;
        assert_eq!(
            (refused.code, &refused.body["reason"]),
            (409, &json!("Conflict"))
        );
    }
    let there = api.get(&path).await.body;
    assert_eq!(there, released.body, "nobody has adopted it");
    let adopted = api
        .patch(&path, "strategic-merge", &owners(json!([other])))
        .await;
    assert_eq!(adopted.code, 200, "{adopted:?}");
    assert_eq!(adopted.body["metadata"]["ownerReferences"], json!([other]));
    let stolen = api.patch(&path, "merge", &owners(json!([web]))).await;
    assert_eq!(
        stolen.body["details"]["causes"][0]["field"],
        "metadata.ownerReferences"
    );
    let mut stale = release.clone();
    stale["metadata"]["uid"] = json!("00000000-0000-8000-8000-000000000000");
    assert_eq!(api.patch(&path, "strategic-merge", &stale).await.code, 409);
}

#[tokio::test]
async fn what_a_snapshot_must_have_and_must_not_have_is_named() {
    let replicas = Replicas::with_widgets().await;
    replicas.raised().await;
    let api = Api::of(&replicas);
    let web = owner(&api, "web").await;
    let with = |field: &str, value: Value| {
        let mut document = snapshot("web-1", &web, "a", 1);
        *document.pointer_mut(field).unwrap() = value;
        document
    };
    for (document, field) in [
        (with("/data", Value::Null), "data"),
        (with("/data", json!("x")), "data"),
        (with("/revision", json!(-1)), "revision"),
        (
            with("/metadata/ownerReferences", json!([])),
            "metadata.ownerReferences",
        ),
        (
            with("/metadata/ownerReferences/0/controller", json!(false)),
            "metadata.ownerReferences",
        ),
        (
            with("/metadata/ownerReferences", json!([web, web])),
            "metadata.ownerReferences",
        ),
    ] {
        let refused = api.post(SNAPSHOTS, &document).await;
        assert_eq!(refused.code, 422, "{refused:?}");
        assert_eq!(refused.body["details"]["causes"][0]["field"], field);
    }
    let created = api.post(SNAPSHOTS, &snapshot("web-1", &web, "a", 1)).await;
    let mut changed = created.body.clone();
    changed["data"]["spec"] = json!({});
    let refused = api.put(&format!("{SNAPSHOTS}/web-1"), &changed).await;
    assert_eq!(
        refused.body["message"],
        "ControllerRevision.apps \"web-1\" is invalid: data: Invalid value: field is immutable"
    );
}

#[tokio::test]
async fn data_that_looks_like_what_is_no_json_is_updated_as_any_other() {
    let replicas = Replicas::with_widgets().await;
    replicas.raised().await;
    let api = Api::of(&replicas);
    let web = owner(&api, "web").await;
    let mut document = snapshot("web-1", &web, "a", 1);
    document["data"] = json!({"rawData": {"mediaType": "text/plain", "base64": "eA=="}});
    let created = api.post(SNAPSHOTS, &document).await;
    assert_eq!(created.code, 201, "{created:?}");
    let path = format!("{SNAPSHOTS}/web-1");
    let mut next = created.body;
    next["revision"] = json!(2);
    let updated = api.put(&path, &next).await;
    assert_eq!(
        (updated.code, &updated.body["data"]),
        (200, &document["data"]),
        "{updated:?}"
    );
    next = updated.body;
    next["data"]["rawData"]["base64"] = json!("eQ==");
    assert_eq!(api.put(&path, &next).await.code, 422);
}
