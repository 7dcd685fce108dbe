//! Some paths may be named in some places only. Cargo enforces the direction between crates; this
//! rule enforces borders within them, and bans paths that Cargo would allow.

use crate::finding::{Finding, assert_none_in_sources, lines};
use crate::references::{Reference, references};
use crate::source::Source;

/// A path that only some places may name.
struct Border {
    path: &'static str,
    /// Files and folders, without `.rs`: `a/b` is `a/b.rs` and all of `a/b/`.
    lives_in: &'static [&'static str],
    why: &'static str,
}

const BORDERS: [Border; 6] = [
    Border {
        path: "openraft",
        lives_in: &["service/server/src/consensus"],
        why: "the library moves between alphas, and only its adapter moves with it",
    },
    Border {
        path: "tonic::Status",
        // A codec's error type is a status, as the trait that it implements demands.
        lives_in: &[
            "proto/src/codec",
            "proto/src/status",
            "sdk",
            "service/server/src/peer",
            "service/server/src/rpc",
        ],
        why: "inside, an answer that is not a success is a `Refusal`",
    },
    Border {
        path: "std::fs",
        lives_in: &[
            // What a program of another language has asked for.
            "bindings/bound/src/backup",
            "examples",
            "proto/build",
            "service/apiserver",
            "service/demo",
            "service/store/src/disk",
            "service/synod",
            // Certificates, tokens and policies are read before anything is simulated, or never; nothing reads the audit
            // log.
            "sdk/src/transport/token",
            "service/server/src/access/source",
            "service/server/src/audit/file",
            // What the system tells of the process stands in `/proc`.
            "service/server/src/metrics/process",
            "service/tls/src/pem",
        ],
        why: "the simulator stands in for the disk, and `Disk` is the only door to it",
    },
    Border {
        path: "rustix::fs",
        lives_in: &["service/demo", "service/store/src/disk", "service/synod"],
        why: "the simulator stands in for the disk, and `Disk` is the only door to it",
    },
    Border {
        path: "tokio::fs",
        lives_in: &["examples", "service/demo", "service/synod"],
        why: "the simulator stands in for the disk, and `Disk` is the only door to it",
    },
    Border {
        path: "tokio::net",
        // Metrics have a port of their own, on which no replica depends.
        lives_in: &[
            "examples",
            "sdk",
            "service/demo",
            "service/server/src/http",
            "service/server/src/seams",
            "service/synod",
        ],
        why: "the simulator stands in for the network, and the seams are the only door to it",
    },
];

/// The pure crates, and the paths that they must not name outside their tests.
const PURE: [&str; 2] = ["service/machine", "service/model"];
const IMPURE: [&str; 20] = [
    "futures",
    "hyper",
    "imbl::HashMap",
    "imbl::HashSet",
    "openraft",
    "prost",
    "rand",
    "serde",
    "std::collections::HashMap",
    "std::collections::HashSet",
    "std::env",
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
    "std::time::UNIX_EPOCH",
    "tokio",
    "tonic",
];

/// The store, and the paths that it must not name: threads and the simulator call it alike.
const STORE: &str = "service/store";
const ASYNC: [&str; 4] = ["futures", "openraft", "tokio", "tonic"];

#[test]
fn no_border_is_crossed() {
    assert_none_in_sources(crossings);
}

fn crossings(source: &Source) -> Vec<Finding> {
    // Tests of the whole product may name anything.
    if source.path().starts_with("tests/") {
        return Vec::new();
    }
    let references = references(source);
    let named = references.iter().filter_map(|reference| {
        let message = crossing(source, reference)?;
        Some(Finding::at(
            source.path(),
            source.line(reference.position),
            message,
        ))
    });
    let is_pure = PURE.iter().any(|place| is_in(source.path(), place));
    let asynchronous = source
        .positions()
        .filter(|&position| is_pure && matches!(source.word(position), "async" | "await"))
        .map(|position| {
            let message = "a pure crate waits for nothing, so it has no `async`";
            Finding::at(source.path(), source.line(position), message)
        });
    named.chain(asynchronous).collect()
}

fn crossing(source: &Source, reference: &Reference) -> Option<String> {
    let path = source.path();
    let is_product = !source.is_test(reference.position);
    let foreign = |place: &str, banned: &'static [&'static str]| {
        let banned = banned.iter().find(|banned| reference.is_within(banned));
        banned.filter(|_| is_in(path, place) && is_product)
    };
    if let Some(banned) = PURE.iter().find_map(|place| foreign(place, &IMPURE)) {
        return Some(format!(
            "`{banned}` in a pure crate: take what it gives as an argument"
        ));
    }
    if let Some(banned) = foreign(STORE, &ASYNC) {
        return Some(format!(
            "`{banned}` in the store, which is synchronous and knows no consensus"
        ));
    }
    let border = BORDERS
        .iter()
        .find(|border| reference.is_within(border.path))
        .filter(|border| is_product && !border.lives_in.iter().any(|place| is_in(path, place)))?;
    let places = border.lives_in.join(", ");
    Some(format!(
        "`{}` lives only in {places}: {}",
        border.path, border.why
    ))
}

/// Whether `path` is the file or in the folder that `place` names without `.rs`.
fn is_in(path: &str, place: &str) -> bool {
    path.strip_prefix(place)
        .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

/// The lines of the findings.
#[cfg(test)]
fn places(path: &str, text: &str) -> Vec<String> {
    let findings = lines(&crossings(&Source::read(path, text)));
    let place = |line: &str| line.split(": ").next().unwrap_or_default().to_owned();
    findings.lines().map(place).collect()
}

#[test]
fn a_crossed_border_is_found() {
    let raft = "use openraft::Raft;\n#[cfg(test)]\nuse openraft::Config;\n";
    assert_eq!(places("service/server/src/consensus.rs", raft), [""; 0]);
    assert_eq!(places("service/server/src/consensus/log.rs", raft), [""; 0]);
    assert_eq!(
        places("service/server/src/read.rs", raft),
        ["service/server/src/read.rs:1"]
    );
    let status = "use tonic::{Request, Status};\nfn f() { tonic::Status::internal(x) }\n";
    assert_eq!(places("service/server/src/rpc/watch.rs", status), [""; 0]);
    assert_eq!(places("proto/src/status/table.rs", status), [""; 0]);
    assert_eq!(
        places("service/server/src/handle.rs", status),
        [
            "service/server/src/handle.rs:1",
            "service/server/src/handle.rs:2"
        ]
    );
    let disk = "use std::fs::File;\n";
    assert_eq!(places("service/store/src/disk/real.rs", disk), [""; 0]);
    assert_eq!(
        places("service/store/src/wal.rs", disk),
        ["service/store/src/wal.rs:1"]
    );
}

#[test]
fn what_is_not_pure_is_found_in_a_pure_crate() {
    let text = "use std::{collections::{BTreeMap, HashMap}, time::{Duration, Instant}};\n\
                fn f() { rand::rng(); std::fmt::Error }\n\
                async fn g() {}\n";
    let at = |line| format!("service/machine/src/state.rs:{line}");
    assert_eq!(
        places("service/machine/src/state.rs", text),
        [at(1), at(1), at(2), at(3)]
    );
    assert_eq!(places("service/server/src/state.rs", text), [""; 0]);
}

#[test]
fn a_runtime_is_found_in_the_store() {
    let text = "use tokio::sync::mpsc;\n";
    assert_eq!(
        places("service/store/src/wal.rs", text),
        ["service/store/src/wal.rs:1"]
    );
}
