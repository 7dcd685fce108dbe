//! A `lib.rs` is a table of contents: the crate's contract on top, then its modules and exports.

use crate::finding::{Finding, assert_none_in_sources, lines};
use crate::source::Source;

const LOGIC: [&str; 7] = ["enum", "fn", "impl", "static", "struct", "trait", "union"];

#[test]
fn every_lib_is_a_table_of_contents() {
    assert_none_in_sources(misplaced);
}

fn misplaced(source: &Source) -> Vec<Finding> {
    if !source.path().ends_with("/lib.rs") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    if !source
        .comments()
        .first()
        .is_some_and(|comment| comment.text.starts_with("//!"))
    {
        findings.push(Finding::about(
            source.path(),
            "a `lib.rs` starts with the contract of its crate",
        ));
    }
    let mut position = 0;
    while position < source.positions().end {
        if LOGIC.contains(&source.word(position)) && source.is_identifier(position + 1) {
            let message = format!(
                "a `{}` in `lib.rs`: give it a module",
                source.word(position)
            );
            findings.push(Finding::at(source.path(), source.line(position), message));
        }
        // Attributes and arguments of macros hold no items and are skipped; the braces of modules are searched.
        let is_opaque = matches!(source.word(position), "(" | "[")
            || source.word(position) == "{" && position > 0 && source.word(position - 1) == ")";
        position = if is_opaque {
            source.closing(position)
        } else {
            position
        } + 1;
    }
    findings
}

#[test]
fn logic_in_a_lib_is_found() {
    let contents = "//! Promises.\n#[path = \"x.rs\"]\nmod a;\npub use a::B;\npub mod v1 { include!(\"c\"); }\n";
    assert_eq!(misplaced(&Source::read("a/src/lib.rs", contents)), []);
    let logic = "mod a;\nmod b {\n    pub fn c() {}\n}\nstruct D { e: u8 }\n";
    assert_eq!(
        lines(&misplaced(&Source::read("a/src/lib.rs", logic))),
        "a/src/lib.rs: a `lib.rs` starts with the contract of its crate\n\
         a/src/lib.rs:3: a `fn` in `lib.rs`: give it a module\n\
         a/src/lib.rs:5: a `struct` in `lib.rs`: give it a module"
    );
    assert_eq!(misplaced(&Source::read("a/src/d.rs", logic)), []);
}
