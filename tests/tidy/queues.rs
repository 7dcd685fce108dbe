//! Every queue is bounded, so that a slow reader costs its writers time and never memory.

use crate::finding::{Finding, assert_none_in_sources, lines};
use crate::references::references;
use crate::source::Source;

/// Clippy bans the calls; this rule also finds paths in macros, and functions passed uncalled.
const UNBOUNDED: [&str; 6] = [
    "async_channel::unbounded",
    "crossbeam_channel::unbounded",
    "flume::unbounded",
    "futures::channel::mpsc::unbounded",
    "std::sync::mpsc::channel",
    "tokio::sync::mpsc::unbounded_channel",
];

#[test]
fn every_queue_is_bounded() {
    assert_none_in_sources(unbounded);
}

fn unbounded(source: &Source) -> Vec<Finding> {
    references(source)
        .iter()
        .filter_map(|reference| {
            let path = UNBOUNDED.iter().find(|path| reference.is(path))?;
            let message =
                format!("`{path}` has no bound: use one that has, from the table of limits");
            Some(Finding::at(
                source.path(),
                source.line(reference.position),
                message,
            ))
        })
        .collect()
}

#[test]
fn an_unbounded_queue_is_found() {
    let source = Source::read(
        "a/src/sample.rs",
        "use std::sync::mpsc;\n\
         use tokio::sync::mpsc::{channel, unbounded_channel};\n\
         fn f() {\n\
         \x20   mpsc::sync_channel(1);\n\
         \x20   mpsc::channel();\n\
         }\n",
    );
    assert_eq!(
        lines(&unbounded(&source)),
        "a/src/sample.rs:2: `tokio::sync::mpsc::unbounded_channel` has no bound: \
         use one that has, from the table of limits\n\
         a/src/sample.rs:5: `std::sync::mpsc::channel` has no bound: \
         use one that has, from the table of limits"
    );
}
