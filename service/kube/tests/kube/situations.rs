//! Every verb of every kind that discovery shows, in each situation: good, missing, conflicting, invalid, forbidden, too large,
//! and without a quorum. What is answered stands in `situations.txt`.

use std::fmt::Write as _;
use std::path::Path;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::api::{Answer, Api, answer, request, widget};
use crate::certificates;
use crate::own::report;
use crate::replicas::{PATIENCE, Replicas};

/// The order in which verbs are tried: what is deleted was read and written before.
const VERBS: [&str; 8] = [
    "create",
    "get",
    "list",
    "watch",
    "update",
    "patch",
    "delete",
    "deletecollection",
];

/// What discovery shows of a kind, or of a subresource.
struct Shown {
    /// `/apis/<group>/<version>`.
    version: String,
    /// `leases`, `widgets/status`.
    name: String,
    kind: String,
    is_namespaced: bool,
    verbs: Vec<String>,
}

/// What is sent.
struct Sent {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, &'static str)>,
    body: Vec<u8>,
}

impl Shown {
    fn collection(&self) -> String {
        let (plural, _) = self.parts();
        let place = if self.is_namespaced {
            "/namespaces/default"
        } else {
            ""
        };
        format!("{}{place}/{plural}", self.version)
    }

    fn object(&self, name: &str) -> String {
        let (_, subresource) = self.parts();
        format!("{}/{name}{subresource}", self.collection())
    }

    /// The plural, and `/status` or nothing.
    fn parts(&self) -> (&str, &str) {
        let end = self.name.find('/').unwrap_or(self.name.len());
        self.name.split_at(end)
    }

    /// The request of a verb for an object that the document is of.
    fn asks(&self, verb: &str, document: &Value) -> Sent {
        let name = document["metadata"]["name"].as_str().unwrap_or_default();
        let (object, collection) = (self.object(name), self.collection());
        let body = document.to_string().into_bytes();
        let sent = |method, path, body| Sent {
            method,
            path,
            headers: Vec::new(),
            body,
        };
        match verb {
            "create" => sent("POST", collection, body),
            "get" => sent("GET", object, Vec::new()),
            "list" => sent("GET", collection, Vec::new()),
            "watch" => {
                let path = format!("{collection}?watch=true&timeoutSeconds=1");
                sent("GET", path, Vec::new())
            }
            "update" => sent("PUT", object, body),
            "patch" => Sent {
                headers: vec![("content-type", "application/merge-patch+json")],
                ..sent("PATCH", object, body)
            },
            "delete" => sent("DELETE", object, b"{}".to_vec()),
            "deletecollection" => sent("DELETE", collection, b"{}".to_vec()),
            verb => panic!("{verb}"),
        }
    }

    /// A new object of the kind; `None` if none can be created.
    fn sample(&self) -> Option<Value> {
        let document = match self.parts().0 {
            "widgets" => widget("a", 1),
            "leases" => json!({
                "metadata": { "name": "a" },
                "spec": { "holderIdentity": "x", "leaseDurationSeconds": 3600 },
            }),
            "leasecandidates" => json!({
                "metadata": { "name": "a" },
                "spec": {
                    "leaseName": "elected",
                    "binaryVersion": "1.33.0",
                    "emulationVersion": "1.33.0",
                    "strategy": "OldestEmulationVersion",
                },
            }),
            "controllerrevisions" => json!({
                "metadata": {
                    "name": "a",
                    "ownerReferences": [{
                        "apiVersion": "example.io/v1",
                        "kind": "Widget",
                        "name": "web",
                        "uid": "00000000-0000-4000-8000-000000000000",
                        "controller": true,
                    }],
                },
                "data": { "spec": {} },
                "revision": 1,
            }),
            "storageversions" => json!({ "metadata": { "name": "apps.nothing" } }),
            "storageversionmigrations" => json!({
                "metadata": { "name": "a" },
                "spec": { "resource": { "group": "apps", "resource": "deployments" } },
            }),
            _ => return None,
        };
        Some(self.typed(document))
    }

    fn typed(&self, mut document: Value) -> Value {
        let version = self.version.trim_start_matches("/apis/");
        document["apiVersion"] = json!(version.trim_start_matches("/api/"));
        document["kind"] = json!(self.kind);
        document
    }

    /// A document that names nothing that is there.
    fn missing(&self) -> Value {
        let name = match self.parts().0 {
            "storageversions" => "apps.missing",
            "storagestates" => "missing.apps",
            _ => "missing",
        };
        let mut document = self.sample().unwrap_or_default();
        document["metadata"] = json!({ "name": name, "resourceVersion": "1" });
        self.typed(document)
    }

    /// What breaks a rule, by the verb.
    fn invalid(&self, verb: &str, good: &Value) -> Option<Sent> {
        let mut sent = self.asks(verb, good);
        match verb {
            "create" | "update" => {
                let mut wrong = good.clone();
                match self.name.as_str() {
                    "leases" => wrong["spec"]["leaseDurationSeconds"] = json!(0),
                    "leasecandidates" => wrong["spec"]["binaryVersion"] = json!("none"),
                    "storageversions" => wrong["metadata"]["name"] = json!("nothing"),
                    "storageversions/status" => {
                        wrong["status"]["storageVersions"] = json!([{ "apiServerID": "" }]);
                    }
                    "storageversionmigrations" if verb == "create" => {
                        wrong["metadata"]["name"] = json!("not a name");
                    }
                    "storageversionmigrations" => {
                        wrong["spec"]["resource"]["resource"] = json!("other");
                    }
                    "storageversionmigrations/status" => {
                        let both = ["Running", "Failed"];
                        let both = both.map(|kind| json!({ "type": kind, "status": "True" }));
                        wrong["status"]["conditions"] = json!(both);
                    }
                    "widgets/status" => wrong["metadata"]["name"] = json!("other"),
                    _ => wrong["metadata"]["labels"] = json!({ "not a label!": "x" }),
                }
                sent.body = wrong.to_string().into_bytes();
            }
            "patch" => {
                sent.headers = vec![("content-type", "application/json-patch+json")];
                sent.body = br#"[{"op": "test", "path": "/nowhere", "value": 1}]"#.to_vec();
            }
            "delete" => sent.body = br#"{"propagationPolicy": "Never"}"#.to_vec(),
            "list" | "deletecollection" => sent.path += "?labelSelector=%21%21",
            "watch" => sent.path += "&labelSelector=%21%21",
            _ => return None,
        }
        Some(sent)
    }

    /// What is at odds with what there is, by the verb.
    fn conflicting(&self, verb: &str, good: &Value) -> Option<Sent> {
        let mut stale = good.clone();
        stale["metadata"]["resourceVersion"] = json!("1");
        let mut sent = self.asks(verb, &stale);
        match verb {
            "create" => {
                let mut again = self.sample()?;
                // What is created of these is nothing yet: a report makes them.
                if self.name == "storageversions" {
                    again["metadata"]["name"] = json!("apps.deployments");
                }
                return Some(self.asks(verb, &again));
            }
            "update" | "patch" => {}
            "delete" => {
                sent.body = br#"{"preconditions": {"resourceVersion": "1"}}"#.to_vec();
            }
            _ => return None,
        }
        Some(sent)
    }
}

/// What is shown by discovery, in its order.
async fn shown(api: &Api) -> Vec<Shown> {
    let mut versions = vec!["/api/v1".to_owned()];
    for group in list(&api.get("/apis").await.body["groups"]) {
        for version in list(&group["versions"]) {
            versions.push(format!("/apis/{}", text(&version["groupVersion"])));
        }
    }
    let mut shown = Vec::new();
    for version in versions {
        for resource in list(&api.get(&version).await.body["resources"]) {
            let verbs = list(&resource["verbs"]).into_iter();
            shown.push(Shown {
                version: version.clone(),
                name: text(&resource["name"]),
                kind: text(&resource["kind"]),
                is_namespaced: resource["namespaced"] == true,
                verbs: verbs.map(|verb| text(&verb)).collect(),
            });
        }
    }
    shown
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// What an answer says in the table.
fn told(answer: &Answer) -> String {
    match answer.body["reason"].as_str() {
        Some(reason) if answer.code >= 400 => format!("{} {reason}", answer.code),
        _ => answer.code.to_string(),
    }
}

impl Api {
    async fn ask(&self, sent: &Sent) -> Answer {
        self.send(sent.method, &sent.path, &sent.headers, &sent.body)
            .await
    }

    /// The newest document of the kind's first object.
    async fn present(&self, kind: &Shown) -> Value {
        let listed = self.get(&kind.collection()).await;
        let first = &listed.body["items"][0]["metadata"]["name"];
        assert!(first.is_string(), "{}: {listed:?}", kind.collection());
        let name = text(first);
        let found = self.get(&kind.object(&name)).await;
        assert_eq!(found.code, 200, "{}: {found:?}", kind.object(&name));
        found.body
    }
}

/// The same request as somebody who is granted nothing.
async fn forbidden(secured: &Replicas, sent: &Sent) -> String {
    let mut stream = certificates::connect(secured, "nobody").await.unwrap();
    let bytes = request(sent.method, &sent.path, &sent.headers, &sent.body);
    let mut read = Vec::new();
    let exchange = async {
        stream.write_all(&bytes).await.unwrap();
        stream.read_to_end(&mut read).await.unwrap();
    };
    timeout(PATIENCE, exchange).await.unwrap();
    told(&answer(&read))
}

/// A replica of three that is alone.
async fn lone() -> Replicas {
    let mut replicas = Replicas::start(3, |_, _| {}).await;
    replicas.declare_with_status().await;
    report(&replicas, "a", "apps/v1").await;
    while replicas.running.len() > 1 {
        replicas.running.pop().unwrap().shutdown().await;
    }
    replicas
}

/// The replicas that are asked while there is a quorum.
struct Asked {
    replica: Api,
    /// One that asks who calls.
    secured: Replicas,
}

impl Asked {
    /// The cells of a row, all but the last.
    async fn row(&self, kind: &Shown, verb: &str, document: &Value) -> [String; 6] {
        let sent = kind.asks(verb, document);
        let is_of_one = !["create", "list", "watch", "deletecollection"].contains(&verb);
        let missing = is_of_one.then(|| kind.asks(verb, &kind.missing()));
        let mut large = kind.asks(verb, document);
        large.body.resize(4 << 20, b' ');
        let large = (sent.method != "GET").then_some(large);
        // What is refused comes first, so that the object is there; only a creation is at odds with one that was made before.
        let missing = self.cell(missing).await;
        let invalid = self.cell(kind.invalid(verb, document)).await;
        let large = self.cell(large).await;
        let conflicting = kind.conflicting(verb, document);
        let (conflicting, good) = if verb == "create" {
            let good = self.replica.ask(&sent).await;
            (self.cell(conflicting).await, good)
        } else {
            let refused = self.cell(conflicting).await;
            (refused, self.replica.ask(&sent).await)
        };
        let forbidden = forbidden(&self.secured, &sent).await;
        [told(&good), missing, conflicting, invalid, forbidden, large]
    }

    async fn cell(&self, sent: Option<Sent>) -> String {
        match sent {
            Some(sent) => told(&self.replica.ask(&sent).await),
            None => "-".to_owned(),
        }
    }
}

/// One verb of one kind.
struct Row {
    place: String,
    verb: &'static str,
    cells: [String; 6],
    sent: Sent,
}

/// All rows, without their last cells.
async fn rows() -> Vec<Row> {
    let replicas = Replicas::with_status().await;
    report(&replicas, "a", "apps/v1").await;
    let asked = Asked {
        replica: Api::of(&replicas),
        secured: Replicas::secured_with_status().await,
    };
    let mut rows = Vec::new();
    for kind in shown(&asked.replica).await {
        // All objects were deleted just before. A StorageVersion is there as long as it is reported.
        let is_status = kind.name.ends_with("/status") && kind.name != "storageversions/status";
        if is_status {
            let sample = kind.sample().unwrap();
            let made = asked.replica.post(&kind.collection(), &sample).await;
            assert_eq!(made.code, 201, "{made:?}");
        }
        for verb in VERBS {
            if !kind.verbs.iter().any(|one| one == verb) {
                continue;
            }
            let document = match verb {
                "create" => kind.sample().unwrap(),
                "list" | "watch" | "deletecollection" => json!({}),
                _ => asked.replica.present(&kind).await,
            };
            rows.push(Row {
                place: format!("{}/{}", kind.version, kind.name),
                verb,
                cells: asked.row(&kind, verb, &document).await,
                sent: kind.asks(verb, &document),
            });
        }
        if is_status {
            let deleted = asked.replica.delete(&kind.collection(), &json!({})).await;
            assert_eq!(deleted.code, 200, "{deleted:?}");
        }
    }
    rows
}

fn line(table: &mut String, place: &str, verb: &str, cells: [&str; 7]) {
    let [
        good,
        missing,
        conflicting,
        invalid,
        forbidden,
        large,
        unavailable,
    ] = cells;
    writeln!(
        table,
        "{place:<70} {verb:<16} {good:<6} {missing:<13} {conflicting:<17} {invalid:<14} {forbidden:<13} {large:<25} {unavailable}"
    )
    .unwrap();
}

#[tokio::test]
async fn every_verb_of_every_kind_answers_as_the_table_says_in_each_situation() {
    let rows = rows().await;
    let lone = lone().await;
    let alone = Api::of(&lone);
    // Each waits a while for a quorum.
    let unavailable = join_all(rows.iter().map(|row| alone.ask(&row.sent))).await;
    let mut table = String::new();
    let heads = [
        "good",
        "missing",
        "conflicting",
        "invalid",
        "forbidden",
        "too large",
        "unavailable",
    ];
    line(&mut table, "kind", "verb", heads);
    for (row, unavailable) in rows.iter().zip(&unavailable) {
        let [one, two, three, four, five, six] = row.cells.each_ref().map(String::as_str);
        let last = told(unavailable);
        let cells = [one, two, three, four, five, six, &last];
        line(&mut table, &row.place, row.verb, cells);
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kube/situations.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &table).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        table,
        expected,
        "UPDATE_GOLDEN=1 writes {} anew",
        file.display()
    );
}
