//! Two API servers with etcd behind them, and a cluster of Synod.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use synod_client::{
    Client, ListMigrations, Migration, MigrationPhase, ObjectKind, StorageState, StorageVersionHash,
};
use tokio::time::timeout;

use super::api_server::{ADMIN, ApiServer};
use super::etcd::Etcd;
use crate::certificates::{Folder, text};
use crate::cluster::{Cluster, named};
use crate::program::{LIMIT, Running};

pub(super) const WIDGETS: &str = "widgets.example.io";
pub(super) const DEFINITIONS: &str = "apiextensions.k8s.io.customresourcedefinitions";

/// Where API servers serve definitions, API services, and widgets in a version.
pub(super) const DEFINITIONS_AT: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
pub(super) const DEFINITION_AT: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.io";
pub(super) const SERVICES_AT: &str = "/apis/apiregistration.k8s.io/v1/apiservices";
pub(super) const V1: &str = "/apis/example.io/v1";
pub(super) const V2: &str = "/apis/example.io/v2";

/// Below which keys API servers store widgets and definitions.
pub(super) const STORED_WIDGETS: &str = "/registry/example.io/widgets/";
pub(super) const STORED_DEFINITIONS: &str =
    "/registry/apiextensions.k8s.io/customresourcedefinitions/";

/// The roles as they are deployed.
const ROLES: [&str; 3] = [
    "deploy/kubernetes/observer/roles.yaml",
    "deploy/kubernetes/migrator/roles.yaml",
    "deploy/kubernetes/migrator/resources.yaml",
];

/// A role for another resource, as it is added beside them.
const MORE: &str = r#"{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
    "metadata": {"name": "definitions", "labels": {"synod.io/aggregate-to-migrator": "true"}},
    "rules": [{"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"],
        "verbs": ["get", "list", "update"]}]}"#;

pub(super) fn hash(version: &str) -> StorageVersionHash {
    StorageVersionHash::of("example.io", version, "Widget")
}

/// Two API servers on one etcd, and a cluster that knows nothing of them yet.
pub(super) struct Stage {
    pub(super) cluster: Cluster,
    pub(super) client: Client,
    pub(super) folder: Folder,
    pub(super) etcd: Etcd,
    pub(super) a: ApiServer,
    pub(super) b: ApiServer,
    pub(super) observer: PathBuf,
    pub(super) migrator: PathBuf,
}

impl Stage {
    pub(super) async fn set(more: &[&str]) -> Self {
        let folder = Folder::new();
        folder.replace("more.json", MORE);
        folder.replace("observer.token", "observes");
        folder.replace("migrator.token", "migrates");
        known(&folder, &["migrates"]);
        let roles = ROLES.map(|path| synod_tests::checkout().join(path));
        let roles: Vec<String> = roles
            .into_iter()
            .chain([folder.path("more.json")])
            .map(|path| format!("--roles={}", text(&path)))
            .collect();
        let words: Vec<&str> = roles
            .iter()
            .map(String::as_str)
            .chain(more.iter().copied())
            .collect();
        let etcd = Etcd::start().await;
        let a = ApiServer::start(&folder, &etcd, &words).await;
        let b = ApiServer::start(&folder, &etcd, &words).await;
        let cluster = Cluster::start().await;
        // Migrations wait for as long as a server may still write what it showed before.
        let hurries = cluster.ask(&["settings", "set", "write_grace=1s"]).await;
        assert_eq!(hurries.code, 0, "{}", hurries.err);
        let kubeconfig = |user: &str| {
            let made = folder.kubeconfig(a.port(), "", &format!("    tokenFile: {user}.token"));
            let path = folder.path(user);
            fs::rename(made, &path).unwrap();
            path
        };
        Self {
            client: cluster.client().await,
            observer: kubeconfig("observer"),
            migrator: kubeconfig("migrator"),
            cluster,
            folder,
            etcd,
            a,
            b,
        }
    }

    /// Looks once at both servers; returns the exit code and what came of each resource.
    pub(super) async fn look(&self) -> (i32, BTreeMap<String, Value>) {
        let urls = [&self.a, &self.b].map(ApiServer::url);
        let (code, document) = self.look_at(&[&urls[0], &urls[1]]).await;
        let resources = document["look"]["resources"].as_array().unwrap();
        let by_name = resources.iter().map(|seen| {
            let name = seen["resource"]["resource"].as_str().unwrap();
            (name.to_owned(), seen.clone())
        });
        (code, by_name.collect())
    }

    /// Looks once; returns the exit code and what was printed.
    pub(super) async fn look_at(&self, urls: &[&str]) -> (i32, Value) {
        let observer = text(&self.observer);
        let words = ["observe", "--once", "-o", "json", "--kubeconfig", observer];
        let printed = self.cluster.ask(&[&words[..], urls].concat()).await;
        let last = printed.out.lines().last().unwrap_or_default();
        let document = serde_json::from_str(last);
        let document = document.unwrap_or_else(|_| panic!("{}{}", printed.out, printed.err));
        (printed.code, document)
    }

    /// Runs a worker on these resources to its end, and returns what it told of the migration of the last one.
    pub(super) async fn work(&self, more: &[&str]) -> Value {
        let migrator = text(&self.migrator);
        let words = [&["migrate", "--once", "--kubeconfig", migrator], more].concat();
        let printed = self.cluster.ask(&words).await;
        assert_eq!(printed.code, 0, "{}{}", printed.out, printed.err);
        let last = printed.out.lines().last().expect("nothing was told");
        serde_json::from_str(last).unwrap()
    }

    pub(super) fn begin(&self, more: &[&str]) -> Running {
        let migrator = text(&self.migrator);
        let words = [&["migrate", "--once", "--kubeconfig", migrator], more].concat();
        self.cluster.begin(&words)
    }

    /// Has widgets in two namespaces, stored in v1, which both servers show, and no migration before them.
    pub(super) async fn with_widgets(more: &[&str], widgets: u64) -> Self {
        let stage = Self::set(more).await;
        stage.defined(&widgets_in("v1")).await;
        for number in 1..=widgets {
            let namespace = ["one", "two"][usize::from(number % 2 == 0)];
            // Numbers that a parser might change stand in each.
            let widget = json!({
                "apiVersion": "example.io/v1", "kind": "Widget",
                "metadata": {"name": format!("widget-{number:04}"), "labels": {"number": number.to_string()}},
                "size": 0.25, "id": 1_u64 << 53,
            });
            let path = format!("{V1}/namespaces/{namespace}/widgets");
            stage.a.send("POST", &path, &widget).await;
        }
        let (code, seen) = stage.look().await;
        assert_eq!((code, &seen["widgets"]["outcome"]), (0, &"CHANGED".into()));
        let ended = stage.work(&[WIDGETS]).await;
        assert_eq!(ended["ended"]["rewritten"], widgets, "{ended}");
        stage
    }

    /// Creates a definition, has discovery show it, and waits until both servers serve it.
    pub(super) async fn defined(&self, definition: &Value) {
        self.a.send("POST", DEFINITIONS_AT, definition).await;
        for version in ["v1", "v2"] {
            self.a
                .send("POST", SERVICES_AT, &service("example.io", version))
                .await;
        }
        self.shows(&hash("v1")).await;
    }

    /// Stores new widgets in v2 from now on, which both servers show.
    pub(super) async fn turns_to_v2(&self) {
        let mut definition = self.a.get(DEFINITION_AT).await;
        definition["spec"] = widgets_in("v2")["spec"].clone();
        let taken = self.a.send("PUT", DEFINITION_AT, &definition).await;
        assert_eq!(taken["status"]["storedVersions"], json!(["v1", "v2"]));
        self.shows(&hash("v2")).await;
    }

    /// Waits until the servers that run serve widgets, and show that they store them so.
    pub(super) async fn shows(&self, hash: &StorageVersionHash) {
        for server in [&self.a, &self.b] {
            let is_shown = async {
                while server.is_running() {
                    let (_, found) = server.ask("GET", V2, None).await;
                    let shown = &found["resources"][0]["storageVersionHash"];
                    let (_, groups) = server.ask("GET", "/apis", None).await;
                    let is_listed = groups.to_string().contains("example.io/v2");
                    let (listed, _) = server
                        .ask("GET", &format!("{V2}/widgets?limit=1"), None)
                        .await;
                    if *shown == hash.to_string() && is_listed && listed == 200 {
                        break;
                    }
                }
            };
            timeout(LIMIT, is_shown).await.expect("it does not show it");
        }
    }

    /// Waits until discovery lists a version of a group.
    pub(super) async fn lists(&self, version: &str) {
        for server in [&self.a, &self.b] {
            let is_listed =
                async { while !server.get("/apis").await.to_string().contains(version) {} };
            timeout(LIMIT, is_listed)
                .await
                .expect("it does not list it");
        }
    }

    pub(super) async fn pending(&self, resource: &str) -> Vec<Migration> {
        let all = self.client.migrations(ListMigrations::new()).all().await;
        let all = all.unwrap().items.into_iter();
        let ours = all.filter(|one| one.id.resource() == &named(resource));
        ours.filter(|one| one.phase == MigrationPhase::Pending)
            .collect()
    }

    pub(super) async fn state(&self, resource: &str) -> StorageState {
        let reflector = self.client.reflect(vec![ObjectKind::StorageState]).await;
        let state = reflector.unwrap().storage_state(&named(resource));
        (*state.expect("nothing is known of the resource")).clone()
    }

    /// The widgets that are not stored in v2.
    pub(super) async fn old(&self) -> usize {
        let stored = self.etcd.stored(STORED_WIDGETS).await;
        let old = stored
            .iter()
            .filter(|one| one.document["apiVersion"] != "example.io/v2");
        old.count()
    }

    /// Waits until a worker has rewritten some widgets, and not all of them.
    pub(super) async fn is_in_the_middle(&self, widgets: usize) {
        let begun = async { while self.old().await == widgets {} };
        timeout(LIMIT, begun).await.expect("nothing is rewritten");
        assert!(self.old().await > 0, "all are rewritten already");
    }
}

/// Writes who has which token: these of the worker are all that count from now on.
pub(super) fn known(folder: &Folder, migrates: &[&str]) {
    let account = "system:serviceaccount:synod:synod";
    let mut tokens = format!("{ADMIN},admin,1,\"system:masters\"\nobserves,{account}-observer,2\n");
    for token in migrates {
        tokens += &format!("{token},{account}-migrator,3\n");
    }
    folder.replace("tokens.csv", &tokens);
}

/// The definition of widgets, which are stored in a version.
pub(super) fn widgets_in(storage: &str) -> Value {
    definition("example.io", ("widgets", "Widget"), &["v1", "v2"], storage)
}

/// The definition of a resource whose objects may be anything.
pub(super) fn definition(
    group: &str,
    (plural, kind): (&str, &str),
    served: &[&str],
    storage: &str,
) -> Value {
    let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = |name: &&str| {
        let schema = json!({"openAPIV3Schema": anything});
        json!({"name": name, "served": true, "storage": *name == storage, "schema": schema})
    };
    let versions: Vec<Value> = served.iter().map(version).collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{plural}.{group}"),
            // The API server asks for it where a group is Kubernetes' own.
            "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"},
        },
        "spec": {
            "group": group, "scope": "Namespaced", "versions": versions,
            "names": {
                "plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List"),
            },
        },
    })
}

/// An API service that the server itself serves.
pub(super) fn service(group: &str, version: &str) -> Value {
    json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": {"name": format!("{version}.{group}")},
        "spec": {"group": group, "version": version, "groupPriorityMinimum": 1_000, "versionPriority": 100},
    })
}
