//! Requests that are in order, of every kind: what all others are made of.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::super::http::{Answer, Connection, Nature};
use super::wire;

/// The form of protobuf of Kubernetes.
pub(super) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// Where objects of a kind are.
pub(super) struct Place {
    /// The path of the collection.
    pub(super) path: &'static str,
    /// The path without its namespace.
    pub(super) everywhere: &'static str,
    /// The names that are in use.
    pub(super) names: &'static [&'static str],
    /// The subresource, if there is one.
    pub(super) has_status: bool,
    /// An object.
    pub(super) document: Value,
    /// The same in protobuf, as it is to be created and as it was read.
    pub(super) messages: Vec<Vec<u8>>,
}

/// All of them.
pub(super) struct Corpus {
    pub(super) places: Vec<Place>,
    /// What is asked of no objects.
    pub(super) others: Vec<Other>,
}

/// What is asked of no objects.
pub(super) struct Other {
    pub(super) path: &'static str,
    /// What is sent there; null if it is only read.
    pub(super) document: Value,
    /// The same in protobuf, if it has a message.
    pub(super) message: Option<Vec<u8>>,
}

/// An object of the collection of widgets.
fn widget() -> Value {
    json!({
        "apiVersion": "example.io/v1",
        "kind": "Widget",
        "metadata": {
            "name": "a",
            "labels": { "size": "1", "app.kubernetes.io/name": "a" },
            "annotations": { "note": "text" },
            "finalizers": ["example.io/a", "example.io/b"],
            "ownerReferences": [{
                "apiVersion": "example.io/v1", "kind": "Gadget", "name": "a",
                "uid": "00000000-0000-8000-8000-000000000001", "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": { "size": 1, "list": [1, "two", { "three": 3.5 }], "map": { "a": { "b": null } } },
        "status": { "conditions": [{ "type": "Ready", "status": "True" }], "seen": 1 },
    })
}

fn gadget() -> Value {
    json!({
        "apiVersion": "example.io/v1",
        "kind": "Gadget",
        "metadata": { "name": "a", "generateName": "a-" },
        "spec": { "size": 1 },
    })
}

fn lease() -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": { "name": "a", "namespace": "n" },
        "spec": {
            "holderIdentity": "x", "leaseDurationSeconds": 3600, "leaseTransitions": 1,
            "acquireTime": "2026-11-26T00:00:00.000000Z", "renewTime": "2026-11-26T00:00:00.000000Z",
        },
    })
}

fn identity() -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": "a", "labels": { "apiserver.kubernetes.io/identity": "kube-apiserver", "kubernetes.io/hostname": "h" },
        },
        "spec": { "holderIdentity": "a_1", "leaseDurationSeconds": 3600 },
    })
}

fn candidate() -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1beta1",
        "kind": "LeaseCandidate",
        "metadata": { "name": "a" },
        "spec": {
            "leaseName": "scheduler", "binaryVersion": "1.33.0", "emulationVersion": "1.33.0",
            "strategy": "OldestEmulationVersion",
        },
    })
}

fn snapshot() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": "a",
            "labels": { "app": "web", "controller.kubernetes.io/hash": "789b" },
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web",
                "uid": "00000000-0000-8000-8000-000000000002", "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "data": { "spec": { "template": { "command": "a" } } },
        "revision": 1,
    })
}

fn storage_version() -> Value {
    json!({
        "apiVersion": "internal.apiserver.k8s.io/v1alpha1",
        "kind": "StorageVersion",
        "metadata": { "name": "apps.deployments" },
        "spec": {},
        "status": {
            "commonEncodingVersion": "apps/v1",
            "storageVersions": [{
                "apiServerID": "a", "encodingVersion": "apps/v1",
                "decodableVersions": ["apps/v1", "apps/v1beta1"], "servedVersions": ["apps/v1"],
            }],
        },
    })
}

fn migration() -> Value {
    json!({
        "apiVersion": "storagemigration.k8s.io/v1beta1",
        "kind": "StorageVersionMigration",
        "metadata": { "generateName": "deployments.apps-" },
        "spec": { "resource": { "group": "apps", "resource": "deployments" } },
    })
}

fn review(kind: &str, spec: &Value) -> Value {
    json!({ "apiVersion": "authorization.k8s.io/v1", "kind": kind, "metadata": {}, "spec": spec })
}

/// The names of most objects.
const FEW: &[&str] = &["a", "b", "c", "d", "e", "f"];

/// Where objects of a kind are, where those of all namespaces are, the names that they have, whether they have a status, and one of
/// them.
type Row = (
    &'static str,
    &'static str,
    &'static [&'static str],
    bool,
    fn() -> Value,
);

/// The places of all kinds, in an order in which one of each can be stored: a widget needs its owner, and a migration what was
/// reported.
const PLACES: [Row; 13] = [
    (
        "/apis/example.io/v1/gadgets",
        "/apis/example.io/v1/gadgets",
        FEW,
        false,
        gadget,
    ),
    (
        "/apis/example.io/v1/namespaces/n/widgets",
        "/apis/example.io/v1/widgets",
        FEW,
        true,
        widget,
    ),
    (
        "/apis/coordination.k8s.io/v1/namespaces/n/leases",
        "/apis/coordination.k8s.io/v1/leases",
        FEW,
        false,
        lease,
    ),
    (
        "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
        "/apis/coordination.k8s.io/v1/leases",
        FEW,
        false,
        identity,
    ),
    (
        "/apis/coordination.k8s.io/v1beta1/namespaces/n/leasecandidates",
        "/apis/coordination.k8s.io/v1beta1/leasecandidates",
        FEW,
        false,
        candidate,
    ),
    (
        "/apis/apps/v1/namespaces/n/controllerrevisions",
        "/apis/apps/v1/controllerrevisions",
        FEW,
        false,
        snapshot,
    ),
    (
        "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions",
        "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions",
        &["apps.deployments", "core.pods", "example.io.widgets"],
        true,
        storage_version,
    ),
    (
        "/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations",
        "/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations",
        &["deployments.apps-1", "mine", "yours"],
        true,
        migration,
    ),
    (
        "/apis/migration.k8s.io/v1alpha1/storagestates",
        "/apis/migration.k8s.io/v1alpha1/storagestates",
        &["deployments.apps"],
        false,
        nothing,
    ),
    (
        "/api/v1/namespaces/default/events",
        "/api/v1/events",
        &["apps.deployments.1"],
        false,
        nothing,
    ),
    (
        "/apis/synod.io/v1/members",
        "/apis/synod.io/v1/members",
        FEW,
        false,
        nothing,
    ),
    (
        "/apis/synod.io/v1/agreements",
        "/apis/synod.io/v1/agreements",
        &["deployments.apps"],
        false,
        nothing,
    ),
    (
        "/apis/synod.io/v1/settings",
        "/apis/synod.io/v1/settings",
        &["synod"],
        false,
        nothing,
    ),
];

/// What is only read has none.
fn nothing() -> Value {
    json!({})
}

fn places() -> Vec<Place> {
    let place = |(path, everywhere, names, has_status, document): Row| Place {
        path,
        everywhere,
        names,
        has_status,
        document: document(),
        messages: Vec::new(),
    };
    PLACES.into_iter().map(place).collect()
}

/// What is asked of no objects.
fn others() -> Vec<Other> {
    let other = |path, document| Other {
        path,
        document,
        message: None,
    };
    let read = [
        "/",
        "/api",
        "/api/v1",
        "/api/v1/namespaces",
        "/api/v1/namespaces/n",
        "/apis",
        "/apis/example.io",
        "/apis/example.io/v1",
        "/apis/coordination.k8s.io/v1",
        "/healthz",
        "/livez",
        "/openapi/v2",
        "/openapi/v3",
        "/openapi/v3/api/v1",
        "/openapi/v3/apis/example.io/v1",
        "/openapi/v3/apis/coordination.k8s.io/v1",
        "/version",
    ];
    let asked = json!({ "resourceAttributes": {
        "verb": "get", "group": "example.io", "resource": "widgets", "namespace": "n", "name": "a", "subresource": "status",
    }});
    let mut others: Vec<Other> = read
        .into_iter()
        .map(|path| other(path, Value::Null))
        .collect();
    others.extend([
        other(
            "/apis/authentication.k8s.io/v1/selfsubjectreviews",
            review("SelfSubjectReview", &json!({})),
        ),
        other(
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            review("SelfSubjectAccessReview", &asked),
        ),
        other(
            "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
            review("SelfSubjectRulesReview", &json!({ "namespace": "n" })),
        ),
    ]);
    others
}

impl Corpus {
    /// Stores one object of each kind that takes one, each of which must be taken, and reads it as a message where it has one.
    pub(super) async fn stored_at(at: SocketAddr) -> Self {
        let mut connection = Connection::to(at);
        let mut owner = Value::Null;
        let mut corpus = Self {
            places: places(),
            others: others(),
        };
        for place in &mut corpus.places {
            if place.document["kind"].is_null() {
                continue;
            }
            let path = place.path;
            let kind = place.document["kind"].clone();
            if kind == "Widget" {
                place.document["metadata"]["ownerReferences"][0]["uid"] = owner.clone();
            }
            let made = sent(&mut connection, "POST", path, "*/*", &place.document).await;
            let told = String::from_utf8_lossy(&made.body);
            assert_eq!(made.code, 201, "{path}: {told}");
            let made: Value = serde_json::from_slice(&made.body).expect("it is JSON");
            if kind == "Gadget" {
                owner = made["metadata"]["uid"].clone();
            }
            let name = made["metadata"]["name"].as_str().expect("it has a name");
            let path = format!("{path}/{name}");
            if kind == "StorageVersion" {
                reported(&mut connection, &path, place.document.clone(), &made).await;
            }
            let message = sent(&mut connection, "GET", &path, PROTOBUF, &Value::Null).await;
            if message.code == 200 {
                place.messages.push(wire::without_revision(&message.body));
                place.messages.push(message.body);
            }
        }
        for other in &mut corpus.others {
            if !other.document.is_null() {
                let path = other.path;
                let made = sent(&mut connection, "POST", path, PROTOBUF, &other.document).await;
                assert_eq!(made.code, 201, "{path}");
                other.message = Some(made.body);
            }
        }
        let messages = corpus
            .places
            .iter()
            .filter(|place| !place.messages.is_empty());
        assert_eq!(
            messages.count(),
            6,
            "not every kind of Kubernetes has its message"
        );
        corpus
    }
}

/// Writes the status of a StorageVersion that nobody has reported.
async fn reported(connection: &mut Connection, path: &str, mut document: Value, made: &Value) {
    document["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"].clone();
    let path = format!("{path}/status");
    let put = sent(connection, "PUT", &path, "*/*", &document).await;
    let told = String::from_utf8_lossy(&put.body);
    assert_eq!(put.code, 200, "{path}: {told}");
}

async fn sent(
    connection: &mut Connection,
    method: &str,
    path: &str,
    accept: &str,
    document: &Value,
) -> Answer {
    let body = match document {
        Value::Null => String::new(),
        document => document.to_string(),
    };
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: synod\r\naccept: {accept}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    );
    let answer = connection.ask(request.as_bytes(), Nature::default()).await;
    answer.unwrap_or_else(|error| panic!("{path}: {error}"))
}
