//! Where a forgotten variant would be a wrong answer, no `match` over an enum ends with a wildcard.
//!
//! Clippy finds the wildcards; this finds the crate that forgot to ask it.

use crate::finding::{Finding, assert_none, lines};
use crate::source::Source;
use crate::tree::Tree;

const LINT: [&str; 7] = [
    "deny",
    "(",
    "clippy",
    "::",
    "wildcard_enum_match_arm",
    ")",
    "]",
];

/// The rules, the state, and the table of errors.
const EXHAUSTIVE: [&str; 3] = [
    "proto/src/lib.rs",
    "service/machine/src/lib.rs",
    "service/model/src/lib.rs",
];

#[test]
fn the_crates_that_decide_match_every_variant() {
    assert_none(
        Tree::load()
            .sources()
            .iter()
            .filter_map(forgetful)
            .collect(),
    );
}

fn forgetful(source: &Source) -> Option<Finding> {
    let asks = source
        .positions()
        .any(|position| source.reads(position, &LINT));
    let message = "it lacks `#![deny(clippy::wildcard_enum_match_arm)]`";
    (EXHAUSTIVE.contains(&source.path()) && !asks).then(|| Finding::about(source.path(), message))
}

#[test]
fn a_crate_that_forgot_to_ask_is_found() {
    let asking = "//! Promises.\n#![deny(clippy::wildcard_enum_match_arm)]\nmod a;\n";
    assert_eq!(forgetful(&Source::read("proto/src/lib.rs", asking)), None);
    let silent = forgetful(&Source::read("proto/src/lib.rs", "//! Promises.\nmod a;\n"));
    assert_eq!(
        lines(silent.as_slice()),
        "proto/src/lib.rs: it lacks `#![deny(clippy::wildcard_enum_match_arm)]`"
    );
    assert_eq!(forgetful(&Source::read("sdk/src/lib.rs", "mod a;\n")), None);
}
