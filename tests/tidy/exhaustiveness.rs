//! Where a forgotten variant would be a wrong answer, no `match` over an enum has a wildcard.
//!
//! A lint of Clippy finds the wildcards; this rule finds a crate that does not turn the lint on.

use crate::finding::{Finding, assert_none_in_sources, lines};
use crate::source::Source;

const LINT: [&str; 7] = [
    "deny",
    "(",
    "clippy",
    "::",
    "wildcard_enum_match_arm",
    ")",
    "]",
];

/// The crates of the rules, of the state, and of the table of errors.
const EXHAUSTIVE: [&str; 3] = [
    "proto/src/lib.rs",
    "service/machine/src/lib.rs",
    "service/model/src/lib.rs",
];

#[test]
fn the_crates_that_decide_match_every_variant() {
    assert_none_in_sources(forgetful);
}

fn forgetful(source: &Source) -> Vec<Finding> {
    let asks = source
        .positions()
        .any(|position| source.reads(position, &LINT));
    let message = "it lacks `#![deny(clippy::wildcard_enum_match_arm)]`";
    if EXHAUSTIVE.contains(&source.path()) && !asks {
        vec![Finding::about(source.path(), message)]
    } else {
        Vec::new()
    }
}

#[test]
fn a_crate_that_forgot_to_ask_is_found() {
    let asking = "//! Promises.\n#![deny(clippy::wildcard_enum_match_arm)]\nmod a;\n";
    assert_eq!(forgetful(&Source::read("proto/src/lib.rs", asking)), []);
    let silent = forgetful(&Source::read("proto/src/lib.rs", "//! Promises.\nmod a;\n"));
    assert_eq!(
        lines(&silent),
        "proto/src/lib.rs: it lacks `#![deny(clippy::wildcard_enum_match_arm)]`"
    );
    assert_eq!(forgetful(&Source::read("sdk/src/lib.rs", "mod a;\n")), []);
}
