//! Objects of collections.

use serde_json::{Value, json};
use synod_proto::v1;
use synod_proto::v1::collections_client::CollectionsClient;

use crate::api::{Api, WIDGETS, widget};
use crate::replicas::Replicas;

// Guarantee: K-04
#[tokio::test]
async fn an_object_is_created_read_replaced_and_deleted() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let created = api.post(WIDGETS, &widget("a", 1)).await;
    assert_eq!(created.code, 201, "{created:?}");
    assert_eq!(created.body["metadata"]["namespace"], "n");
    assert_eq!(created.body["metadata"]["generation"], 1);
    let read = api.get(&format!("{WIDGETS}/a")).await;
    assert_eq!(read.body, created.body);

    let mut wanted = read.body.clone();
    wanted["spec"]["size"] = json!(2);
    let replaced = api.put(&format!("{WIDGETS}/a"), &wanted).await;
    assert_eq!(replaced.code, 200, "{replaced:?}");
    assert_eq!(replaced.body["metadata"]["generation"], 2);
    // The revision in the document is what it was read at.
    let stale = api.put(&format!("{WIDGETS}/a"), &wanted).await;
    assert_eq!(
        (stale.code, &stale.body["reason"]),
        (409, &json!("Conflict"))
    );
    assert_eq!(
        stale.body["message"],
        "Operation cannot be fulfilled on widgets.example.io \"a\": the object has been modified; please apply your \
         changes to the latest version and try again"
    );
    // What changes nothing is no write.
    let same = api.put(&format!("{WIDGETS}/a"), &replaced.body).await;
    assert_eq!(
        same.body["metadata"]["resourceVersion"],
        replaced.body["metadata"]["resourceVersion"]
    );

    let wrong = json!({ "preconditions": { "uid": "00000000-0000-8000-8000-000000000000" } });
    let refused = api.delete(&format!("{WIDGETS}/a"), &wrong).await;
    assert_eq!(refused.code, 409, "{refused:?}");
    let message = refused.body["message"].as_str().unwrap();
    assert!(
        message.contains("Precondition failed: UID in precondition: 00000000"),
        "{message}"
    );
    let wrong = json!({ "preconditions": { "uid": "x" } });
    let refused = api.delete(&format!("{WIDGETS}/a"), &wrong).await;
    assert_eq!(refused.code, 409, "{refused:?}");
    let message = refused.body["message"].as_str().unwrap();
    assert!(
        message.contains("UID in precondition: x, UID in object meta: "),
        "{message}"
    );
    let deleted = api.delete(&format!("{WIDGETS}/a"), &Value::Null).await;
    assert_eq!(
        (deleted.code, &deleted.body["status"]),
        (200, &json!("Success"))
    );
    assert_eq!(
        deleted.body["details"]["uid"],
        created.body["metadata"]["uid"]
    );
    let gone = api.get(&format!("{WIDGETS}/a")).await;
    assert_eq!(
        (gone.code, &gone.body["message"]),
        (404, &json!("widgets.example.io \"a\" not found")),
        "{gone:?}"
    );
}

#[tokio::test]
async fn patches_of_each_form_change_what_they_name() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    api.post(WIDGETS, &widget("a", 1)).await;
    let path = format!("{WIDGETS}/a");
    let merged = api
        .patch(&path, "merge", &json!({"spec": {"size": 2, "more": [1]}}))
        .await;
    assert_eq!(
        merged.body["spec"],
        json!({"size": 2, "more": [1]}),
        "{merged:?}"
    );
    let operations = json!([
        {"op": "test", "path": "/spec/size", "value": 2},
        {"op": "replace", "path": "/spec/size", "value": 3},
        {"op": "add", "path": "/metadata/labels/x", "value": "y"},
    ]);
    let patched = api.patch(&path, "json", &operations).await;
    assert_eq!(patched.body["spec"]["size"], 3, "{patched:?}");
    assert_eq!(patched.body["metadata"]["labels"]["x"], "y");
    // The same test fails now.
    let refused = api.patch(&path, "json", &operations).await;
    assert_eq!(
        (refused.code, &refused.body["reason"]),
        (422, &json!("Invalid"))
    );
    let labelled = json!({"metadata": {"labels": {"x": null}}});
    let patched = api.patch(&path, "strategic-merge", &labelled).await;
    assert_eq!(patched.body["metadata"]["labels"]["x"], Value::Null);
    let stale = json!({"metadata": {"resourceVersion": "1", "labels": {"z": "1"}}});
    assert_eq!(api.patch(&path, "merge", &stale).await.code, 409);
    let apply = api
        .send(
            "PATCH",
            &path,
            &[("content-type", "application/sing-patch+json")],
            b"{}",
        )
        .await;
    assert_eq!(
        (apply.code, &apply.body["reason"]),
        (415, &json!("UnsupportedMediaType"))
    );
}

#[tokio::test]
async fn an_object_with_a_finalizer_stays_until_that_is_taken_away() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    api.post(WIDGETS, &widget("a", 1)).await;
    let path = format!("{WIDGETS}/a");
    let finalizers = json!({"metadata": {"finalizers": ["example.io/wait"]}});
    let patched = api.patch(&path, "strategic-merge", &finalizers).await;
    assert_eq!(
        patched.body["metadata"]["finalizers"],
        json!(["example.io/wait"]),
        "{patched:?}"
    );
    let deleting = api
        .delete(&path, &json!({"propagationPolicy": "Background"}))
        .await;
    assert_eq!(deleting.code, 200);
    assert!(
        deleting.body["metadata"]["deletionTimestamp"].is_string(),
        "{deleting:?}"
    );
    let last = api
        .patch(&path, "merge", &json!({"metadata": {"finalizers": null}}))
        .await;
    assert_eq!(last.code, 200, "{last:?}");
    // It is told as it was sent, or a client would take the finalizer for one that is still there.
    assert_eq!(last.body["metadata"]["finalizers"], Value::Null, "{last:?}");
    assert_eq!(
        last.body["metadata"]["uid"],
        deleting.body["metadata"]["uid"]
    );
    assert_eq!(last.body["spec"], deleting.body["spec"]);
    assert_eq!(api.get(&path).await.code, 404);
}

// Guarantee: K-04
#[tokio::test]
async fn patches_without_a_revision_all_come_through_however_many_write_at_once() {
    let replicas = Replicas::with_widgets().await;
    let api = std::sync::Arc::new(Api::of(&replicas));
    api.post(WIDGETS, &widget("a", 1)).await;
    let mut writing = tokio::task::JoinSet::new();
    for number in 0..4 {
        let api = std::sync::Arc::clone(&api);
        writing.spawn(async move {
            let patch = json!({"metadata": {"labels": {format!("l{number}"): "x"}}});
            api.patch(&format!("{WIDGETS}/a"), "merge", &patch)
                .await
                .code
        });
    }
    assert_eq!(writing.join_all().await, [200; 4]);
    let read = api.get(&format!("{WIDGETS}/a")).await;
    assert_eq!(
        read.body["metadata"]["labels"].as_object().unwrap().len(),
        5
    );
}

// Guarantee: K-04
#[tokio::test]
async fn updates_without_a_revision_all_come_through_however_many_write_at_once() {
    let replicas = Replicas::with_widgets().await;
    let update = v1::CollectionsUpdateRequest {
        resource: Some(v1::GroupResource {
            group: "example.io".to_owned(),
            resource: "widgets".to_owned(),
        }),
        unconditional_update: Some(true),
        ..v1::CollectionsUpdateRequest::default()
    };
    let mut collections = CollectionsClient::new(replicas.channel().await);
    collections.update(update).await.unwrap();
    let api = std::sync::Arc::new(Api::of(&replicas));
    let made = api.post(WIDGETS, &widget("a", 0)).await;
    let mut writing = tokio::task::JoinSet::new();
    for number in 1..25 {
        let api = std::sync::Arc::clone(&api);
        writing.spawn(async move {
            api.put(&format!("{WIDGETS}/a"), &widget("a", number))
                .await
                .code
        });
    }
    assert_eq!(writing.join_all().await, [200; 24]);
    // What can never be is refused at once.
    let mut other = widget("a", 1);
    other["metadata"]["uid"] = json!("00000000-0000-8000-8000-000000000000");
    assert_eq!(api.put(&format!("{WIDGETS}/a"), &other).await.code, 409);
    let read = api.get(&format!("{WIDGETS}/a")).await;
    assert_eq!(read.body["metadata"]["uid"], made.body["metadata"]["uid"]);
}

// Guarantee: K-06
#[tokio::test]
async fn a_deletion_of_many_begins_where_it_is_told() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    for name in ["a", "b", "c"] {
        assert_eq!(api.post(WIDGETS, &widget(name, 1)).await.code, 201);
    }
    let page = api.get(&format!("{WIDGETS}?limit=1")).await;
    let text = |field: &str| page.body["metadata"][field].as_str().unwrap().to_owned();
    let (token, revision) = (text("continue"), text("resourceVersion"));
    assert_eq!(api.post(WIDGETS, &widget("d", 1)).await.code, 201);
    let path = format!("{WIDGETS}?resourceVersion=1&resourceVersionMatch=Never");
    assert_eq!(api.delete(&path, &Value::Null).await.code, 422);
    let path = format!("{WIDGETS}?continue=x");
    let refused = api.delete(&path, &Value::Null).await;
    assert_eq!(refused.code, api.get(&path).await.code, "{refused:?}");
    let names = async || -> Vec<String> {
        let list = api.get(WIDGETS).await;
        let items = list.body["items"].as_array().unwrap().iter();
        items
            .map(|item| item["metadata"]["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names().await, ["a", "b", "c", "d"]);
    let path = format!("{WIDGETS}?continue={token}&limit=1");
    assert_eq!(api.delete(&path, &Value::Null).await.code, 200);
    assert_eq!(names().await, ["a", "c", "d"]);
    // What was created later is not meant.
    let path = format!("{WIDGETS}?resourceVersion={revision}&resourceVersionMatch=Exact");
    assert_eq!(api.delete(&path, &Value::Null).await.code, 200);
    assert_eq!(names().await, ["d"]);
}

#[tokio::test]
async fn what_is_malformed_is_refused_in_the_words_of_kubernetes() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let mut other_version = widget("a", 1);
    other_version["apiVersion"] = json!("example.io/v2");
    let mut other_namespace = widget("a", 1);
    other_namespace["metadata"]["namespace"] = json!("m");
    let mut with_revision = widget("a", 1);
    with_revision["metadata"]["resourceVersion"] = json!("5");
    let mut nameless = widget("a", 1);
    nameless["metadata"] = json!({});
    let mut badly_named = widget("a", 1);
    badly_named["metadata"]["name"] = json!("Not A Name");
    let mut labelled = widget("a", 1);
    labelled["metadata"]["labels"] = json!({"x": 1});
    for (document, code, told) in [
        (
            other_version,
            400,
            "does not match the expected API version (example.io/v1)",
        ),
        (
            other_namespace,
            400,
            "the namespace of the provided object does not match",
        ),
        (
            with_revision,
            400,
            "resourceVersion should not be set on objects to be created",
        ),
        (
            nameless,
            422,
            "Required value: name or generateName is required",
        ),
        (
            badly_named,
            422,
            "Widget.example.io \"Not A Name\" is invalid: metadata.name",
        ),
        (labelled, 422, "metadata.labels[x]: must be a text"),
    ] {
        let refused = api.post(WIDGETS, &document).await;
        let message = refused.body["message"].as_str().unwrap_or_default();
        assert!(
            refused.code == code && message.contains(told),
            "{told}: {refused:?}"
        );
    }
    api.post(WIDGETS, &widget("a", 1)).await;
    let twice = api.post(WIDGETS, &widget("a", 1)).await;
    assert_eq!(
        twice.body["message"],
        "widgets.example.io \"a\" already exists"
    );
    let renamed = api.put(&format!("{WIDGETS}/b"), &widget("a", 1)).await;
    assert_eq!(
        renamed.body["message"],
        "the name of the object (a) does not match the name on the URL (b)"
    );
}

#[tokio::test]
async fn fields_that_would_be_lost_are_refused_told_or_ignored() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let mut document = widget("a", 1);
    document["metadata"]["bogus"] = json!(1);
    let strict = api
        .post(&format!("{WIDGETS}?fieldValidation=Strict"), &document)
        .await;
    assert_eq!(
        (strict.code, strict.body["message"].as_str().unwrap()),
        (
            400,
            "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown field \
             \"metadata.bogus\""
        )
    );
    let warned = api.post(WIDGETS, &document).await;
    assert!(
        warned
            .headers
            .contains("warning: 299 - \"unknown field \\\"metadata.bogus\\\"\""),
        "{warned:?}"
    );
    document["metadata"]["name"] = json!("b");
    let ignored = api
        .post(&format!("{WIDGETS}?fieldValidation=Ignore"), &document)
        .await;
    assert!(
        ignored.code == 201 && !ignored.headers.contains("warning"),
        "{ignored:?}"
    );
}

#[tokio::test]
async fn fields_that_a_patch_would_lose_are_refused_told_or_ignored() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    api.post(WIDGETS, &widget("a", 1)).await;
    let path = format!("{WIDGETS}/a");
    let bogus = json!({"metadata": {"bogus": 1, "labels": {"x": "y"}}});
    let operations = json!([
        {"op": "add", "path": "/metadata/bogus", "value": 1},
        {"op": "add", "path": "/metadata/labels/x", "value": "y"},
    ]);
    for (form, body) in [
        ("merge", &bogus),
        ("strategic-merge", &bogus),
        ("json", &operations),
    ] {
        let strict = format!("{path}?fieldValidation=Strict");
        let refused = api.patch(&strict, form, body).await;
        assert_eq!(
            (refused.code, refused.body["message"].as_str().unwrap()),
            (
                400,
                "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown field \
                 \"metadata.bogus\""
            ),
            "{form}"
        );
        let wrong = format!("{path}?fieldValidation=Bogus");
        let refused = api.patch(&wrong, form, body).await;
        assert_eq!(
            (refused.code, refused.body["message"].as_str().unwrap()),
            (
                422,
                "PatchOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \"Bogus\": supported \
                 values: \"Ignore\", \"Strict\", \"Warn\""
            )
        );
    }
    assert_eq!(
        api.get(&path).await.body["metadata"]["labels"]["x"],
        Value::Null
    );
    let ignored = api
        .patch(&format!("{path}?fieldValidation=Ignore"), "merge", &bogus)
        .await;
    assert!(
        ignored.code == 200 && !ignored.headers.contains("warning"),
        "{ignored:?}"
    );
    let warned = api.patch(&path, "merge", &bogus).await;
    assert!(
        warned
            .headers
            .contains("warning: 299 - \"unknown field \\\"metadata.bogus\\\"\""),
        "{warned:?}"
    );
    assert_eq!(warned.body["metadata"]["labels"]["x"], "y");
}

#[tokio::test]
async fn each_field_that_is_named_twice_is_told() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let twice = r#"{"apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "a", "bogus": 1},
        "spec": {"a": 1, "a": 2, "list": [{"b": 1, "b": 1}]}}"#;
    let strict = "?fieldValidation=Strict";
    let path = format!("{WIDGETS}{strict}");
    let refused = api.send("POST", &path, &[], twice.as_bytes()).await;
    let told = "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: duplicate field \"spec.a\", \
                duplicate field \"spec.list[0].b\", unknown field \"metadata.bogus\"";
    assert_eq!(
        (refused.code, refused.body["message"].as_str().unwrap()),
        (400, told)
    );
    let yaml =
        "apiVersion: example.io/v1\nkind: Widget\nmetadata: {name: a}\nspec:\n  a: 1\n  a: 2\n";
    let headers = [("content-type", "application/yaml")];
    let refused = api.send("POST", &path, &headers, yaml.as_bytes()).await;
    assert!(
        refused.code == 400 && refused.body["message"].to_string().contains("spec.a"),
        "{refused:?}"
    );
    assert_eq!(api.post(WIDGETS, &widget("a", 1)).await.code, 201);
    let headers = [("content-type", "application/merge-patch+json")];
    let patch = br#"{"spec": {"a": 1, "a": 2}}"#;
    let path = format!("{WIDGETS}/a");
    let refused = api
        .send("PATCH", &format!("{path}{strict}"), &headers, patch)
        .await;
    assert!(
        refused.code == 400
            && refused.body["message"]
                .to_string()
                .contains("duplicate field \\\"spec.a\\\""),
        "{refused:?}"
    );
    let warned = api.send("PATCH", &path, &headers, patch).await;
    assert_eq!((warned.code, &warned.body["spec"]["a"]), (200, &json!(2)));
    assert!(
        warned
            .headers
            .contains("warning: 299 - \"duplicate field \\\"spec.a\\\"\""),
        "{warned:?}"
    );
    // Nor does a patch lose digits.
    let inexact = br#"{"spec": {"a": 18446744073709551616}}"#;
    assert_eq!(api.send("PATCH", &path, &headers, inexact).await.code, 400);
}

#[tokio::test]
async fn options_that_are_no_options_are_invalid_as_kubernetes_says() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let fault = |answer: crate::api::Answer| {
        let message = answer.body["message"].as_str().unwrap_or_default();
        (answer.code, message.to_owned())
    };
    let invalid = |kind: &str, rule: &str| {
        let message = format!("{kind}.meta.k8s.io \"\" is invalid: {rule}");
        (422, message)
    };
    let dry = "dryRun: Unsupported value: \"Some\": supported values: \"All\"";
    let path = format!("{WIDGETS}?dryRun=Some");
    let refused = api.post(&path, &widget("a", 1)).await;
    assert_eq!(fault(refused), invalid("CreateOptions", dry));
    let path = format!("{WIDGETS}/a?dryRun=Some");
    let refused = api.delete(&path, &Value::Null).await;
    assert_eq!(fault(refused), invalid("DeleteOptions", dry));
    for (query, rule) in [
        (
            "resourceVersion=1&resourceVersionMatch=Never",
            "resourceVersionMatch: Unsupported value: \"Never\": supported values: \"Exact\", \"NotOlderThan\"",
        ),
        (
            "resourceVersionMatch=Exact",
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            "resourceVersionMatch=NotOlderThan&resourceVersion=0&sendInitialEvents=true",
            "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list",
        ),
        (
            "watch=true&sendInitialEvents=true",
            "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
    ] {
        let refused = api.get(&format!("{WIDGETS}?{query}")).await;
        assert_eq!(fault(refused), invalid("ListOptions", rule), "{query}");
    }
    let (code, message) = fault(api.get(&format!("{WIDGETS}?continue=x")).await);
    assert!(
        code == 400 && message.starts_with("continue key is not valid: "),
        "{code} {message}"
    );
}

#[tokio::test]
async fn a_dry_run_checks_everything_and_stores_nothing() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let tried = api
        .post(&format!("{WIDGETS}?dryRun=All"), &widget("a", 1))
        .await;
    assert_eq!(tried.code, 201, "{tried:?}");
    assert_eq!(api.get(&format!("{WIDGETS}/a")).await.code, 404);
    api.post(WIDGETS, &widget("a", 1)).await;
    let refused = api
        .post(&format!("{WIDGETS}?dryRun=All"), &widget("a", 1))
        .await;
    assert_eq!(refused.code, 409);
    let patch = json!({"spec": {"size": 9}});
    let tried = api
        .patch(&format!("{WIDGETS}/a?dryRun=All"), "merge", &patch)
        .await;
    assert_eq!(tried.body["spec"]["size"], 9, "{tried:?}");
    assert_eq!(
        api.delete(&format!("{WIDGETS}/a?dryRun=All"), &Value::Null)
            .await
            .code,
        200
    );
    assert_eq!(
        api.get(&format!("{WIDGETS}/a")).await.body["spec"]["size"],
        1
    );
}

#[tokio::test]
async fn a_name_is_made_up_from_its_beginning() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let mut document = widget("a", 1);
    document["metadata"] = json!({"generateName": "w-"});
    let created = api.post(WIDGETS, &document).await;
    let name = created.body["metadata"]["name"].as_str().unwrap();
    assert!(name.len() == 7 && name.starts_with("w-"), "{name}");
    assert_eq!(api.get(&format!("{WIDGETS}/{name}")).await.code, 200);
}

// Guarantee: K-03
#[tokio::test]
async fn a_deletion_whose_options_are_not_understood_deletes_nothing() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let path = format!("{WIDGETS}/a");
    api.post(WIDGETS, &widget("a", 1)).await;
    for (options, code) in [
        (json!([]), 400),
        (json!("All"), 400),
        (json!({"dryRun": "All"}), 400),
        (json!({"dryRun": ["All", "Some"]}), 422),
        (json!({"preconditions": {"uid": 1}}), 422),
        (json!({"orphanDependents": 1}), 400),
    ] {
        let refused = api.delete(&path, &options).await;
        assert_eq!(refused.code, code, "{options}: {refused:?}");
    }
    let dry = api.delete(&path, &json!({"dryRun": ["All", "All"]})).await;
    assert_eq!(dry.code, 200, "{dry:?}");
    let twice = format!("{path}?dryRun=All&dryRun=None");
    assert_eq!(api.delete(&twice, &Value::Null).await.code, 422);
    assert_eq!(api.get(&path).await.code, 200);
}

#[tokio::test]
async fn patches_that_would_break_a_replica_are_refused() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let path = format!("{WIDGETS}/a");
    api.post(WIDGETS, &widget("a", 1)).await;
    let moved = json!([
        {"op": "add", "path": "/x", "value": 1},
        {"op": "move", "from": "/x", "path": "/nope/q"},
    ]);
    assert_eq!(api.patch(&path, "json", &moved).await.code, 422);
    let mut copied = vec![json!({"op": "add", "path": "/x", "value": ["x"]})];
    copied.resize(41, json!({"op": "copy", "from": "/x", "path": "/x/-"}));
    assert_eq!(api.patch(&path, "json", &json!(copied)).await.code, 413);
    let there = api.get(&path).await.body;
    assert_eq!(there["x"], Value::Null, "{there}");
}

// Guarantee: K-03
#[tokio::test]
async fn nobody_asks_in_the_name_of_others() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    for header in ["Impersonate-User", "Impersonate-Group", "X-Remote-User"] {
        let refused = api.send("GET", WIDGETS, &[(header, "x")], b"").await;
        assert_eq!(
            (refused.code, &refused.body["reason"]),
            (403, &json!("Forbidden")),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn a_number_that_would_lose_digits_is_refused() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let document = widget("a", 1).to_string();
    let large = document.replace(
        "\"spec\":{\"size\":1}",
        "\"spec\":{\"size\":18446744073709551616}",
    );
    assert_ne!(large, document);
    let refused = api.send("POST", WIDGETS, &[], large.as_bytes()).await;
    assert_eq!(refused.code, 400, "{refused:?}");
}

// Guarantee: K-06
#[tokio::test]
async fn all_objects_that_are_selected_are_deleted_and_no_others() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    for number in 0..40 {
        let made = api
            .post(WIDGETS, &widget(&format!("w{number:02}"), number % 2))
            .await;
        assert_eq!(made.code, 201, "{made:?}");
    }
    let elsewhere = "/apis/example.io/v1/namespaces/other/widgets";
    let mut other = widget("other", 1);
    other["metadata"]["finalizers"] = json!(["example.io/wait"]);
    assert_eq!(api.post(elsewhere, &other).await.code, 201);
    let count = async |path: &str| api.get(path).await.body["items"].as_array().unwrap().len();

    let odd = format!("{WIDGETS}?labelSelector=size%3D1");
    let dry = api.delete(&format!("{odd}&dryRun=All"), &Value::Null).await;
    assert_eq!(dry.code, 200, "{dry:?}");
    assert_eq!(count(WIDGETS).await, 40);
    let wrong = json!({"preconditions": {"uid": "00000000-0000-8000-8000-000000000000"}});
    assert_eq!(api.delete(&odd, &wrong).await.code, 409);
    assert_eq!(count(WIDGETS).await, 40);
    let some = api.delete(&format!("{odd}&limit=3"), &Value::Null).await;
    assert_eq!(some.code, 200, "{some:?}");
    assert_eq!(count(WIDGETS).await, 37);

    let deleted = api.delete(&odd, &Value::Null).await;
    assert_eq!(
        (
            deleted.code,
            &deleted.body["status"],
            &deleted.body["details"]["kind"]
        ),
        (200, &json!("Success"), &json!("widgets"))
    );
    assert_eq!((count(WIDGETS).await, count(&odd).await), (20, 0));
    let named = format!("{WIDGETS}?fieldSelector=metadata.name%3Dw00");
    assert_eq!(api.delete(&named, &Value::Null).await.code, 200);
    assert_eq!(api.get(&format!("{WIDGETS}/w00")).await.code, 404);
    assert_eq!(api.delete(WIDGETS, &Value::Null).await.code, 200);
    assert_eq!((count(WIDGETS).await, count(elsewhere).await), (0, 1));
    // What has a finalizer waits for it, and all namespaces at once are never meant.
    assert_eq!(api.delete(elsewhere, &Value::Null).await.code, 200);
    let waiting = api.get(&format!("{elsewhere}/other")).await;
    assert!(
        waiting.body["metadata"]["deletionTimestamp"].is_string(),
        "{waiting:?}"
    );
    let everywhere = api
        .delete("/apis/example.io/v1/widgets", &Value::Null)
        .await;
    assert_eq!(everywhere.code, 405, "{everywhere:?}");
}

#[tokio::test]
async fn a_controller_adds_its_finalizer_where_there_is_none() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    api.post(WIDGETS, &widget("a", 1)).await;
    let path = format!("{WIDGETS}/a");
    // As kube-rs does it: to the tests of Kubernetes' patches, what is missing is null.
    let first = json!([
        {"op": "test", "path": "/metadata/finalizers", "value": null},
        {"op": "add", "path": "/metadata/finalizers", "value": ["example.io/wait"]},
    ]);
    let added = api.patch(&path, "json", &first).await;
    assert_eq!(
        added.body["metadata"]["finalizers"],
        json!(["example.io/wait"]),
        "{added:?}"
    );
    assert_eq!(api.patch(&path, "json", &first).await.code, 422);
}
