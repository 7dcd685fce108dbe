//! kubectl, of every minor version that is on this machine as `kubectl.1.NN`.
//!
//! `cargo test -p synod-kube --test kube -- --ignored kubectl` runs these tests; a machine without kubectl says so.

mod access;
mod lines;
mod subresources;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::api::Api;
use crate::replicas::{PATIENCE, Replicas};

const VERSIONS: std::ops::RangeInclusive<u32> = 27..=33;

/// The kubectls of this machine.
pub(crate) fn kubectls() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut found = Vec::new();
    for minor in VERSIONS {
        let name = format!("kubectl.1.{minor}");
        let places = folders
            .iter()
            .map(|folder| fs::canonicalize(folder).unwrap_or_default());
        // Distributions link `kubectl` into the path and keep the others beside what it links to.
        let beside = folders
            .iter()
            .filter_map(|folder| fs::canonicalize(folder.join("kubectl")).ok());
        let beside = beside.filter_map(|file| file.parent().map(Path::to_owned));
        match places
            .chain(beside)
            .map(|folder| folder.join(&name))
            .find(|file| file.is_file())
        {
            Some(file) => found.push(file),
            None => eprintln!("SKIPPED: there is no {name} on this machine"),
        }
    }
    if found.is_empty() {
        eprintln!("SKIPPED: there is no kubectl on this machine, so nothing was tested with it");
    }
    found
}

/// A kubectl with a home of its own: it keeps what it has discovered there.
pub(crate) struct Kubectl {
    program: PathBuf,
    home: TempDir,
    flags: Vec<String>,
}

/// What it has printed.
#[derive(Debug)]
struct Printed {
    code: i32,
    out: String,
    err: String,
}

impl Kubectl {
    pub(crate) fn new(program: &Path, flags: &[&str]) -> Self {
        Self {
            program: program.to_owned(),
            home: TempDir::new().unwrap(),
            flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
        }
    }

    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.flags)
            .args(line.split_whitespace())
            .env("HOME", self.home.path())
            .env_remove("KUBECONFIG")
            .current_dir(self.home.path())
            .kill_on_drop(true);
        command
    }

    async fn run(&self, line: &str) -> Printed {
        let output = timeout(PATIENCE, self.command(line).stdin(Stdio::null()).output())
            .await
            .unwrap()
            .unwrap();
        Printed {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs it, and expects it to succeed and to print this.
    async fn prints(&self, line: &str, told: &str) -> String {
        let printed = self.run(line).await;
        let is_told = printed.out.contains(told) || printed.err.contains(told);
        assert!(
            printed.code == 0 && is_told,
            "{} {line}: {told}: {printed:?}",
            self.program.display()
        );
        printed.out
    }

    /// Runs it, and expects it to fail with this.
    async fn fails(&self, line: &str, told: &str) {
        let printed = self.run(line).await;
        assert!(
            printed.code != 0 && printed.err.contains(told),
            "{} {line}: {told}: {printed:?}",
            self.program.display()
        );
    }

    fn file(&self, name: &str, document: &Value) {
        fs::write(self.home.path().join(name), document.to_string()).unwrap();
    }
}

fn widget(name: &str, size: u64) -> Value {
    json!({
        "apiVersion": "example.io/v1",
        "kind": "Widget",
        "metadata": { "name": name, "namespace": "n", "labels": { "app": "web" } },
        "spec": { "size": size },
    })
}

#[tokio::test]
#[ignore = "needs kubectl"]
async fn kubectl_of_every_version_works_on_objects() {
    for program in kubectls() {
        let replicas = Replicas::with_widgets().await;
        let server = format!("http://{}", replicas.kube[0]);
        let kubectl = Kubectl::new(&program, &["--server", &server]);
        kubectl.prints("version", "v1.33.0-synod-").await;
        kubectl.prints("api-resources", "widgets").await;
        kubectl.prints("api-versions", "example.io/v1").await;
        kubectl.prints("explain lease.spec", "holderIdentity").await;
        kubectl.file("a.json", &widget("a", 1));
        kubectl
            .prints("create -f a.json", "widget.example.io/a created")
            .await;
        looked_at(&kubectl).await;
        changed(&kubectl).await;
        let mut bad = widget("bad", 1);
        bad["metadata"]["bogus"] = json!(1);
        kubectl.file("bad.json", &bad);
        kubectl.fails("create -f bad.json", "bogus").await;
        kubectl.prints("delete widget a -n n", "deleted").await;
        kubectl.fails("get widget a -n n", "NotFound").await;
    }
}

/// Looks at the widget `a` in every way.
async fn looked_at(kubectl: &Kubectl) {
    for (line, told) in [
        ("get widgets -n n", "NAME"),
        ("get widgets -A --show-labels", "app=web"),
        ("get widget a -n n -o yaml", "size: 1"),
        ("get widget a -n n -o jsonpath={.spec.size}", "1"),
        (
            "get widgets -n n -l app=web --chunk-size=1 -o name",
            "widget.example.io/a",
        ),
        ("describe widget a -n n", "Size:"),
    ] {
        kubectl.prints(line, told).await;
    }
    kubectl.fails("create -f a.json", "AlreadyExists").await;
    kubectl
        .fails("get widget b -n n", "widgets.example.io \"b\" not found")
        .await;
}

/// Changes the widget `a` in every way.
async fn changed(kubectl: &Kubectl) {
    kubectl.prints("apply -f a.json", "configured").await;
    kubectl.prints("apply -f a.json", "unchanged").await;
    kubectl.file("a.json", &widget("a", 2));
    for (line, told) in [
        ("apply -f a.json", "configured"),
        ("get widget a -n n -o jsonpath={.spec.size}", "2"),
        ("apply -f a.json --dry-run=server", "server dry run"),
        ("label widget a -n n x=y", "labeled"),
        ("annotate widget a -n n note=yes", "annotate"),
        (
            "patch widget a -n n --type=merge -p {\"spec\":{\"size\":3}}",
            "patched",
        ),
        (
            "wait widget/a -n n --for=jsonpath={.spec.size}=3 --timeout=5s",
            "condition met",
        ),
    ] {
        kubectl.prints(line, told).await;
    }
    kubectl
        .fails("label widget a -n n z=y --resource-version=1", "Conflict")
        .await;
    kubectl.file("a.json", &widget("a", 4));
    kubectl.prints("replace -f a.json", "replaced").await;
}

#[tokio::test]
#[ignore = "needs kubectl"]
async fn kubectl_applies_on_the_side_of_the_server() {
    for program in kubectls() {
        let replicas = Replicas::with_widgets().await;
        let server = format!("http://{}", replicas.kube[0]);
        let kubectl = Kubectl::new(&program, &["--server", &server]);
        let size = async |told: &str| {
            kubectl
                .prints("get widget a -n n -o jsonpath={.spec.size}", told)
                .await;
        };
        kubectl.file("a.json", &widget("a", 1));
        // On its own side first: then it takes over what it managed so.
        kubectl.prints("apply -f a.json", "created").await;
        kubectl.file("a.json", &widget("a", 2));
        kubectl
            .prints("apply --server-side -f a.json", "serverside-applied")
            .await;
        size("2").await;
        kubectl
            .prints(
                "patch widget a -n n --type=merge -p {\"spec\":{\"size\":3}}",
                "patched",
            )
            .await;
        kubectl.file("a.json", &widget("a", 4));
        let conflict = "Apply failed with 1 conflict: conflict with \"kubectl-patch\" using example.io/v1: .spec.size";
        kubectl
            .fails("apply --server-side -f a.json", conflict)
            .await;
        size("3").await;
        kubectl
            .prints(
                "apply --server-side --force-conflicts -f a.json",
                "serverside-applied",
            )
            .await;
        size("4").await;
        kubectl
            .prints(
                "get widget a -n n -o yaml --show-managed-fields",
                "operation: Apply",
            )
            .await;
        let hidden = kubectl.prints("get widget a -n n -o yaml", "size: 4").await;
        assert!(!hidden.contains("synod.io/managed-fields"), "{hidden}");
    }
}

#[tokio::test]
#[ignore = "needs kubectl"]
async fn kubectl_watches_while_another_writes() {
    for program in kubectls() {
        let replicas = Replicas::with_widgets().await;
        let server = format!("http://{}", replicas.kube[0]);
        let kubectl = Kubectl::new(&program, &["--server", &server]);
        let api = Api::of(&replicas);
        api.post(crate::api::WIDGETS, &crate::api::widget("a", 1))
            .await;
        let mut watching = kubectl
            .command("get widgets -n n -w --output-watch-events")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
        let mut next = async |told: &str| {
            let line = timeout(PATIENCE, lines.next_line())
                .await
                .unwrap()
                .unwrap()
                .unwrap();
            assert!(
                line.starts_with(told),
                "{}: {told}: {line}",
                program.display()
            );
        };
        next("EVENT").await;
        next("ADDED").await;
        api.patch(
            &format!("{}/a", crate::api::WIDGETS),
            "merge",
            &json!({"spec": {"size": 2}}),
        )
        .await;
        next("MODIFIED").await;
        api.delete(&format!("{}/a", crate::api::WIDGETS), &Value::Null)
            .await;
        next("DELETED").await;
        watching.kill().await.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs kubectl"]
async fn kubectl_watches_only_what_comes_into_a_selection_and_what_leaves_it() {
    for program in kubectls() {
        let replicas = Replicas::with_widgets().await;
        let server = format!("http://{}", replicas.kube[0]);
        let kubectl = Kubectl::new(&program, &["--server", &server]);
        let api = Api::of(&replicas);
        let post = async |name: &str| {
            let mut widget = crate::api::widget(name, 1);
            widget["metadata"]["labels"] = json!({"tier": "a"});
            api.post(crate::api::WIDGETS, &widget).await;
        };
        post("before").await;
        let mut watching = kubectl
            .command("get widgets -n n -l tier=a --watch-only --output-watch-events --no-headers")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
        // It does not say when it has begun: what comes then is the first that it tells.
        let mut first = None;
        for number in 0..100 {
            post(&format!("after-{number}")).await;
            if let Ok(line) = timeout(Duration::from_millis(300), lines.next_line()).await {
                first = line.unwrap();
                break;
            }
        }
        let first = first.expect("it tells what comes");
        let name = first.split_whitespace().nth(1).unwrap().to_owned();
        assert!(
            first.starts_with("ADDED") && name.starts_with("after-"),
            "{}: {first}",
            program.display()
        );
        for (tier, event) in [("b", "DELETED"), ("a", "ADDED")] {
            let labels = json!({"metadata": {"labels": {"tier": tier}}});
            api.patch(&format!("{}/{name}", crate::api::WIDGETS), "merge", &labels)
                .await;
            let told = async {
                loop {
                    let line = lines.next_line().await.unwrap().unwrap();
                    let mut words = line.split_whitespace();
                    let told = words.next().unwrap();
                    if words.next() == Some(&name) {
                        break told.to_owned();
                    }
                }
            };
            let told = timeout(PATIENCE, told).await.unwrap();
            assert_eq!(told, event, "{}", program.display());
        }
        watching.kill().await.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs kubectl"]
async fn kubectl_shows_and_takes_leases() {
    for program in kubectls() {
        let replicas = Replicas::one().await;
        let server = format!("http://{}", replicas.kube[0]);
        let kubectl = Kubectl::new(&program, &["--server", &server]);
        let lease = |holder: &str, name: &str| {
            json!({
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": { "name": name, "namespace": "kube-system" },
                "spec": { "holderIdentity": holder, "leaseDurationSeconds": 3600 },
            })
        };
        kubectl.file("lease.json", &lease("x", "a"));
        kubectl.prints("create -f lease.json", "created").await;
        let shown = kubectl.prints("get leases -A", "HOLDER").await;
        assert!(shown.contains(" x "), "{shown}");
        // kubectl sends strategic merge patches for what it knows.
        kubectl
            .prints(
                "patch lease a -n kube-system -p {\"spec\":{\"holderIdentity\":null}}",
                "patched",
            )
            .await;
        kubectl.file("lease.json", &lease("y", "a"));
        kubectl.prints("replace -f lease.json", "replaced").await;
        kubectl
            .prints(
                "get lease a -n kube-system -o jsonpath={.spec.leaseTransitions}",
                "1",
            )
            .await;
        kubectl.file("lease.json", &lease("z", "a"));
        kubectl.fails("replace -f lease.json", "is held by").await;
        kubectl
            .prints("delete lease a -n kube-system", "deleted")
            .await;
        for kind in [
            "members",
            "agreements",
            "settings",
            "storageversions",
            "storageversionmigrations",
        ] {
            assert_eq!(kubectl.run(&format!("get {kind}")).await.code, 0, "{kind}");
        }
    }
}
