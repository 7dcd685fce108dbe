//! Test vectors of Kubernetes: the rows that it prints, and the resources that its migrator picks.

use serde_json::{Value, json};
use synod_client::{
    ApiVersion, Client, GroupResource, ListControllerRevisions, ListMigrations, WallTime,
};

use super::stand_in::{Part, StandIn, fixture};
use super::suite::{self, Case};
use crate::commands::observe::documents::{passed_on, resources};
use crate::output::{Document, Format};
use crate::views;

const NOW: WallTime = WallTime::from_millis(fixture::NOW_MS);

#[tokio::test]
async fn every_kind_is_printed_as_kubectl_prints_it() {
    let prose = [
        "storageversions.columns",
        "controllerrevisions.columns",
        "storageversionmigrations_v1alpha1.columns",
    ];
    // These lists are columns, not cases. The rows are printed before the cases run, whose closure cannot await.
    let document = suite::document("printer_rows.json");
    let mut printed = Vec::new();
    for case in document["controllerrevisions"]["cases"].as_array().unwrap() {
        printed.push((
            case["name"].clone(),
            Box::pin(controller_revision(case)).await,
        ));
    }
    for case in document["storageversionmigrations_v1alpha1"]["cases"]
        .as_array()
        .unwrap()
    {
        printed.push((case["name"].clone(), Box::pin(migration(case)).await));
    }
    suite::run("printer_rows.json", 6, &prose, |section, case| {
        let found = match section {
            "storageversions.cases" => row(case),
            _ => {
                let printed = printed.iter().find(|(name, _)| *name == case["name"]);
                printed.ok_or("it was not printed")?.1.clone()
            }
        };
        let expected: Vec<&str> = case["cells"]
            .as_array()
            .ok_or("no cells")?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        if found == expected {
            Ok(())
        } else {
            Err(format!("expected {expected:?}, found {found:?}"))
        }
    });
    let columns = document["storageversions"]["columns"].as_array().unwrap();
    assert!(
        columns
            .iter()
            .map(|column| column.as_str().unwrap())
            .eq(views::STORAGE_VERSION_COLUMNS)
    );
}

/// Calls a stand-in that gives this answer.
async fn asked(part: Part) -> (StandIn, Client) {
    let stand_in = StandIn::start(part).await;
    let builder = Client::builder().endpoints(vec![stand_in.endpoint()]);
    let client = builder.connect().await.unwrap();
    (stand_in, client)
}

/// The cells of these columns in the first row of what a command prints.
fn cells(document: &Document, columns: &[&str]) -> Vec<String> {
    let text = document.render(Format::Table);
    let mut lines = text.lines().map(|line| {
        let cells = line.split("   ").map(str::trim);
        cells.filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
    });
    let (heading, row) = (lines.next().unwrap(), lines.next().unwrap());
    let place = |column: &&str| {
        heading
            .iter()
            .position(|heading| heading == column)
            .unwrap()
    };
    let found = columns.iter().map(|column| row[place(column)].to_owned());
    found.collect()
}

/// The cells of `synod history list` for the name, controller and revision of `kubectl get controllerrevisions`.
async fn controller_revision(case: &Value) -> Vec<String> {
    let mut part = fixture::part();
    let mut snapshot = part.snapshots.items.swap_remove(0);
    let metadata = snapshot.metadata.as_mut().unwrap();
    metadata.name = case["name"].as_str().unwrap().to_owned();
    let owners = &mut metadata.owner_references;
    match case["controller"].as_array() {
        None => owners.clear(),
        Some(controller) => {
            let [version, kind, name] =
                [0, 1, 2].map(|part| controller[part].as_str().unwrap().to_owned());
            let owner = owners.first_mut().unwrap();
            (owner.api_version, owner.kind, owner.name) = (version, kind, name);
        }
    }
    snapshot.revision = case["revision"].as_u64().unwrap();
    part.snapshots.items = vec![snapshot];
    let (_stand_in, client) = Box::pin(asked(part)).await;
    let list = ListControllerRevisions::new();
    let page = client.controller_revisions(list).await;
    let document = views::controller_revisions(&page.unwrap(), NOW);
    cells(&document, &["NAME", "OWNER", "NUMBER"])
}

/// The cells of `synod migrations list` for the name and resource of `kubectl get storageversionmigrations`.
async fn migration(case: &Value) -> Vec<String> {
    let [group, version, resource] =
        ["group", "version", "resource"].map(|field| case[field].as_str().unwrap());
    let mut part = fixture::part();
    let mut migration = part.migrations.migrations.swap_remove(0);
    let metadata = migration.metadata.as_mut().unwrap();
    metadata.name = format!("{resource}.{group}-41");
    let of = migration.resource.as_mut().unwrap();
    (of.group, of.resource) = (group.to_owned(), resource.to_owned());
    migration.target_version = Some(format!("{group}/{version}"));
    part.migrations.migrations = vec![migration];
    let (_stand_in, client) = Box::pin(asked(part)).await;
    let page = client
        .migrations(ListMigrations::new())
        .all()
        .await
        .unwrap();
    cells(&views::migrations(&page, NOW), &["NAME", "TARGET"])
}

/// The cells of a case except the age, which the cases do not give.
fn row(case: &Case<'_>) -> Vec<String> {
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
    views::first_cells(&name.to_string(), common.as_ref(), encodings).into()
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
