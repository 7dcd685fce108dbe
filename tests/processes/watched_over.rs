//! The alert rules and the dashboard under `deploy/`, held against what a replica really shows.

use std::array;
use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::process::Command;

use serde_json::Value;
use synod_server::limits::{BOUNDS, CONNECTIONS};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::process::Process;
use crate::program::synod;
use crate::waiting::{eventually, within};
use synod_tests::free_address;

const RULES: &str = "deploy/prometheus/synod.rules.yaml";
const DASHBOARD: &str = "deploy/grafana/synod.json";

/// What the names of metrics begin with. Recorded series have a colon behind it.
const PREFIXES: [&str; 4] = ["etcd_", "grpc_", "process_", "synod_"];

// Guarantee: I-01, TM-37
#[tokio::test]
async fn alerts_and_the_dashboard_ask_for_what_replicas_show() {
    let folder = TempDir::new().expect("there is a folder for temporary files");
    // Certificates have series only where there are some. Without those of clients metrics are shown to everybody.
    let certs = folder.path().join("certs");
    let made = Command::new(synod())
        .args(["certs", "dev", "--out"])
        .arg(&certs)
        .output();
    assert!(made.expect("the program starts").status.success());
    let addresses: [[SocketAddr; 3]; 3] = array::from_fn(|_| array::from_fn(|_| free_address()));
    let peers = (1..).zip(&addresses);
    let peers: Vec<String> = peers
        .map(|(id, [_, peer, _])| format!("{id}={peer}"))
        .collect();
    let mut replicas = Vec::new();
    for (id, [client, peer, metrics]) in (1..).zip(&addresses) {
        let data = folder.path().join(format!("data-{id}"));
        let arguments = [
            "serve".to_owned(),
            format!("--replica-id={id}"),
            format!("--data-dir={}", data.display()),
            format!("--replicas={}", peers.join(",")),
            format!("--listen-client={client}"),
            format!("--listen-peer={peer}"),
            format!("--listen-metrics={metrics}"),
            format!("--peer-cert-file={}/peer.pem", certs.display()),
            format!("--peer-key-file={}/peer-key.pem", certs.display()),
            format!("--peer-trusted-ca-file={}/peer-ca.pem", certs.display()),
        ];
        let log = folder.path().join(format!("log-{id}"));
        replicas.push(Process::start("a replica", &arguments, &log));
    }
    // Calls have series from the first one on, and so have the ways to the other replicas.
    eventually("an answer", async || {
        let mut status = Command::new(synod());
        status
            .arg("status")
            .arg(format!("--endpoints={}", addresses[0][0]));
        let output = status.output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success().then_some(()).ok_or(said)
    })
    .await;
    for path in [RULES, DASHBOARD] {
        let asked = asked(&text(path));
        assert!(asked.len() > 20, "{path}: {asked:?}");
        eventually(path, async || {
            let mut unknown = asked.clone();
            for [_, _, metrics] in addresses {
                let shown = series(&shown_at(metrics).await);
                unknown.retain(|name| !shown.contains(name));
            }
            if unknown.is_empty() {
                return Ok(());
            }
            Err(format!("no replica shows {unknown:?}"))
        })
        .await;
    }
    for replica in replicas {
        assert!(replica.terminate().await.success());
    }
}

/// The metrics that are shown at this address.
pub(crate) async fn shown_at(address: SocketAddr) -> String {
    let request = b"GET /metrics HTTP/1.1\r\nhost: synod\r\nconnection: close\r\n\r\n";
    let mut answer = String::new();
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(request).await?;
        stream.read_to_string(&mut answer).await
    };
    within("the metrics", exchange)
        .await
        .expect("metrics are served");
    answer
}

// Guarantee: I-01, TM-37
#[test]
fn alerts_are_raised_by_what_they_are_about_and_by_nothing_else() {
    let tested = Command::new("promtool")
        .args(["test", "rules", "synod.test.yaml"])
        .current_dir(synod_tests::checkout().join("deploy/prometheus"))
        .output();
    match tested {
        Ok(output) => assert!(
            output.status.success(),
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => eprintln!("SKIPPED: the alerts were not tried out: {error}"),
    }
}

#[test]
fn every_alert_is_tried_out() {
    let tests = text("deploy/prometheus/synod.test.yaml");
    for alert in alerts() {
        let name = alert["alert"].as_str().expect("an alert has a name");
        let tried =
            tests.contains(&format!("\"{name}\"")) || tests.contains(&format!(": {name}\n"));
        assert!(tried, "no test raises {name}");
    }
}

// Guarantee: I-01
#[test]
fn alerts_about_bounds_have_the_bounds_of_the_program() {
    let mut found = 0;
    for alert in alerts() {
        let expression = alert["expr"].as_str().expect("an alert has an expression");
        for part in expression.split(" or ") {
            let Some((metric, bound)) = part.split_once("> 0.8 * ") else {
                continue;
            };
            let Ok(bound) = bound.trim().parse::<u64>() else {
                continue;
            };
            let metric = metric.trim().split('{').next().unwrap_or_default();
            let is_known = BOUNDS
                .iter()
                .chain(CONNECTIONS)
                .any(|known| known.metric == Some(metric) && known.value == bound);
            assert!(is_known, "{metric} has no bound of {bound}");
            found += 1;
        }
    }
    assert!(found >= 7, "{found} bounds were compared");
}

#[test]
fn the_operator_of_prometheus_gets_the_same_rules() {
    let read = |path| -> Value { synod_yaml::from_str(&text(path)).expect("it is YAML") };
    let ours = read(RULES);
    let theirs = read("deploy/kubernetes/monitoring/rules.yaml");
    assert_eq!(theirs["spec"], ours, "copy the groups of {RULES}");
}

/// The alerts of all groups.
fn alerts() -> Vec<Value> {
    let rules: Value = synod_yaml::from_str(&text(RULES)).expect("the rules are YAML");
    let groups = rules["groups"].as_array().expect("rules are in groups");
    let rules = groups
        .iter()
        .flat_map(|group| group["rules"].as_array().expect("a group has rules"));
    rules
        .filter(|rule| rule.get("alert").is_some())
        .cloned()
        .collect()
}

/// The names of all series that metrics in the OpenMetrics format have.
fn series(metrics: &str) -> BTreeSet<String> {
    let types = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    types
        .flat_map(|(name, kind)| {
            let endings: &[&str] = match kind {
                "counter" => &["_total"],
                "histogram" => &["_bucket", "_count", "_sum"],
                _ => &[""],
            };
            endings.iter().map(move |ending| format!("{name}{ending}"))
        })
        .collect()
}

/// The names of metrics in a text.
fn asked(text: &str) -> BTreeSet<String> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_:".contains(letter);
    text.split(|letter| !is_part(letter))
        .filter(|word| PREFIXES.iter().any(|prefix| word.starts_with(prefix)))
        .filter(|word| !["grpc_code", "grpc_method", "grpc_service"].contains(word))
        .map(str::to_owned)
        .collect()
}

fn text(path: &str) -> String {
    fs::read_to_string(synod_tests::checkout().join(path)).expect("the file is in the checkout")
}
