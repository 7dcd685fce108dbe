//! Every exception to a lint gives a reason, and ends when its cause does.
//!
//! The compiler reports an `#[expect]` that is no longer needed, but never an `#[allow]`. A test
//! that is ignored without a reason is as good as deleted.

use std::ops::Range;

use crate::finding::{Finding, assert_none_in_sources, lines};
use crate::source::Source;

#[test]
fn every_exception_says_why() {
    assert_none_in_sources(unexplained);
}

fn unexplained(source: &Source) -> Vec<Finding> {
    source
        .attributes()
        .filter_map(|attribute| {
            let message = fault(source, &attribute)?;
            Some(Finding::at(
                source.path(),
                source.line(attribute.start),
                message,
            ))
        })
        .collect()
}

fn fault(source: &Source, attribute: &Range<usize>) -> Option<&'static str> {
    let has = |word: &str| {
        attribute
            .clone()
            .any(|position| source.word(position) == word)
    };
    let is_lint_level = |level: &str| {
        attribute.clone().any(|position| {
            let is_first = position == attribute.start || source.word(position - 1) == ",";
            is_first && source.reads(position, &[level, "("])
        })
    };
    if is_lint_level("allow") {
        Some("`allow` outlives its cause: use `#[expect(…, reason = \"…\")]`")
    } else if is_lint_level("expect") && !has("reason") {
        Some("an `expect` needs a `reason`")
    } else if source.word(attribute.start) == "ignore" && !has("=") {
        Some("an ignored test says why: `#[ignore = \"…\"]`")
    } else {
        None
    }
}

#[test]
fn an_exception_without_a_reason_is_found() {
    let source = Source::read(
        "a/src/sample.rs",
        "#![allow(dead_code)]\n\
         #[cfg_attr(test, allow(dead_code))]\n\
         #[expect(dead_code)]\n\
         #[expect(dead_code, reason = \"shown\")]\n\
         #[test]\n\
         #[ignore]\n\
         fn a() { allow(b).expect(\"c\") }\n\
         #[test]\n\
         #[ignore = \"needs root\"]\n\
         fn d() {}\n",
    );
    assert_eq!(
        lines(&unexplained(&source)),
        "a/src/sample.rs:1: `allow` outlives its cause: use `#[expect(…, reason = \"…\")]`\n\
         a/src/sample.rs:2: `allow` outlives its cause: use `#[expect(…, reason = \"…\")]`\n\
         a/src/sample.rs:3: an `expect` needs a `reason`\n\
         a/src/sample.rs:6: an ignored test says why: `#[ignore = \"…\"]`"
    );
}
