//! No test sleeps: it waits for an event, or moves a simulated clock.
//!
//! A sleep that is long enough on one machine is too short on a busy one, and too long on all others.

use crate::finding::{Finding, assert_none_in_sources, lines};
use crate::references::references;
use crate::source::Source;

const SLEEPS: [&str; 4] = [
    "std::thread::sleep",
    "std::thread::park_timeout",
    "tokio::time::sleep",
    "tokio::time::sleep_until",
];

/// Folders where a sleep moves the simulated clock of a replica, or is not in a test.
const ELSEWHERE: [&str; 2] = ["tests/sim/", "tests/bench/"];

/// A stand-in for a store, whose writes take their time and land late, and what paces its load.
const STORE: &str = "tests/rotation/";

/// Files without a paused clock of their own that are used by tests whose clock is paused.
const PAUSED: [&str; 1] = ["sdk/tests/replicas/cluster.rs"];

#[test]
fn no_test_sleeps() {
    assert_none_in_sources(sleeps);
}

fn sleeps(source: &Source) -> Vec<Finding> {
    // In a file that pauses its clock, `tokio::time::sleep` moves that clock.
    let is_paused = PAUSED.contains(&source.path())
        || source
            .positions()
            .any(|position| source.word(position) == "start_paused");
    if ELSEWHERE
        .iter()
        .chain([&STORE])
        .any(|folder| source.path().starts_with(folder))
    {
        return Vec::new();
    }
    references(source)
        .iter()
        .filter(|reference| source.is_test(reference.position))
        .filter(|reference| !(is_paused && reference.is_within("tokio")))
        .filter_map(|reference| {
            let path = SLEEPS.iter().find(|path| reference.is(path))?;
            let message =
                format!("`{path}` in a test: wait for the event, or pause the clock and move it");
            Some(Finding::at(
                source.path(),
                source.line(reference.position),
                message,
            ))
        })
        .collect()
}

#[test]
fn a_test_that_sleeps_is_found() {
    let text = "use std::thread;\n\
                fn product() { thread::sleep(x) }\n\
                #[test]\n\
                fn waits() { thread::sleep(x); tokio::time::sleep(x) }\n";
    let found =
        "`std::thread::sleep` in a test: wait for the event, or pause the clock and move it";
    let tokio = found.replace("std::thread", "tokio::time");
    assert_eq!(
        lines(&sleeps(&Source::read("a/src/sample.rs", text))),
        format!("a/src/sample.rs:4: {found}\na/src/sample.rs:4: {tokio}")
    );
    assert_eq!(sleeps(&Source::read("tests/sim/sample.rs", text)), []);
}

#[test]
fn a_paused_clock_may_be_moved() {
    let text =
        "#[tokio::test(start_paused = true)]\nasync fn f() { tokio::time::sleep(x).await }\n";
    assert_eq!(sleeps(&Source::read("a/src/sample.rs", text)), []);
}
