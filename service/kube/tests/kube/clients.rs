//! Unmodified clients of Kubernetes at work on a replica: client-go, kube-rs, Python's `kubernetes`, and that of JavaScript.
//!
//! `cargo xtask test kube-clients` builds or installs them and runs these tests; without them they say so.

use std::ffi::OsString;
use std::process::Stdio;

use tokio::process::Command;
use tokio::time::timeout;

use crate::certificates;
use crate::replicas::{PATIENCE, Replicas};

/// Runs a client on a replica with widgets, and expects it to do these steps.
async fn works(mut client: Command, steps: &[&str]) {
    let replicas = Replicas::with_widgets().await;
    client.arg(format!("http://{}", replicas.kube[0]));
    does(client, steps).await;
}

/// Expects a client to do these steps.
async fn does(mut client: Command, steps: &[&str]) {
    client
        .env_remove("KUBECONFIG")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let patience = PATIENCE * u32::try_from(steps.len()).unwrap();
    let output = timeout(patience, client.output()).await.unwrap().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let expected: Vec<String> = steps.iter().map(|step| format!("{step}: ok")).collect();
    assert_eq!(
        told.lines().collect::<Vec<_>>(),
        expected,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success());
}

#[tokio::test]
#[ignore = "needs client-go"]
async fn clients_of_go_work_on_a_replica() {
    let Some(program) = std::env::var_os("SYNOD_KUBE_CLIENT_GO") else {
        eprintln!(
            "SKIPPED: SYNOD_KUBE_CLIENT_GO names no program, so nothing was tested with client-go"
        );
        return;
    };
    let steps = [
        "informer", "resync", "expired", "apply", "many", "leases", "election", "review",
    ];
    let replicas = Replicas::with_widgets().await;
    replicas.keep(1_000).await;
    let mut client = Command::new(&program);
    client.arg(format!("http://{}", replicas.kube[0]));
    does(client, &steps).await;

    let replicas = Replicas::start(1, certificates::secured).await;
    let mut client = Command::new(program);
    client.args(road(&replicas));
    does(client, &["leases", "election", "review"]).await;
}

/// The address of a replica behind TLS, and the files of an admin.
fn road(replicas: &Replicas) -> Vec<OsString> {
    let files = ["ca.pem", "admin.pem", "admin.key"];
    let files = files.map(|name| replicas.directory.path().join(name).into_os_string());
    let address = format!("https://{}", replicas.kube[0]);
    std::iter::once(address.into()).chain(files).collect()
}

/// Runs a client on a replica with widgets that have a status, over plain HTTP and over TLS, and expects it to do these steps.
async fn works_in_both_ways(client: impl Fn() -> Command, steps: &[&str]) {
    let replicas = Replicas::with_status().await;
    let mut plain = client();
    plain.arg(format!("http://{}", replicas.kube[0]));
    does(plain, steps).await;

    let replicas = Replicas::secured_with_status().await;
    let mut secured = client();
    secured.args(road(&replicas));
    does(secured, steps).await;
}

#[tokio::test]
#[ignore = "needs kube-rs"]
async fn clients_of_rust_work_on_a_replica() {
    let Some(program) = std::env::var_os("SYNOD_KUBE_CLIENT_RUST") else {
        eprintln!(
            "SKIPPED: SYNOD_KUBE_CLIENT_RUST names no program, so nothing was tested with kube-rs"
        );
        return;
    };
    let steps = [
        "discovery",
        "reflector",
        "apply",
        "objects",
        "controller",
        "election",
        "races",
        "reviews",
    ];
    works_in_both_ways(|| Command::new(&program), &steps).await;
}

#[tokio::test]
#[ignore = "needs JavaScript's client of Kubernetes"]
async fn clients_of_javascript_work_on_a_replica() {
    let Some(script) = std::env::var_os("SYNOD_KUBE_CLIENT_JAVASCRIPT") else {
        eprintln!(
            "SKIPPED: SYNOD_KUBE_CLIENT_JAVASCRIPT names no script, so nothing was tested with the client of JavaScript"
        );
        return;
    };
    let client = || {
        let mut client = Command::new("node");
        client.arg(&script);
        client
    };
    let steps = [
        "objects", "applied", "watched", "informed", "leases", "reviews",
    ];
    works_in_both_ways(client, &steps).await;
}

#[tokio::test]
#[ignore = "needs Python's client of Kubernetes"]
async fn clients_of_python_work_on_a_replica() {
    let Some(packages) = std::env::var_os("SYNOD_KUBE_CLIENT_PYTHON") else {
        eprintln!(
            "SKIPPED: SYNOD_KUBE_CLIENT_PYTHON names no packages, so nothing was tested with the client of Python"
        );
        return;
    };
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/kube/python/client.py"
    );
    let mut client = Command::new("python3");
    client.arg(script).env("PYTHONPATH", packages);
    works(client, &["objects", "applied", "leases", "reviews"]).await;
}
