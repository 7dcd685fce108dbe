//! Every `select!` polls its arms in the order in which they are written.
//!
//! Without `biased;` tokio starts at a random arm: a failing seed cannot be replayed, and an arm that must win (a
//! shutdown, a deadline) wins only sometimes.

use crate::finding::{Finding, assert_none_in_sources, lines};
use crate::source::Source;

#[test]
fn every_select_is_biased() {
    assert_none_in_sources(unbiased);
}

fn unbiased(source: &Source) -> Vec<Finding> {
    source
        .positions()
        .filter(|&position| source.reads(position, &["select", "!"]))
        .filter(|&position| !source.reads(position + 3, &["biased", ";"]))
        .map(|position| {
            let message = "a `select!` starts with `biased;`, or a seed cannot be replayed";
            Finding::at(source.path(), source.line(position), message)
        })
        .collect()
}

#[test]
fn a_select_that_starts_at_random_is_found() {
    let source = Source::read(
        "a/src/sample.rs",
        "async fn f() {\n\
         \x20   tokio::select! { biased; _ = a => {} }\n\
         \x20   tokio::select! { _ = a => {} }\n\
         \x20   select!(_ = a => {})\n\
         }\n",
    );
    let message = "a `select!` starts with `biased;`, or a seed cannot be replayed";
    assert_eq!(
        lines(&unbiased(&source)),
        format!("a/src/sample.rs:3: {message}\na/src/sample.rs:4: {message}")
    );
}
