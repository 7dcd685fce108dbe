//! Unmodified clients of Kubernetes at work on a replica: client-go, and Python's `kubernetes`.
//!
//! `cargo xtask test kube-clients` builds or installs them and runs these tests; without them they say so.

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
    let steps = ["informer", "apply", "many", "leases", "election", "review"];
    works(Command::new(&program), &steps).await;

    let replicas = Replicas::start(1, certificates::secured).await;
    let mut client = Command::new(program);
    client.arg(format!("https://{}", replicas.kube[0]));
    client.args(
        ["ca.pem", "admin.pem", "admin.key"].map(|name| replicas.directory.path().join(name)),
    );
    does(client, &["leases", "election", "review"]).await;
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
