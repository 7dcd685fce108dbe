//! Servers that take part by Kubernetes' own parts, unmodified: the controller of identity leases, the updater of StorageVersions and
//! leader election, each server a process. `cargo xtask test kube-clients` builds them; without them the test says so.

use std::collections::BTreeSet;
use std::process::{ExitStatus, Stdio};

use serde_json::Value;
use synod_model::apiserver_id;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::timeout;

use crate::api::{self, Api};
use crate::kubectl::{Kubectl, kubectls};
use crate::replicas::{PATIENCE, Replicas};

const VERSION: &str = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions/example.io.widgets";
const VERSIONS: &str = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions";
const MIGRATIONS: &str = "/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

/// A server in a process of its own.
struct Server {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    said: BTreeSet<String>,
}

impl Server {
    /// Starts the server of this host, which stores widgets in this version, and waits until it has reported.
    async fn start(program: &str, replicas: &Replicas, host: &str, encoding: &str) -> Self {
        let server = format!("http://{}", replicas.kube[0]);
        let mut process = Command::new(program)
            .args([&server, host, encoding])
            .env_remove("KUBECONFIG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let said = BTreeSet::new();
        let mut server = Self {
            process,
            lines,
            said,
        };
        server.says("reported").await;
        server
    }

    /// Waits until it has said this.
    async fn says(&mut self, word: &str) {
        while !self.said.contains(word) {
            let line = timeout(PATIENCE, self.lines.next_line()).await;
            let line = line.unwrap_or_else(|_| panic!("{word} was not said, but {:?}", self.said));
            self.said.insert(line.unwrap().unwrap());
        }
    }

    /// Interrupts it, and waits until it has left.
    async fn stop(mut self) -> ExitStatus {
        let id = self.process.id().unwrap().to_string();
        let mut kill = Command::new("kill");
        assert!(kill.args(["-TERM", &id]).status().await.unwrap().success());
        timeout(PATIENCE, self.process.wait())
            .await
            .unwrap()
            .unwrap()
    }

    /// Kills it, so that it says nothing more to anybody.
    async fn kill(mut self) {
        self.process.kill().await.unwrap();
    }
}

/// A kubectl that watches.
struct Watching {
    _process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn start(kubectl: &Kubectl, kind: &str) -> Self {
        let line = format!("get {kind} -w --output-watch-events --no-headers");
        let mut process = kubectl
            .command(&line)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self {
            _process: process,
            lines,
        }
    }

    /// Waits until it has printed a row with these cells, and returns the rows until then.
    async fn prints(&mut self, cells: &[&str]) -> Vec<String> {
        let mut rows = Vec::new();
        loop {
            let line = timeout(PATIENCE, self.lines.next_line()).await;
            let line = line.unwrap_or_else(|_| panic!("{cells:?} was not printed: {rows:?}"));
            let row = line.unwrap().expect("kubectl has ended");
            let is_it = cells
                .iter()
                .all(|cell| row.split_whitespace().any(|it| it == *cell));
            rows.push(row);
            if is_it {
                return rows;
            }
        }
    }
}

/// What kubectl prints of these servers, in the order of their names.
fn printed(servers: &[(&str, &str)]) -> String {
    let entries = servers.iter();
    let entries =
        entries.map(|(host, version)| format!("{}=example.io/{version}", apiserver_id(host)));
    let entries: BTreeSet<String> = entries.collect();
    entries.into_iter().collect::<Vec<_>>().join(",")
}

/// What a watch told of: who encodes what, and what is common.
fn told(version: &Value) -> (BTreeSet<String>, Option<String>) {
    let status = &version["status"];
    let entries = status["storageVersions"].as_array();
    let of = |entry: &Value| {
        let text = |field: &str| entry[field].as_str().unwrap().to_owned();
        format!("{}={}", text("apiServerID"), text("encodingVersion"))
    };
    let common = status["commonEncodingVersion"].as_str().map(str::to_owned);
    (entries.into_iter().flatten().map(of).collect(), common)
}

/// Waits until the watch tells that these encode these versions, and whether all do.
async fn comes_to(watch: &mut api::Lines, servers: &[(&str, &str)], common: Option<&str>) {
    let entries = servers.iter();
    let entries =
        entries.map(|(host, version)| format!("{}=example.io/{version}", apiserver_id(host)));
    let common = common.map(|version| format!("example.io/{version}"));
    let expected = (entries.collect::<BTreeSet<_>>(), common);
    let mut seen = Vec::new();
    loop {
        let next = timeout(PATIENCE, watch.next()).await;
        let event = next.unwrap_or_else(|_| panic!("{expected:?} did not come: {seen:?}"));
        let found = told(&event.unwrap()["object"]);
        if found == expected {
            return;
        }
        seen.push(found);
    }
}

/// Waits until the agreement has ended, and with it what was to be migrated by it.
async fn called_off(migrations: &mut api::Lines) {
    loop {
        let event = migrations.next().await.unwrap();
        let conditions = event["object"]["status"]["conditions"].as_array();
        let mut conditions = conditions.into_iter().flatten();
        if let Some(failed) = conditions.find(|condition| condition["type"] == "Failed") {
            assert_eq!(failed["reason"], "AbortedNoAgreement", "{event}");
            return;
        }
    }
}

/// Looks whether the server of this host leads, and what was told of agreements.
async fn leads(api: &Api, host: &str) {
    let held = api.get(&format!("{LEASES}/controllers")).await.body;
    let holder = held["spec"]["holderIdentity"].as_str().unwrap();
    assert!(holder.starts_with(apiserver_id(host).as_str()), "{held}");
    let fields = "fieldSelector=involvedObject.name%3Dexample.io.widgets";
    let events = api.get(&format!("/api/v1/events?{fields}")).await.body;
    let reasons = events["items"].as_array().unwrap().iter();
    let reasons: Vec<&str> = reasons
        .map(|event| event["reason"].as_str().unwrap())
        .collect();
    let expected = ["AgreementReached", "AgreementEnded", "AgreementReached"];
    assert!(reasons.starts_with(&expected), "{events}");
}

#[tokio::test]
#[ignore = "needs programs of Go"]
async fn clients_that_are_kubernetes_own_parts_take_part_in_a_rolling_upgrade() {
    let Ok(program) = std::env::var("SYNOD_KUBE_MEMBER") else {
        eprintln!(
            "SKIPPED: SYNOD_KUBE_MEMBER names no program, so nothing was tested with Kubernetes' own parts"
        );
        return;
    };
    let replicas = Replicas::start(3, |_, _| {}).await;
    let api = Api::of(&replicas);
    let mut versions = api.watch(&format!("{VERSIONS}?watch=true")).await;
    let mut migrations = api.watch(&format!("{MIGRATIONS}?watch=true")).await;
    let start =
        async |host: &str, encoding: &str| Server::start(&program, &replicas, host, encoding).await;
    let (a, b, c) = ("host-a", "host-b", "host-c");
    let mut first = start(a, "v1").await;
    first.says("leading").await;
    let second = start(b, "v1").await;
    let third = start(c, "v1").await;
    comes_to(
        &mut versions,
        &[(a, "v1"), (b, "v1"), (c, "v1")],
        Some("v1"),
    )
    .await;

    // One after the other is replaced by a release that stores v2.
    assert!(first.stop().await.success());
    comes_to(&mut versions, &[(b, "v1"), (c, "v1")], Some("v1")).await;
    let upgraded = start(a, "v2").await;
    comes_to(&mut versions, &[(a, "v2"), (b, "v1"), (c, "v1")], None).await;
    called_off(&mut migrations).await;
    assert!(second.stop().await.success());
    let mut another = start(b, "v2").await;
    comes_to(&mut versions, &[(a, "v2"), (b, "v2"), (c, "v1")], None).await;

    // The last one is killed: what it says goes when its lease has run out.
    third.kill().await;
    comes_to(&mut versions, &[(a, "v2"), (b, "v2")], Some("v2")).await;
    let leases = api
        .get(&format!(
            "{LEASES}?labelSelector=apiserver.kubernetes.io%2Fidentity%3Dkube-apiserver"
        ))
        .await;
    assert_eq!(
        leases.body["items"].as_array().unwrap().len(),
        2,
        "{leases:?}"
    );
    let last = start(c, "v2").await;
    comes_to(
        &mut versions,
        &[(a, "v2"), (b, "v2"), (c, "v2")],
        Some("v2"),
    )
    .await;

    // Who leads is one of them, and another one when that leaves.
    assert!(upgraded.stop().await.success());
    assert!(last.stop().await.success());
    another.says("leading").await;
    leads(&api, b).await;
    assert!(another.stop().await.success());
    assert_eq!(api.get(VERSION).await.code, 404);
}

#[tokio::test]
#[ignore = "needs programs of Go, and kubectl"]
async fn clients_see_by_kubectl_how_servers_agree_and_one_of_them_dies() {
    let Ok(program) = std::env::var("SYNOD_KUBE_MEMBER") else {
        eprintln!("SKIPPED: SYNOD_KUBE_MEMBER names no program, so nothing was watched by kubectl");
        return;
    };
    // The newest one: all of them print what the server has them print.
    let Some(newest) = kubectls().pop() else {
        return;
    };
    let replicas = Replicas::start(3, |_, _| {}).await;
    let server = format!("http://{}", replicas.kube[1]);
    let kubectl = Kubectl::new(&newest, &["--server", &server]);
    let mut versions = Watching::start(&kubectl, "storageversions");
    let mut migrations = Watching::start(&kubectl, "storageversionmigrations");
    let start =
        async |host: &str, encoding: &str| Server::start(&program, &replicas, host, encoding).await;
    let (a, b, c) = ("host-a", "host-b", "host-c");
    let name = "example.io.widgets";
    let mut running = Vec::new();
    for host in [a, b, c] {
        running.push(start(host, "v1").await);
    }
    let all = printed(&[(a, "v1"), (b, "v1"), (c, "v1")]);
    versions
        .prints(&["MODIFIED", name, "example.io/v1", &all])
        .await;
    migrations
        .prints(&["ADDED", "widgets.example.io", "Pending"])
        .await;

    // The first one stores something else: there is no agreement, and what waited for it is called off.
    assert!(running.remove(0).stop().await.success());
    let upgraded = start(a, "v2").await;
    let mixed = printed(&[(a, "v2"), (b, "v1"), (c, "v1")]);
    versions
        .prints(&["MODIFIED", name, "<unset>", &mixed])
        .await;
    migrations
        .prints(&["MODIFIED", "widgets.example.io", "Aborted"])
        .await;

    // The others are killed, one by one: each is gone when its lease has run out, and what they said with it.
    running.remove(0).kill().await;
    let left = printed(&[(a, "v2"), (c, "v1")]);
    versions.prints(&["MODIFIED", name, "<unset>", &left]).await;
    running.remove(0).kill().await;
    let rows = versions
        .prints(&["MODIFIED", name, "example.io/v2", &printed(&[(a, "v2")])])
        .await;
    // Nobody has agreed before.
    let early = rows
        .iter()
        .rev()
        .skip(1)
        .find(|row| !row.contains("<unset>"));
    assert_eq!(early, None, "{rows:?}");
    migrations
        .prints(&["ADDED", "widgets.example.io", "Pending"])
        .await;

    assert!(upgraded.stop().await.success());
    versions.prints(&["DELETED", name]).await;
}
