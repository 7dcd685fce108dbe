//! Runs the programs of `docs/guides/rust.md`, which shows each file of them as it is.

use std::process::Stdio;

use tokio::process::Command;

use super::{program, run};
use crate::program::synod;
use crate::replicas::Replicas;
use crate::waiting::within;

const GUIDE: &str = "docs/guides/rust.md";

/// The examples of the guide, with their files.
pub(super) const PROGRAMS: [(&str, &[&str]); 4] = [
    ("configuration", &["main.rs", "codec.rs"]),
    ("election", &["main.rs"]),
    ("gate", &["main.rs", "handler.rs"]),
    ("lock", &["main.rs"]),
];

/// The most lines of a file that the guide shows.
const LINES_MAX: usize = 25;

#[test]
fn the_guide_shows_each_program_as_it_is() {
    let folder = synod_tests::checkout();
    let guide = std::fs::read_to_string(folder.join(GUIDE)).expect("there is a guide");
    let mut shown = 0;
    for (name, files) in PROGRAMS {
        for file in files {
            let path = format!("examples/{name}/{file}");
            let text = std::fs::read_to_string(folder.join(&path)).expect("there is the file");
            // The comment at the top is for whoever reads the file alone.
            let (_, text) = text.split_once("\n\n").expect("a file has a comment");
            let lines = text.lines().count();
            assert!(lines <= LINES_MAX, "{path} has {lines} lines");
            let block = format!("```rust\n{text}```\n");
            assert!(
                guide.contains(&block),
                "{GUIDE} does not show {path} as it is"
            );
            assert!(
                guide.contains(&format!("(`{path}`)")),
                "{GUIDE} does not name {path}"
            );
            shown += 1;
        }
    }
    assert_eq!(
        guide.matches("```rust\n").count(),
        shown,
        "{GUIDE} shows more"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_program_of_the_guide_does_what_it_is_there_for() {
    let replicas = Replicas::start().await;
    let endpoints = replicas.endpoints();
    let held = run("lock", &endpoints).await;
    assert!(held.starts_with("held with fencing token "), "{held}");
    let led = run("election", &endpoints).await;
    assert!(led.ends_with(" leads\n"), "{led}");
    declare_settings(&endpoints).await;
    run("configuration", &endpoints).await;
    let stored = written_through_the_gate(&endpoints).await;
    assert_eq!(stored, "stored in example.io/v1");
}

/// Gives the command of the guide by which its collection is declared.
async fn declare_settings(endpoints: &[String]) {
    let guide = std::fs::read_to_string(synod_tests::checkout().join(GUIDE));
    let guide = guide.expect("there is a guide");
    let command = guide.lines().find_map(|line| line.strip_prefix("synod "));
    let words = command.expect("the guide has a command").split_whitespace();
    let mut command = Command::new(synod());
    command
        .args(words)
        .args(["--endpoints", &endpoints.join(",")]);
    let declared = within("the declaration", command.output()).await;
    let declared = declared.expect("the program can be run");
    assert!(declared.status.success(), "{declared:?}");
}

/// The answer to a write that is sent to the server behind the gate, once it listens.
async fn written_through_the_gate(endpoints: &[String]) -> String {
    let address = synod_tests::free_address().to_string();
    let mut server = Command::new(program("gate"));
    server
        .arg(&address)
        .args(endpoints)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let server = server.spawn().expect("an example can be run");
    let mut write = Command::new("curl");
    write
        .args([
            "--silent",
            "--show-error",
            "--fail",
            "--retry",
            "40",
            "--retry-delay",
            "1",
        ])
        .args(["--retry-all-errors", "--request", "POST"])
        .arg(format!("http://{address}/apis/example.io/v1/widgets"));
    let answer = within("an answer of the server", write.output()).await;
    drop(server);
    let answer = answer.expect("there is curl");
    assert!(answer.status.success(), "{answer:?}");
    String::from_utf8_lossy(&answer.stdout).into_owned()
}
