//! Test vectors of Kubernetes: the rows that it prints, and the resources that its migrator picks.

use serde_json::{Value, json};
use synod_client::{ApiVersion, GroupResource};

use super::suite;
use crate::commands::observe::documents::{passed_on, resources};
use crate::views;

/// The Kubernetes API is asked for the rows of all kinds; the command line prints storage versions in the same columns.
#[test]
fn storage_versions_are_printed_as_kubectl_prints_them() {
    let document = suite::document("printer_rows.json");
    let of = &document["storageversions"];
    for case in of["cases"].as_array().unwrap() {
        assert_eq!(json!(row(case)), case["cells"], "{case}");
    }
    assert_eq!(json!(views::STORAGE_VERSION_COLUMNS), of["columns"]);
}

/// The cells of a case except the age, which the cases do not give.
fn row(case: &Value) -> [String; 3] {
    let entries = case["storageVersions"].as_array().unwrap().iter();
    let encodings: Vec<(String, Option<ApiVersion>)> = entries
        .map(|pair| {
            let [member, version] = [&pair[0], &pair[1]].map(|part| part.as_str().unwrap());
            (member.to_owned(), Some(ApiVersion::parse(version).unwrap()))
        })
        .collect();
    let name = GroupResource::parse_storage_version_name(case["name"].as_str().unwrap()).unwrap();
    let common = case["common"]
        .as_str()
        .map(|version| ApiVersion::parse(version).unwrap());
    let encodings = encodings
        .iter()
        .map(|(member, version)| (member.as_str(), version.as_ref()));
    views::first_cells(&name.to_string(), common.as_ref(), encodings)
}

/// The discovery of the case's server: a custom resource, a group that it passes on, and four resources of its own.
fn shown() -> Vec<(&'static str, Value)> {
    let all = [
        "create", "delete", "get", "list", "patch", "update", "watch",
    ];
    let resource = |name: &str, kind: &str, verbs: &[&str]| json!({"name": name, "kind": kind, "verbs": verbs, "storageVersionHash": "xPOwRZ+Yhw8="});
    let sets = resource("daemonsets", "DaemonSet", &all);
    let status = resource(
        "daemonsets/status",
        "DaemonSet",
        &["get", "patch", "update"],
    );
    let dummies = resource("replicationcontrollers", "ReplicationControllerDummy", &[]);
    let events = resource("events", "Event", &all);
    vec![
        (
            "cloud.google.com/v1beta1",
            json!([resource("backendconfigs", "BackendConfig", &all)]),
        ),
        (
            "metrics.k8s.io/v1beta1",
            json!([
                resource("nodes", "NodeMetrics", &["get", "list", "update"]),
                resource("pods", "PodMetrics", &["get", "list"]),
            ]),
        ),
        ("extensions/v1beta1", json!([sets, status, dummies])),
        ("apps/v1", json!([sets, status])),
        ("v1", json!([resource("pods", "Pod", &all), events])),
        ("events.k8s.io/v1beta1", json!([events])),
    ]
}

/// The versions of resources that the observer takes for migratable, in the order in which they are shown.
fn migratable() -> Vec<[String; 3]> {
    let services = json!({"kind": "APIServiceList", "items": [
        {"spec": {"group": "extensions", "version": "v1beta1", "service": null}},
        {"spec": {"group": "metrics.k8s.io", "version": "v1beta1", "service": {"name": "metrics-server"}}},
    ]});
    let others = passed_on(services.to_string().as_bytes()).unwrap();
    let mut found = Vec::new();
    for (version, list) in shown() {
        let list = json!({"kind": "APIResourceList", "groupVersion": version, "resources": list});
        for one in resources(version, list.to_string().as_bytes()).unwrap() {
            let resource = &one.resource;
            if one.is_migratable && !others.contains(resource.group()) {
                let version = version.rsplit('/').next().unwrap();
                found.push([resource.group(), version, resource.resource()].map(str::to_owned));
            }
        }
    }
    found
}

#[test]
fn migratable_resources() {
    suite::run("migratable_resources.json", 1, &[], |_, case| {
        let found: Value = json!(migratable());
        if found == json!([case.whole()]) {
            Ok(())
        } else {
            Err(format!("expected [{}], found {found}", case.whole()))
        }
    });
}

#[test]
fn what_can_be_listed_and_updated_and_is_served_here_is_migratable_except_events() {
    let found: Vec<String> = migratable().iter().map(|one| one.join(" ")).collect();
    assert_eq!(
        found,
        [
            "cloud.google.com v1beta1 backendconfigs",
            "extensions v1beta1 daemonsets",
            "apps v1 daemonsets",
            " v1 pods",
        ]
    );
}
