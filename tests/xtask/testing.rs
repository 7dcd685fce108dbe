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
const SHORT: [&str; 12] = [
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
    "yaml",
];

/// The build of all that the tests run: programs, tests, and the libraries that other languages load.
const BUILD: &str = "cargo build --locked --workspace --lib --bins --tests --examples";

/// Builds the whole workspace at once, so that every step has the same features and nothing is built twice, and then tests
/// it. The programs are built first, because tests start replicas as processes.
///
/// Tests that wait for replicas leave most of a machine to those that compute: they run beside each other.
pub(crate) fn test() -> Vec<Step> {
    let mut steps = vec![Step::new("build", BUILD).or_stop()];
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
        .needing(Tool::Etcd)
        .needing(Tool::Valgrind)
        .needing(Tool::Ip)
        .needing(Tool::Age)
        .needing(Tool::Promtool)
}

/// The clients of other languages, with tests of their own. They load what the workspace's build has made; what is published is
/// built by `package`.
fn languages() -> [Step; 2] {
    let step = |name: &str, library: &str, line: &str| {
        let library = tools::target_folder().join("debug").join(library);
        Step::new(name, line)
            .with("SYNOD_LIBRARY", library.display().to_string())
            .with("SYNOD_BINARY", program())
            .beside(Lane::Patient)
    };
    [
        step(
            "python",
            "lib_synod.so",
            "python3 bindings/python/ci.py setup build types pytest docs",
        ),
        step("node", "libsynod_node.so", "node bindings/node/ci.mjs"),
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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::process::Command;

    use super::*;
    use crate::commands::DEMO_BUILD;

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

    /// Each unit of each crate of others that cargo would build: its features, its profile and the rest that tells it from other
    /// units of the crate.
    fn external_units(line: &str) -> BTreeMap<String, BTreeSet<String>> {
        let output = Command::new(env!("CARGO"))
            .args(line.split_whitespace().skip(1))
            .args(["--unit-graph", "-Zunstable-options"])
            .env("RUSTC_BOOTSTRAP", "1")
            .current_dir(synod_tests::checkout())
            .output()
            .expect("cargo runs");
        let graph: serde_json::Value =
            serde_json::from_slice(&output.stdout).expect("cargo answers with JSON");
        let mut units: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for unit in graph["units"].as_array().expect("there are units") {
            let package = unit["pkg_id"].as_str().expect("it has a package");
            let mut profile = unit["profile"].clone();
            // The profile of tests is that of programs under another name.
            profile["name"] = serde_json::Value::Null;
            let parts = [
                &unit["features"],
                &unit["mode"],
                &unit["target"]["name"],
                &profile,
            ];
            if package.starts_with("registry") {
                let parts = parts.map(ToString::to_string).join(" ");
                units.entry(package.to_owned()).or_default().insert(parts);
            }
        }
        units
    }

    #[test]
    fn the_tests_compile_no_external_crate_again_after_the_demo() {
        let before = external_units(DEMO_BUILD);
        assert!(before.len() > 100, "{} crates", before.len());
        for line in [BUILD, "cargo test --locked --workspace --doc"] {
            let again: Vec<String> = external_units(line)
                .into_iter()
                .filter(|(package, units)| {
                    let known = before.get(package);
                    known.is_some_and(|known| !units.is_subset(known))
                })
                .map(|(package, _)| package)
                // Macros are built with it, and the house rules need the lines that it can tell besides.
                .filter(|package| !package.contains("#proc-macro2@"))
                .collect();
            assert_eq!(again, Vec::<String>::new(), "{line}");
        }
    }
}
