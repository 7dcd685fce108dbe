//! Every verb and kind with the status and the reason of its answer: a table that is written anew with `UPDATE_GOLDEN=1`.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::api::{Answer, Api, widget};
use crate::replicas::Replicas;

/// The places that are asked, with a document to write there.
const PLACES: [&str; 16] = [
    "/apis/example.io/v1/namespaces/n/widgets",
    "/apis/example.io/v1/namespaces/n/widgets/a",
    "/apis/example.io/v1/namespaces/n/widgets/nothing",
    "/apis/example.io/v1/namespaces/n/widgets/a/status",
    "/apis/coordination.k8s.io/v1/namespaces/n/leases",
    "/apis/coordination.k8s.io/v1/namespaces/n/leases/a",
    "/apis/coordination.k8s.io/v1/namespaces/n/leases/nothing",
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/a",
    "/apis/apps/v1/namespaces/n/controllerrevisions/nothing",
    "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions/apps.deployments",
    "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions/apps.deployments/status",
    "/api/v1/namespaces/default/events/nothing",
    "/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations/nothing",
    "/apis/synod.io/v1/settings/synod",
    "/apis/example.io/v1/gadgets/a",
];

/// What is asked without a place of objects, or at one that does not exist.
const OTHERS: [&str; 26] = [
    "/api",
    "/apis",
    "/apis/example.io",
    "/apis/nobody.io",
    "/apis/example.io/v1",
    "/apis/apps/v1/namespaces/n/controllerrevisions",
    "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions",
    "/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations",
    "/apis/synod.io/v1/members",
    "/apis/synod.io/v1/agreements",
    "/apis/synod.io/v1/settings",
    "/apis/example.io/v1/namespaces/n/widgets/a/scale",
    "/apis/migration.k8s.io/v1alpha1/storagestates",
    "/apis/coordination.k8s.io/v1beta1/namespaces/n/leasecandidates",
    "/api/v1",
    "/api/v1/events",
    "/api/v1/namespaces",
    "/api/v1/namespaces/n",
    "/healthz",
    "/readyz",
    "/readyz/leader",
    "/readyz/nothing",
    "/metrics",
    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
];

fn document(path: &str) -> Value {
    let name = if path.ends_with("nothing") {
        "nothing"
    } else {
        "a"
    };
    if path.contains("/storageversions") {
        return json!({
            "apiVersion": "internal.apiserver.k8s.io/v1alpha1",
            "kind": "StorageVersion",
            "metadata": { "name": "apps.deployments" },
        });
    }
    if path.contains("/leases") {
        let labels = match path.contains("kube-system") {
            true => json!({ "apiserver.kubernetes.io/identity": "kube-apiserver" }),
            false => json!({}),
        };
        return json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": { "name": name, "labels": labels },
            "spec": { "holderIdentity": "x", "leaseDurationSeconds": 3600 },
        });
    }
    widget(name, 1)
}

fn row(table: &mut String, method: &str, path: &str, answer: &Answer) {
    let reason = answer.body["reason"].as_str().unwrap_or("-");
    writeln!(table, "{method:<6} {path:<75} {} {reason}", answer.code).unwrap();
}

// Guarantee: K-09
#[tokio::test]
async fn every_verb_of_every_kind_answers_as_the_table_says() {
    let replicas = Replicas::with_status().await;
    let api = Api::of(&replicas);
    let mut table = String::new();
    for path in PLACES {
        let document = document(path);
        row(&mut table, "GET", path, &api.get(path).await);
        row(&mut table, "POST", path, &api.post(path, &document).await);
        row(&mut table, "PUT", path, &api.put(path, &document).await);
        let patch = json!({"metadata": {"labels": {"x": "y"}}});
        row(
            &mut table,
            "PATCH",
            path,
            &api.patch(path, "merge", &patch).await,
        );
        let text = api
            .send(
                "POST",
                path,
                &[("content-type", "application/vnd.kubernetes.protobuf")],
                b"k8s",
            )
            .await;
        row(&mut table, "POST*", path, &text);
        let is_needed = ["/a", "/widgets", "/leases"];
        if !is_needed.iter().any(|end| path.ends_with(end)) {
            row(
                &mut table,
                "DELETE",
                path,
                &api.delete(path, &Value::Null).await,
            );
        }
    }
    let leases = "/apis/coordination.k8s.io/v1/namespaces";
    for path in [
        "/apis/example.io/v1/namespaces/n/widgets/a",
        "/apis/example.io/v1/namespaces/n/widgets",
        &format!("{leases}/n/leases/a"),
        &format!("{leases}/n/leases"),
        &format!("{leases}/kube-system/leases/a"),
        &format!("{leases}/kube-system/leases"),
    ] {
        let deleted = api.delete(path, &Value::Null).await;
        row(&mut table, "DELETE", path, &deleted);
    }
    for path in OTHERS {
        row(&mut table, "GET", path, &api.get(path).await);
        row(&mut table, "POST", path, &api.post(path, &json!({})).await);
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kube/verbs.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &table).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap();
    assert_eq!(
        table,
        expected,
        "UPDATE_GOLDEN=1 writes {} anew",
        file.display()
    );
}

#[tokio::test]
async fn a_body_too_large_and_one_that_is_no_document_are_refused() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let path = "/apis/example.io/v1/namespaces/n/widgets";
    let mut large = widget("large", 1);
    large["spec"]["text"] = json!("x".repeat(2 << 20));
    let refused = api.post(path, &large).await;
    assert_eq!(
        (refused.code, &refused.body["reason"]),
        (413, &json!("RequestEntityTooLarge")),
        "{refused:?}"
    );
    large["spec"]["text"] = json!("x".repeat(4 << 20));
    assert_eq!(api.post(path, &large).await.code, 413);
    for body in ["", "{", "[]", "1", "{\"metadata\": 1}", "null", "\u{0}"] {
        let refused = api.send("POST", path, &[], body.as_bytes()).await;
        assert_eq!(refused.code, 400, "{body}: {refused:?}");
        let refused = api
            .send("PUT", &format!("{path}/a"), &[], body.as_bytes())
            .await;
        assert_eq!(refused.code, 400, "{body}: {refused:?}");
    }
    for (form, body) in [
        ("json", json!({})),
        ("json", json!([{"op": "x"}])),
        ("json", json!([1])),
    ] {
        let refused = api.patch(&format!("{path}/a"), form, &body).await;
        assert_eq!(refused.code, 400, "{body}: {refused:?}");
    }
}

#[tokio::test]
async fn a_replica_without_a_quorum_says_when_to_try_again() {
    let mut replicas = Replicas::start(3, |_, _| {}).await;
    replicas.declare("widgets", "Widget", true).await;
    let api = Api::of(&replicas);
    let path = "/apis/example.io/v1/namespaces/n/widgets";
    let body = json!({"apiVersion": "example.io/v1", "kind": "Widget", "metadata": {"name": "a"}});
    let made = api.post(path, &body).await;
    assert_eq!(made.code, 201, "{made:?}");
    while replicas.running.len() > 1 {
        replicas.running.pop().unwrap().shutdown().await;
    }
    let refused = api.get(path).await;
    assert_eq!(
        (refused.code, &refused.body["reason"]),
        (503, &json!("ServiceUnavailable")),
        "{refused:?}"
    );
    assert!(
        refused.headers.contains("retry-after: 1"),
        "{}",
        refused.headers
    );
    assert_eq!(refused.body["details"]["retryAfterSeconds"], 1);
    // Who asks for what was needs no leader.
    let exact = made.body["metadata"]["resourceVersion"].as_str().unwrap();
    let listed = api
        .get(&format!(
            "{path}?resourceVersion={exact}&resourceVersionMatch=Exact"
        ))
        .await;
    assert_eq!(listed.code, 200, "{listed:?}");
    assert_eq!(listed.body["items"].as_array().map(Vec::len), Some(1));
}
