//! The bindings use the reason of an error only to choose the class of the exception.
//!
//! The Rust client decides what to do about a reason, once for all languages. A binding that looks at a reason has a
//! rule or a retry of its own, which the others lack.

use synod_model::ErrorKind;

use crate::finding::{Finding, assert_none, lines};
use crate::tree::Tree;

/// The files that choose the class, and those that are generated from the protocol.
const EXCEPT: [&str; 5] = [
    "bindings/python/python/synod/_errors.py",
    "bindings/python/python/synod/_services.py",
    "bindings/python/python/synod/v1.py",
    "bindings/node/ts/base.cts",
    "bindings/node/ts/generated/",
];

/// The delivered files of the bindings; their tests and recipes may expect reasons.
const DELIVERED: [&str; 5] = [
    "bindings/bound/src/",
    "bindings/node/src/",
    "bindings/node/ts/",
    "bindings/python/src/",
    "bindings/python/python/",
];

#[test]
fn bindings_decide_nothing_by_a_reason() {
    assert_none(decided(Tree::load()));
}

fn decided(tree: &Tree) -> Vec<Finding> {
    let endings = [".rs", ".py", ".pyi", ".cts", ".mts"];
    let files = endings.iter().flat_map(|ending| tree.texts(ending));
    let files = files.filter(|(path, _)| {
        DELIVERED.iter().any(|folder| path.starts_with(folder))
            && !EXCEPT.iter().any(|place| path.starts_with(place))
    });
    let mut findings = Vec::new();
    for (path, text) in files {
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(reason) = named(line) {
                let message = format!(
                    "{reason}: a binding converts; what to do about a reason is decided in the client"
                );
                findings.push(Finding::at(path, number, message));
            }
        }
    }
    findings
}

/// The reason that a line names, as a text; or `ErrorKind` if the line imports the client's enum.
fn named(line: &str) -> Option<&'static str> {
    let reasons = ErrorKind::ALL.map(ErrorKind::reason);
    let named = |reason: &&str| {
        let quoted = ['"', '\''].map(|quote| format!("{quote}{reason}{quote}"));
        quoted.iter().any(|text| line.contains(text))
    };
    let imported = line.contains("synod_client") && line.contains("ErrorKind");
    reasons
        .into_iter()
        .find(named)
        .or_else(|| imported.then_some("ErrorKind"))
}

#[test]
fn a_binding_that_looks_at_a_reason_is_found() {
    let tree = Tree::of(&[
        (
            "bindings/python/python/synod/_retry.py",
            "try:\n    call()\nexcept SynodError as error:\n    if error.code == \"CONFLICT\":\n        call()\n",
        ),
        (
            "bindings/node/ts/again.cts",
            "if (error.code === 'DRAINING') await pause();\n",
        ),
        (
            "bindings/node/src/call.rs",
            "use synod_client::{Client, ErrorKind};\n",
        ),
        (
            "bindings/python/python/synod/_errors.py",
            "class ConflictError(SynodError):\n    code = \"CONFLICT\"\n",
        ),
        ("bindings/python/tests/test_errors.py", "x = \"CONFLICT\"\n"),
    ]);
    let why = "a binding converts; what to do about a reason is decided in the client";
    assert_eq!(
        lines(&decided(&tree)),
        format!(
            "bindings/node/src/call.rs:1: ErrorKind: {why}\n\
             bindings/python/python/synod/_retry.py:4: CONFLICT: {why}\n\
             bindings/node/ts/again.cts:1: DRAINING: {why}"
        )
    );
}
