//! Synod's groups behind Kubernetes' own aggregating API server, by the manifest that is deployed for it, as real kubectl sees them.
//!
//! What a cluster has beside that is said to the server: where the service is, and the certificate of front proxies. What cert-manager
//! does, which is to write the CA into the manifest, the test does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use data_encoding::BASE64;
use serde_json::{Value, json};
use synod_tests::free_address;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use super::api_server::{ADMIN, ApiServer};
use super::etcd::Etcd;
use crate::certificates::{Folder, text};
use crate::program::{LIMIT, Printed, Running, finish, run, synod};

/// The manifest as it is deployed.
const SERVICES: &str = "deploy/kubernetes/aggregated/api-services.yaml";

/// The policy as it is deployed, to which the README says to add grants.
const POLICY: &str = "deploy/kubernetes/base/policy.toml";

/// What is granted to users of the cluster.
const GRANTS: &str = r#"
[[grant]]
who = "remote-group:system:masters"
role = "admin"

[[grant]]
who = "remote:alice"
role = "reader"
"#;

/// What the cluster lets users do that are no admins: all of them may ask for anything in these groups.
const ROLES: &str = r#"
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: all-of-synod}
rules:
  - {apiGroups: [synod.io, example.io], resources: ["*"], verbs: ["*"]}
  - {nonResourceURLs: ["/api", "/api/*", "/apis", "/apis/*", "/openapi/*", "/version"], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: all-of-synod}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: all-of-synod}
subjects:
  - {apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}
  - {apiGroup: rbac.authorization.k8s.io, kind: User, name: mallory}
"#;

/// A replica with the flags of the deployment, and an aggregating API server in front of it.
struct Stage {
    _replica: Running,
    _etcd: Etcd,
    server: ApiServer,
    folder: Folder,
    home: TempDir,
}

impl Stage {
    async fn set() -> Self {
        let home = TempDir::new().unwrap();
        let certs = home.path().join("certs");
        let words = ["certs", "dev", "--hosts", "synod.synod.svc,127.0.0.1"];
        let made = run(&[&words[..], &["--out", text(&certs)]].concat()).await;
        assert_eq!(made.code, 0, "{}", made.err);
        // The CA of the cluster's front proxies, which signs nothing of Synod's.
        let proxies = Folder::new();
        let proxy = proxies.issue("proxy", "front-proxy-client");

        let (kube, client) = (free_address().to_string(), free_address().to_string());
        let mut replica = replica(&home, &certs);
        replica
            .env("SYNOD_LISTEN_KUBE", &kube)
            .env("SYNOD_LISTEN_CLIENT", &client)
            .env("SYNOD_REQUESTHEADER_CLIENT_CA_FILE", proxies.path("ca.crt"))
            .env("SYNOD_REQUESTHEADER_ALLOWED_NAMES", "front-proxy-client");
        let mut replica = Running::start(replica);
        replica.line().await.expect("the replica has ended");
        let words = "collections create widgets.example.io --kind Widget --namespaced --endpoints";
        let mut declare = synod(&words.split(' ').collect::<Vec<_>>());
        declare.arg(client);
        for (flag, file) in [
            ("--cacert", "server-ca.pem"),
            ("--cert", "admin.pem"),
            ("--key", "admin-key.pem"),
        ] {
            declare.arg(flag).arg(certs.join(file));
        }
        let declared = finish(declare).await;
        assert_eq!(declared.code, 0, "{}", declared.err);

        let folder = Folder::new();
        folder.replace("roles.yaml", ROLES);
        let users = "alice,alice,2\nmallory,mallory,3\neve,eve,4\n";
        let admin = format!("{ADMIN},admin,1,\"system:masters\"\n");
        folder.replace("tokens.csv", &(admin + users));
        let etcd = Etcd::start().await;
        let flags = [
            format!("--roles={}", text(&folder.path("roles.yaml"))),
            format!("--proxy-client-cert-file={}", text(&proxy.0)),
            format!("--proxy-client-key-file={}", text(&proxy.1)),
            format!("--service=synod/synod:443={kube}"),
        ];
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let server = ApiServer::start(&folder, &etcd, &flags).await;
        Self {
            _replica: replica,
            _etcd: etcd,
            server,
            folder,
            home,
        }
    }

    /// kubectl as this user.
    fn kubectl(&self, user: &str, words: &[&str]) -> Command {
        let user = format!("    token: {user}");
        let config = self.folder.kubeconfig(self.server.port(), "", &user);
        let mut command = Command::new("kubectl");
        command
            .args(["--kubeconfig", text(&config)])
            .args(words)
            .env("HOME", self.home.path())
            .env_remove("KUBECONFIG")
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Runs it as an admin, and expects it to succeed.
    async fn does(&self, line: &str) -> String {
        let printed = self.asked(ADMIN, line).await;
        assert_eq!(printed.code, 0, "{line}: {printed:?}");
        printed.out
    }

    async fn asked(&self, user: &str, line: &str) -> Printed {
        let words: Vec<&str> = line.split_whitespace().collect();
        finish(self.kubectl(user, &words)).await
    }

    /// Runs it as this user, who may not.
    async fn refuses(&self, user: &str, line: &str, told: &str) {
        let printed = self.asked(user, line).await;
        let is_told = printed.err.contains("(Forbidden)") && printed.err.contains(told);
        assert!(printed.code != 0 && is_told, "{user} {line}: {printed:?}");
    }

    fn file(&self, name: &str, document: &str) -> PathBuf {
        let path = self.home.path().join(name);
        fs::write(&path, document).unwrap();
        path
    }

    /// Applies the API service of a group, writes the CA into it as cert-manager does by its annotation, and waits until it is there.
    async fn shows(&self, group: &str) {
        let manifest = fs::read_to_string(synod_tests::checkout().join(SERVICES)).unwrap();
        let manifest = manifest.replace("v1.synod.io", &format!("v1.{group}"));
        let manifest = manifest.replace("group: synod.io", &format!("group: {group}"));
        let path = self.file("api-services.yaml", &manifest);
        self.does(&format!("apply -f {}", text(&path))).await;
        let at = format!("/apis/apiregistration.k8s.io/v1/apiservices/v1.{group}");
        let service = self.server.get(&at).await;
        let from = &service["metadata"]["annotations"]["cert-manager.io/inject-ca-from"];
        assert_eq!(from, "synod/synod-server", "{service}");
        let ca = fs::read(self.home.path().join("certs/server-ca.pem")).unwrap();
        let patch = json!({"spec": {"caBundle": BASE64.encode(&ca)}});
        let patch = format!("patch apiservice v1.{group} --type=merge -p {patch}");
        self.does(&patch).await;
        let wait = format!("wait --for=condition=Available apiservice/v1.{group} --timeout=60s");
        self.does(&wait).await;
        let kinds = async { while !self.does("api-resources").await.contains(group) {} };
        timeout(LIMIT, kinds).await.expect("no resource is shown");
    }
}

/// A replica that is the only one, behind TLS, by the policy of the deployment with the grants for the cluster.
fn replica(home: &TempDir, certs: &Path) -> Command {
    let deployed = fs::read_to_string(synod_tests::checkout().join(POLICY)).unwrap();
    let policy = home.path().join("policy.toml");
    fs::write(&policy, deployed + GRANTS).unwrap();
    let peer = free_address();
    let words = [
        "serve",
        "--replica-id=1",
        "--cluster-name=synod",
        "--log=error",
    ];
    let mut command = synod(&words);
    command
        .arg(format!("--replicas=1={peer}"))
        .arg(format!("--listen-peer={peer}"))
        .arg("--listen-metrics=127.0.0.1:0")
        .env("SYNOD_DATA_DIR", home.path().join("data"))
        .env("SYNOD_AUDIT_LOG", home.path().join("audit.log"))
        .env("SYNOD_POLICY_FILE", policy);
    for (variable, file) in [
        ("SYNOD_CERT_FILE", "server.pem"),
        ("SYNOD_KEY_FILE", "server-key.pem"),
        ("SYNOD_TRUSTED_CA_FILE", "client-ca.pem"),
        ("SYNOD_PEER_CERT_FILE", "peer.pem"),
        ("SYNOD_PEER_KEY_FILE", "peer-key.pem"),
        ("SYNOD_PEER_TRUSTED_CA_FILE", "peer-ca.pem"),
    ] {
        command.env(variable, certs.join(file));
    }
    command
}

/// Whether there is a kubectl. It says so where there is none.
async fn has_kubectl() -> bool {
    let found = Command::new("kubectl")
        .args(["version", "--client"])
        .output();
    let is_there = found.await.is_ok_and(|found| found.status.success());
    if !is_there {
        eprintln!(
            "SKIPPED: there is no kubectl, so nothing was tested through an aggregating API server"
        );
    }
    is_there
}

fn widget(name: &str, size: u64) -> String {
    json!({
        "apiVersion": "example.io/v1", "kind": "Widget",
        "metadata": {"name": name, "namespace": "n"}, "spec": {"size": size},
    })
    .to_string()
}

#[tokio::test]
#[ignore = "it needs an API server that Go builds: `cargo xtask test kube`"]
async fn the_groups_of_synod_are_shown_and_written_through_an_aggregating_api_server() {
    if !has_kubectl().await {
        return;
    }
    let stage = Stage::set().await;
    stage.shows("synod.io").await;
    stage.shows("example.io").await;
    let members = stage.does("get --raw /apis/synod.io/v1/members").await;
    assert!(members.contains("\"MemberList\""), "{members}");
    for (line, told) in [
        ("api-resources --api-group=synod.io", "members"),
        ("api-resources --api-group=synod.io", "agreements"),
        (
            "api-resources --api-group=example.io -o wide",
            "deletecollection",
        ),
        ("api-versions", "example.io/v1"),
        ("get settings.synod.io", "NAME"),
        ("explain members.synod.io.spec", "KIND:       Member"),
    ] {
        let printed = stage.does(line).await;
        assert!(printed.contains(told), "{line}: {printed}");
    }

    stage.file("a.json", &widget("a", 1));
    stage.does("create -f a.json").await;
    let words = "get widgets -n n -w --output-watch-events";
    let words: Vec<&str> = words.split(' ').collect();
    let mut watching = stage.kubectl(ADMIN, &words);
    let mut watching = watching.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = async || {
        let line = timeout(LIMIT, lines.next_line()).await;
        let line = line.expect("nothing is told").unwrap();
        let line = line.expect("the watch has ended");
        line.split(' ').next().unwrap_or_default().to_owned()
    };
    assert_eq!([next().await, next().await], ["EVENT", "ADDED"]);
    stage.file("a.json", &widget("a", 2));
    stage.does("apply -f a.json").await;
    assert_eq!(next().await, "MODIFIED");
    stage.file("a.json", &widget("a", 3));
    stage
        .does("apply --server-side --force-conflicts -f a.json")
        .await;
    let size = stage
        .does("get widget a -n n -o jsonpath={.spec.size}")
        .await;
    assert_eq!(size, "3");
    stage.does("delete widget a -n n").await;
    let mut told = next().await;
    assert_eq!(told, "MODIFIED");
    // It may write who manages what in a request of its own.
    while told == "MODIFIED" {
        told = next().await;
    }
    assert_eq!(told, "DELETED");
    watching.kill().await.unwrap();
}

#[tokio::test]
#[ignore = "it needs an API server that Go builds: `cargo xtask test kube`"]
async fn who_calls_an_aggregating_api_server_is_known_to_synod() {
    if !has_kubectl().await {
        return;
    }
    let stage = Stage::set().await;
    stage.shows("example.io").await;
    stage.file("a.json", &widget("a", 1));
    stage.does("create -f a.json").await;
    stage.file("b.json", &widget("b", 1));
    // She may read. The cluster would let her do more.
    let read = stage.asked("alice", "get widgets -n n").await;
    assert!(read.code == 0 && read.out.contains('a'), "{read:?}");
    let told =
        "User \"remote:alice\" cannot create resource \"widgets\" in API group \"example.io\"";
    stage.refuses("alice", "create -f b.json", told).await;
    // Nothing is granted to him by Synod, and to her nothing by the cluster.
    stage
        .refuses("mallory", "get widgets -n n", "User \"remote:mallory\"")
        .await;
    stage
        .refuses("eve", "get widgets -n n", "User \"eve\"")
        .await;
    // Who speaks for others at the cluster is, to Synod, who they are.
    let read = stage.does("get widgets -n n --as alice").await;
    assert!(read.contains('a'), "{read}");
    stage
        .refuses(ADMIN, "create -f b.json --as alice", told)
        .await;
    stage.does("delete widget a -n n").await;

    let audit = fs::read_to_string(stage.home.path().join("audit.log")).unwrap();
    let lines: Vec<Value> = audit
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let by = |caller: &str, method: &str| {
        lines.iter().any(|line| {
            let line = line.to_string();
            line.contains(caller) && line.contains(method)
        })
    };
    assert!(by("\"remote:admin\"", "Objects/Delete"), "{audit}");
    assert!(by("\"remote:alice\"", "Objects/Create"), "{audit}");
    assert!(!by("front-proxy-client", ""), "{audit}");
}
