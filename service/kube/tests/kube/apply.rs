//! Server-side apply, and who manages which fields.

use serde_json::{Value, json};
use synod_proto::v1;
use synod_proto::v1::objects_client::ObjectsClient;

use crate::api::{Answer, Api, WIDGETS, widget};
use crate::replicas::Replicas;

const MANAGED: &str = "synod.io/managed-fields";

/// A configuration of the widget `a` with this spec.
fn configuration(spec: Value) -> Value {
    json!({
        "apiVersion": "example.io/v1",
        "kind": "Widget",
        "metadata": { "name": "a" },
        "spec": spec,
    })
}

fn a() -> String {
    format!("{WIDGETS}/a")
}

/// The managers of an object with their operations and fields.
fn managed(answer: &Answer) -> Vec<String> {
    let entries = answer.body["metadata"]["managedFields"].as_array();
    let told = entries.into_iter().flatten().map(|entry| {
        format!(
            "{} {} {}{}",
            entry["operation"].as_str().unwrap(),
            entry["manager"].as_str().unwrap(),
            entry["fieldsV1"],
            match entry["subresource"].as_str() {
                Some(subresource) => format!(" {subresource}"),
                None => String::new(),
            }
        )
    });
    told.collect()
}

fn key() -> v1::ObjectKey {
    v1::ObjectKey {
        resource: Some(v1::GroupResource {
            group: "example.io".to_owned(),
            resource: "widgets".to_owned(),
        }),
        namespace: "n".to_owned(),
        name: "a".to_owned(),
    }
}

// Guarantee: K-05
#[tokio::test]
async fn a_configuration_is_applied_and_what_it_says_no_more_goes() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let said = configuration(json!({"size": 1, "color": "red"}));
    let created = api.apply(&a(), "one", &said).await;
    assert_eq!(created.code, 201, "{created:?}");
    assert_eq!(
        managed(&created),
        ["Apply one {\"f:spec\":{\".\":{},\"f:color\":{},\"f:size\":{}}}"]
    );
    let entry = &created.body["metadata"]["managedFields"][0];
    assert_eq!(
        (&entry["apiVersion"], &entry["fieldsType"]),
        (&json!("example.io/v1"), &json!("FieldsV1"))
    );
    assert!(entry["time"].is_string(), "{entry}");
    // What changes nothing is no write.
    let again = api.apply(&a(), "one", &said).await;
    assert_eq!((again.code, &again.body), (200, &created.body));

    let other = api
        .apply(&a(), "two", &configuration(json!({"size": 1, "count": 2})))
        .await;
    assert_eq!(
        other.body["spec"],
        json!({"size": 1, "color": "red", "count": 2}),
        "{other:?}"
    );
    // The one says neither any more: the other still says the size, and nobody the color.
    let less = api.apply(&a(), "one", &configuration(json!({}))).await;
    assert_eq!(
        less.body["spec"],
        json!({"size": 1, "count": 2}),
        "{less:?}"
    );
    // Whoever wrote in an earlier second comes first.
    let mut told = managed(&less);
    told.sort();
    assert_eq!(
        told,
        [
            "Apply one {\"f:spec\":{}}",
            "Apply two {\"f:spec\":{\".\":{},\"f:count\":{},\"f:size\":{}}}",
        ]
    );
}

// Guarantee: K-05
#[tokio::test]
async fn what_another_manages_is_a_conflict_in_the_words_of_kubernetes() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    api.apply(
        &a(),
        "one",
        &configuration(json!({"size": 1, "color": "red"})),
    )
    .await;
    let wanted = configuration(json!({"size": 2, "color": "red"}));
    let refused = api.apply(&a(), "two", &wanted).await;
    let message = "Apply failed with 1 conflict: conflict with \"one\": .spec.size";
    assert_eq!(
        (
            refused.code,
            &refused.body["reason"],
            &refused.body["message"]
        ),
        (409, &json!("Conflict"), &json!(message)),
        "{refused:?}"
    );
    let cause = json!({"reason": "FieldManagerConflict", "message": "conflict with \"one\"", "field": ".spec.size"});
    assert_eq!(refused.body["details"]["causes"], json!([cause]));
    let path = format!("{}?fieldManager=three", a());
    let merge = [("content-type", "application/merge-patch+json")];
    let patched = api
        .send("PATCH", &path, &merge, b"{\"spec\":{\"color\":\"blue\"}}")
        .await;
    assert_eq!(
        managed(&patched),
        [
            "Apply one {\"f:spec\":{\".\":{},\"f:size\":{}}}",
            "Update three {\"f:spec\":{\"f:color\":{}}}",
        ]
    );
    let refused = api.apply(&a(), "two", &wanted).await;
    let message = "Apply failed with 2 conflicts: conflicts with \"one\":\n- .spec.size\n\
                   conflicts with \"three\" using example.io/v1:\n- .spec.color";
    assert_eq!(refused.body["message"], message);
    let forced = api.apply(&a(), "two&force=true", &wanted).await;
    assert_eq!(
        (forced.code, &forced.body["spec"]),
        (200, &wanted["spec"]),
        "{forced:?}"
    );
    // A dry run tells of the conflict, and writes nothing.
    let refused = api
        .apply(&a(), "one&dryRun=All", &configuration(json!({"size": 9})))
        .await;
    assert_eq!(refused.code, 409);
    let dry = api
        .apply(
            &a(),
            "one&dryRun=All&force=true",
            &configuration(json!({"size": 9})),
        )
        .await;
    assert_eq!(
        (dry.code, &dry.body["spec"]["size"]),
        (200, &json!(9)),
        "{dry:?}"
    );
    assert_eq!(api.get(&a()).await.body, forced.body);
}

#[tokio::test]
async fn what_is_no_configuration_is_refused() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let said = configuration(json!({"size": 1}));
    let apply = [("content-type", "application/apply-patch+yaml")];
    let body = said.to_string();
    let nobody = api.send("PATCH", &a(), &apply, body.as_bytes()).await;
    let message = "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch";
    assert_eq!(
        (nobody.code, &nobody.body["message"]),
        (422, &json!(message)),
        "{nobody:?}"
    );
    assert_eq!(
        nobody.body["details"]["causes"][0]["reason"],
        "FieldValueRequired"
    );
    let patch = json!({"spec": {"size": 1}});
    let forced = api
        .patch(&format!("{}?force=true", a()), "merge", &patch)
        .await;
    let message = "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch";
    assert_eq!(
        (forced.code, &forced.body["message"]),
        (422, &json!(message)),
        "{forced:?}"
    );
    assert_eq!(
        forced.body["details"]["causes"][0]["reason"],
        "FieldValueForbidden"
    );
    let long = api.apply(&a(), &"x".repeat(129), &said).await;
    assert_eq!(long.code, 422, "{long:?}");
    let mut managing = said.clone();
    managing["metadata"]["managedFields"] = json!([]);
    let refused = api.apply(&a(), "one", &managing).await;
    assert_eq!(
        (refused.code, &refused.body["message"]),
        (400, &json!("metadata.managedFields must be nil"))
    );
    let mut other = said.clone();
    other["metadata"]["name"] = json!("b");
    assert_eq!(api.apply(&a(), "one", &other).await.code, 400);
    let mut expecting = said.clone();
    expecting["metadata"]["resourceVersion"] = json!("1");
    assert_eq!(api.apply(&a(), "one", &expecting).await.code, 409);
    for body in ["", "[]", "x", "{", "metadata: 1", "a: &a [*a]"] {
        let path = format!("{}?fieldManager=one", a());
        let refused = api.send("PATCH", &path, &apply, body.as_bytes()).await;
        assert_eq!(refused.code, 400, "{body}: {refused:?}");
    }
    assert_eq!(api.get(&a()).await.code, 404);
    // YAML is what its media type says.
    let yaml = "apiVersion: example.io/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 3}\n";
    let path = format!("{}?fieldManager=one", a());
    let created = api.send("PATCH", &path, &apply, yaml.as_bytes()).await;
    assert_eq!(
        (created.code, &created.body["spec"]["size"]),
        (201, &json!(3))
    );
    assert_eq!(api.apply(&a(), "one", &expecting).await.code, 409);
    let flow = "{apiVersion: example.io/v1, kind: Widget, metadata: {name: a}, spec: {size: 4}}";
    let applied = api.send("PATCH", &path, &apply, flow.as_bytes()).await;
    assert_eq!(
        (applied.code, &applied.body["spec"]["size"]),
        (200, &json!(4)),
        "{applied:?}"
    );
}

// Guarantee: K-05
#[tokio::test]
async fn who_applies_a_bare_name_gives_everything_back() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let bare = json!({"apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "a"}});
    let created = api.apply(&a(), "one", &bare).await;
    assert_eq!(
        (created.code, managed(&created)),
        (201, Vec::new()),
        "{created:?}"
    );
    let said = configuration(json!({"size": 1}));
    assert_eq!(api.apply(&a(), "one", &said).await.code, 200);
    let left = api.apply(&a(), "one", &bare).await;
    assert_eq!(
        (left.code, &left.body["spec"], managed(&left)),
        (200, &Value::Null, Vec::new()),
        "{left:?}"
    );
}

// Guarantee: K-05
#[tokio::test]
async fn what_says_the_same_was_written_by_nobody_else() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let said = |list: &str, revision: &str| {
        format!(
            "{{\"apiVersion\": \"example.io/v1\", \"kind\": \"Widget\", \"metadata\": {{\"name\": \"a\", \
             \"resourceVersion\": \"{revision}\", \"labels\": {{\"x\": \"x{revision}\"}}}}, \"spec\": {{\"list\": [{list}], \"number\": 1}}}}"
        )
    };
    let named = |path: &str| format!("{path}?fieldManager=u");
    let body = said("{\"a\": 1, \"b\": 2}", "");
    let created = api
        .send("POST", &named(WIDGETS), &[], body.as_bytes())
        .await;
    assert_eq!(created.code, 201, "{created:?}");
    // The stored data stays as it is, with its members in the order that they had.
    let revision = created.body["metadata"]["resourceVersion"]
        .as_str()
        .unwrap();
    let body = said("{\"b\": 2, \"a\": 1}", revision);
    let updated = api.send("PUT", &named(&a()), &[], body.as_bytes()).await;
    let told = managed(&updated);
    assert!(
        told.len() == 1 && told[0].starts_with("Update u"),
        "{told:?}"
    );
    // A number keeps every digit of its floating point.
    let patch = br#"{"spec": {"number": 31.245270191439438}}"#;
    let merge = [("content-type", "application/merge-patch+json")];
    let patched = api.send("PATCH", &named(&a()), &merge, patch).await;
    let told = patched.body["spec"]["number"].to_string();
    assert_eq!(told, "31.245270191439438", "{patched:?}");
    assert_eq!(managed(&api.get(&a()).await), managed(&patched));
}

#[tokio::test]
async fn a_client_names_managers_and_times_or_is_told_of_it() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let mut said = api.post(WIDGETS, &widget("a", 1)).await.body;
    for (field, value) in [
        ("time", json!("yesterday")),
        ("time", json!(1)),
        ("manager", json!("x".repeat(129))),
        ("manager", json!("x\ny")),
    ] {
        let mut wrong = said.clone();
        wrong["metadata"]["managedFields"][0][field] = value;
        let refused = api.put(&a(), &wrong).await;
        let message = refused.body["message"].as_str().unwrap();
        assert!(
            refused.code == 400 && message.starts_with("metadata.managedFields[0]"),
            "{refused:?}"
        );
        let patch = json!({"metadata": {"managedFields": wrong["metadata"]["managedFields"]}});
        assert_eq!(api.patch(&a(), "merge", &patch).await.code, 400);
    }
    said["metadata"]["managedFields"][0]["time"] = json!("2026-01-01T00:00:00+02:00");
    assert_eq!(api.put(&a(), &said).await.code, 200);
}

/// An update of the widget `a` by gRPC, as it was read but for its size.
async fn resized(replicas: &Replicas, size: u32) -> v1::ObjectsUpdateRequest {
    let mut objects = ObjectsClient::new(replicas.channel().await);
    let get = v1::ObjectsGetRequest {
        key: Some(key()),
        read: None,
    };
    let read = objects.get(get).await.unwrap().into_inner().object.unwrap();
    let metadata = read.metadata.unwrap();
    let content = json!({"spec": {"size": size}}).to_string();
    v1::ObjectsUpdateRequest {
        key: Some(key()),
        attributes: Some(v1::ObjectAttributes {
            labels: metadata.labels,
            annotations: metadata.annotations,
            ..v1::ObjectAttributes::default()
        }),
        content: Some(v1::ObjectContent {
            data: content.into_bytes().into(),
            ..read.content.unwrap()
        }),
        preconditions: Some(v1::Preconditions {
            resource_version: Some(metadata.resource_version),
            ..v1::Preconditions::default()
        }),
        ..v1::ObjectsUpdateRequest::default()
    }
}

// Guarantee: K-05
#[tokio::test]
async fn managers_of_creates_and_updates_are_kept_and_what_grpc_writes_is_found_out() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let agent = [("user-agent", "controller/v1.2 (linux)")];
    let body = widget("a", 1).to_string();
    let created = api.send("POST", WIDGETS, &agent, body.as_bytes()).await;
    assert_eq!(
        managed(&created),
        [
            "Update controller {\"f:metadata\":{\"f:labels\":{\".\":{},\"f:size\":{}}},\"f:spec\":{\".\":{},\"f:size\":{}}}"
        ]
    );
    assert_eq!(created.body["metadata"]["annotations"], Value::Null);

    // gRPC shows the annotation, and writes without telling who does.
    let update = resized(&replicas, 2).await;
    let annotations = &update.attributes.as_ref().unwrap().annotations;
    assert!(annotations[MANAGED].contains("controller"));
    let mut objects = ObjectsClient::new(replicas.channel().await);
    objects.update(update).await.unwrap();
    let shown = api.get(&a()).await;
    assert_eq!(
        managed(&shown),
        [
            "Update synod.v1 {\"f:spec\":{\"f:size\":{}}}",
            "Update controller {\"f:metadata\":{\"f:labels\":{\".\":{},\"f:size\":{}}},\"f:spec\":{}}",
        ]
    );
    let refused = api
        .apply(&a(), "one", &configuration(json!({"size": 1})))
        .await;
    let message =
        "Apply failed with 1 conflict: conflict with \"synod.v1\" using example.io/v1: .spec.size";
    assert_eq!(refused.body["message"], message);
    // What is read and written back changes nothing.
    let same = api.put(&a(), &shown.body).await;
    assert_eq!(same.body, shown.body);
}

#[tokio::test]
async fn without_the_annotation_nobody_has_managed_the_object_before() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    api.post(WIDGETS, &widget("a", 1)).await;
    let mut bare = resized(&replicas, 2).await;
    bare.attributes = Some(v1::ObjectAttributes::default());
    let mut objects = ObjectsClient::new(replicas.channel().await);
    objects.update(bare).await.unwrap();
    let shown = api.get(&a()).await;
    assert_eq!(managed(&shown), [""; 0]);
    let patch = json!({"spec": {"more": 1}});
    assert_eq!(managed(&api.patch(&a(), "merge", &patch).await), [""; 0]);
    let applied = api
        .apply(&a(), "one", &configuration(json!({"size": 2})))
        .await;
    assert_eq!(
        managed(&applied),
        [
            "Apply one {\"f:spec\":{\".\":{},\"f:size\":{}}}",
            "Update before-first-apply {\"f:spec\":{\".\":{},\"f:more\":{},\"f:size\":{}}}",
        ]
    );
}

#[tokio::test]
async fn clients_may_move_managers_and_not_forge_the_annotation() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let created = api.post(WIDGETS, &widget("a", 1)).await;
    // As kubectl does it, when it goes over to server-side apply.
    let mut entries = created.body["metadata"]["managedFields"].clone();
    entries[0]["manager"] = json!("kubectl");
    entries[0]["operation"] = json!("Apply");
    let operations = json!([
        {"op": "replace", "path": "/metadata/managedFields", "value": entries},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": created.body["metadata"]["resourceVersion"]},
    ]);
    let moved = api.patch(&a(), "json", &operations).await;
    assert_eq!(
        moved.body["metadata"]["managedFields"], entries,
        "{moved:?}"
    );
    assert_eq!(api.patch(&a(), "json", &operations).await.code, 409);
    let gone = api
        .apply(&a(), "kubectl", &configuration(json!({"size": 1})))
        .await;
    assert_eq!(gone.body["metadata"]["labels"], Value::Null, "{gone:?}");

    let taken = json!({"metadata": {"managedFields": [{}]}});
    assert_eq!(managed(&api.patch(&a(), "merge", &taken).await), [""; 0]);
    let forged = json!({"metadata": {"annotations": {MANAGED: "{}"}}});
    let refused = api.patch(&a(), "merge", &forged).await;
    assert_eq!(refused.code, 422, "{refused:?}");
    let mut forged = widget("b", 1);
    forged["metadata"]["annotations"] = json!({MANAGED: "{}"});
    assert_eq!(api.post(WIDGETS, &forged).await.code, 422);
}

// Guarantee: K-05
#[tokio::test]
async fn who_applies_at_once_all_come_through() {
    let replicas = Replicas::with_widgets().await;
    let api = std::sync::Arc::new(Api::of(&replicas));
    let mut applying = tokio::task::JoinSet::new();
    for number in 0..4 {
        let api = std::sync::Arc::clone(&api);
        applying.spawn(async move {
            let said = configuration(json!({format!("f{number}"): 1}));
            api.apply(&a(), &format!("m{number}"), &said).await.code
        });
    }
    let mut codes = applying.join_all().await;
    codes.sort_unstable();
    assert_eq!(codes, [200, 200, 200, 201]);
    let read = api.get(&a()).await;
    assert_eq!(
        read.body["spec"],
        json!({"f0": 1, "f1": 1, "f2": 1, "f3": 1})
    );
    assert_eq!(managed(&read).len(), 4);
}

#[tokio::test]
async fn a_configuration_of_what_is_there_need_not_say_its_name() {
    let replicas = Replicas::with_status().await;
    let api = Api::of(&replicas);
    let mut nameless = configuration(json!({"size": 2}));
    nameless["metadata"] = Value::Null;
    let refused = api.apply(&a(), "one", &nameless).await;
    assert_eq!(
        (refused.code, &refused.body["message"]),
        (
            400,
            &json!("the name of the object () does not match the name on the URL (a)")
        )
    );
    let named = configuration(json!({"size": 1}));
    assert_eq!(api.apply(&a(), "one", &named).await.code, 201);
    let applied = api.apply(&a(), "one", &nameless).await;
    assert_eq!(applied.code, 200, "{applied:?}");
    assert_eq!(
        (
            &applied.body["metadata"]["name"],
            &applied.body["spec"]["size"]
        ),
        (&json!("a"), &json!(2))
    );
    // Controllers of kube-rs apply a status so.
    let status = json!({"apiVersion": "example.io/v1", "kind": "Widget", "status": {"seen": 2}});
    let applied = api.apply(&format!("{}/status", a()), "two", &status).await;
    assert_eq!(applied.body["status"]["seen"], 2, "{applied:?}");
    nameless["metadata"] = json!({"name": "b"});
    assert_eq!(api.apply(&a(), "one", &nameless).await.code, 400);
}
