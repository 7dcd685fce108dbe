//! The steps of `cargo xtask test`.

use std::path::PathBuf;

use crate::lanes::Lane;
use crate::step::Step;
use crate::tools::{self, Tool};

/// Test programs that wait for replicas, and fail if those are too late, the longest first.
const PROMPT: [&str; 3] = ["processes", "program", "server"];

/// Test programs that wait for replicas for as long as they have to.
const PATIENT: [&str; 2] = ["replicas", "demo"];

/// Test programs that compute all their time, the longest first.
const COMPUTING: [&str; 7] = [
    "sim",
    "year",
    "naive",
    "truth",
    "scenarios",
    "histories",
    "leases",
];

/// The other test programs, none of which takes a minute.
const SHORT: [&str; 11] = [
    "bound",
    "compat",
    "conformance",
    "costs",
    "counted",
    "etcd",
    "judgement",
    "kube",
    "policy",
    "tidy",
    "vectors",
];

/// Builds the whole workspace at once, so that every step has the same features and nothing is built twice, and then tests
/// it. The programs are built first, because tests start replicas as processes.
///
/// Tests that wait for replicas leave most of a machine to those that compute: they run beside each other.
pub(crate) fn test() -> Vec<Step> {
    let mut steps = vec![
        // First, since a target folder holds one program of a name; with the features that the workspace gives to
        // dependencies, so that only our own crates are built twice.
        Step::new(
            "older",
            "cargo build --locked --workspace --bin synod --features synod/machine-version-1",
        )
        .or_stop(),
        Step::new("keep", "cp")
            .saying(&[program(), older()])
            .or_stop(),
        Step::new(
            "build",
            "cargo build --locked --workspace --bins --tests --examples",
        )
        .or_stop(),
    ];
    let each = |name: &str| rust(name, &format!("--test {name}"));
    steps.extend(PROMPT.map(|name| each(name).beside(Lane::Prompt)));
    steps.push(rust("units", "--lib --bins").beside(Lane::Prompt));
    let short = SHORT.map(|name| format!("--test {name}")).join(" ");
    steps.push(rust("short", &short).beside(Lane::Prompt));
    steps.extend(PATIENT.map(|name| each(name).beside(Lane::Patient)));
    steps.extend(languages());
    steps.extend(COMPUTING.map(|name| each(name).beside(Lane::Computes)));
    steps.push(rust("examples-of-docs", "--doc").beside(Lane::Computes));
    steps.extend([
        kube_api_server(),
        kubectl(),
        kube_clients(),
        kube_informers().on_demand(),
    ]);
    steps
}

/// Test programs of Rust, which `selection` names.
fn rust(name: &str, selection: &str) -> Step {
    let line = format!("cargo test --locked --workspace --no-fail-fast {selection}");
    // The programs of the steps before: built alone, their dependencies would have other features.
    Step::new(name, &line)
        .with("SYNOD_BINARY", program())
        .with("SYNOD_OLDER_BINARY", older())
        .needing(Tool::Etcd)
        .needing(Tool::Valgrind)
        .needing(Tool::Ip)
        .needing(Tool::Age)
        .needing(Tool::Promtool)
}

/// The clients of other languages, with tests of their own.
fn languages() -> [Step; 2] {
    let step = |name: &str, line: &str| {
        // What they load is built as the tests are: optimized, all dependencies would be built once more, which takes minutes.
        Step::new(name, line)
            .with("SYNOD_BINDINGS_PROFILE", "dev")
            .with("SYNOD_BINARY", program())
            .with("SYNOD_OLDER_BINARY", older())
            .beside(Lane::Patient)
    };
    [
        step("python", "python3 bindings/python/ci.py"),
        step("node", "node bindings/node/ci.mjs"),
    ]
}

/// Tests against Kubernetes' own API server, which takes minutes to build for the first time.
fn kube_api_server() -> Step {
    let server = tools::kube_api_server().display().to_string();
    let line = "cargo test --locked --workspace --test program -- --ignored kubernetes";
    Step::new("kube", line)
        .with("SYNOD_KUBE_APISERVER", server)
        .only_with([Tool::Go, Tool::Etcd])
        .needing(Tool::KubeApiServer)
        .on_demand()
}

/// Every kubectl of the machine, against the Kubernetes API that replicas serve.
fn kubectl() -> Step {
    let line = "cargo test --locked --workspace --test kube -- --ignored";
    Step::new("kubectl", line).on_demand()
}

/// Clients of Kubernetes that are no kubectl, against the same.
fn kube_clients() -> Step {
    let line = "cargo test --locked --workspace --test kube -- --ignored clients";
    let with = |step: Step, (variable, path): (&'static str, PathBuf)| {
        step.with(variable, path.display().to_string())
    };
    let programs = [
        ("SYNOD_KUBE_CLIENT_GO", tools::kube_client_of_go()),
        (
            "SYNOD_KUBE_CLIENT_JAVASCRIPT",
            tools::kube_client_of_javascript(),
        ),
        ("SYNOD_KUBE_CLIENT_PYTHON", tools::kube_client_of_python()),
        ("SYNOD_KUBE_CLIENT_RUST", tools::kube_client_of_rust()),
        ("SYNOD_KUBE_MEMBER", tools::kube_member()),
    ];
    let step = Step::new("kube-clients", line)
        .only_with([Tool::Go])
        .needing(Tool::KubeClientOfGo)
        .needing(Tool::KubeMember)
        .needing(Tool::KubeClientOfPython)
        .needing(Tool::KubeClientOfJavaScript)
        .needing(Tool::KubeClientOfRust)
        .on_demand();
    programs.into_iter().fold(step, with)
}

/// Informers of client-go through the death of a leader, a few as they are.
pub(crate) fn kube_informers() -> Step {
    let client = tools::kube_client_of_go().display().to_string();
    processes("kube-informers", "informers_lose_nothing")
        .with("SYNOD_KUBE_CLIENT_GO", client)
        .only_with([Tool::Go])
        .needing(Tool::KubeClientOfGo)
}

/// A test of replicas as processes, which says what it has found.
pub(crate) fn processes(name: &str, test: &str) -> Step {
    let line = format!("cargo test --locked --workspace --test processes -- --nocapture {test}");
    Step::new(name, &line)
}

/// The path of the program that the tests run.
fn program() -> String {
    let program = tools::target_folder().join("debug/synod");
    program.display().to_string()
}

/// The path of the program as it was at machine version 1.
fn older() -> String {
    let program = tools::target_folder().join("debug/synod-machine-1");
    program.display().to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::process::Command;

    use super::*;

    #[test]
    fn every_test_program_of_the_workspace_is_run_once() {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--locked", "--no-deps", "--format-version", "1"])
            .current_dir(synod_tests::checkout())
            .output()
            .expect("cargo runs");
        let workspace: serde_json::Value =
            serde_json::from_slice(&output.stdout).expect("cargo answers with JSON");
        let packages = workspace["packages"]
            .as_array()
            .expect("there are packages");
        let targets = packages
            .iter()
            .flat_map(|package| package["targets"].as_array().expect("it has targets"));
        let there: Vec<&str> = targets
            .filter(|target| target["kind"][0] == "test")
            .map(|target| target["name"].as_str().expect("it has a name"))
            .collect();
        let run: Vec<&str> = [&PROMPT[..], &PATIENT, &COMPUTING, &SHORT].concat();
        assert_eq!(there.len(), run.len());
        assert_eq!(BTreeSet::from_iter(there), BTreeSet::from_iter(run));
    }
}
