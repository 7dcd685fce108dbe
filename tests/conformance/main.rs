//! Runs the conformance cases through `synod-bound`, the common base of all languages' clients, and checks that there
//! is a case for everything. `README.md` says how cases are written.
//!
//! - `document`, `values`, `matching`: read the files and compare results.
//! - `run`, `handles`, `objects`, `workers`: run the steps.
//! - `replicas`: three processes of the program `synod`; `process`, `program`, `ports` and `waiting` are shared with
//!   the tests of processes.
//! - `coverage`: checks that every RPC, error reason and function has a case. `recipes`: runs every example. `topics`: reads
//!   the texts of topics.
//!
//! Two variables change what is run: `SYNOD_BINARY=path` is the program to test; without it cargo builds one.
//! `SYNOD_CASES=text` selects the cases whose file name or sentence contains the text.

mod caches;
mod coverage;
mod document;
mod handles;
mod matching;
mod objects;
mod recipes;
mod replicas;
mod run;
mod topics;
mod values;
mod workers;

#[path = "../processes/process.rs"]
#[expect(
    dead_code,
    reason = "these processes are only killed; those of the tests of processes are also asked to end, and read"
)]
mod process;
#[path = "../processes/program.rs"]
mod program;
#[path = "../processes/waiting.rs"]
#[expect(dead_code, reason = "nothing here is repeated for a time or in rounds")]
mod waiting;

use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use futures::stream::{self, StreamExt as _};
use serde_json::json;

use document::{Case, cases, documents, groups};
use replicas::Replicas;
use run::Run;

/// The number of cases that run at the same time on shared replicas.
const AT_ONCE: usize = 8;

// Guarantee: C-01
#[tokio::test(flavor = "multi_thread")]
async fn every_case_holds() {
    let wanted = std::env::var("SYNOD_CASES").unwrap_or_default();
    let named = groups().into_iter().flat_map(|group| {
        let name = group.name;
        let cases = group.cases.into_iter();
        cases.map(move |case| (format!("{name}: {}", case.name), case))
    });
    let chosen: Vec<(String, Case)> = named.filter(|(name, _)| name.contains(&wanted)).collect();
    assert!(!chosen.is_empty(), "no case is called like \"{wanted}\"");
    let count = chosen.len();
    let (alone, sharing): (Vec<_>, Vec<_>) =
        chosen.into_iter().partition(|(_, case)| case.is_alone);

    let shared = Replicas::start().await;
    let sharing = stream::iter(sharing).map(|(name, case)| {
        let endpoints = shared.endpoints();
        async move { (name, Run::of(&case, endpoints, None).await) }
    });
    let mut results: Vec<_> = sharing.buffer_unordered(AT_ONCE).collect().await;
    drop(shared);
    for (name, case) in alone {
        let mut replicas = Replicas::start().await;
        let endpoints = replicas.endpoints();
        let result = Run::of(&case, endpoints, Some(&mut replicas)).await;
        results.push((name, result));
    }

    let faults = results.into_iter().filter_map(|(name, result)| {
        let fault = result.err()?;
        Some(format!("{name}\n  {fault}"))
    });
    let faults: Vec<String> = faults.collect();
    assert!(
        faults.is_empty(),
        "{} of {count} cases do not hold:\n\n{}",
        faults.len(),
        faults.join("\n\n")
    );
}

// Guarantee: C-01
#[tokio::test(flavor = "multi_thread")]
async fn every_case_that_must_fail_fails() {
    let replicas = Replicas::start().await;
    let mut passed = Vec::new();
    for (group, document) in documents("tests/conformance/failing") {
        let listed = document["cases"].as_array().cloned().unwrap_or_default();
        assert!(!listed.is_empty(), "{group} has no case");
        for one in listed {
            let name = format!("{group}: {}", one["case"]);
            // A case that cannot be read counts as failed.
            for case in cases(json!({"cases": [one]})).unwrap_or_default() {
                let run = Run::of(&case, replicas.endpoints(), None);
                // So does a case that panics.
                let result = AssertUnwindSafe(run).catch_unwind().await;
                if let Ok(Ok(())) = result {
                    passed.push(name.clone());
                }
            }
        }
    }
    assert!(
        passed.is_empty(),
        "these passed, and must not:\n{}",
        passed.join("\n")
    );
}
