//! Every guarantee names the tests that prove it, and those tests exist.
//!
//! A guarantee is an item of a list in `GUARANTEES.md`. It names a test in backticks, by its crate
//! (`synod_model::agreement::tests::an_empty_set_agrees_on_nothing`) or by its file
//! (`tests/sim/partition.rs::a_minority_acknowledges_nothing`).

use std::collections::BTreeMap;

use crate::finding::{Finding, assert_none, lines};
use crate::tree::Tree;

const DOCUMENT: &str = "GUARANTEES.md";

#[test]
fn every_guarantee_names_tests_that_exist() {
    assert_none(unproven(Tree::load()));
}

fn unproven(tree: &Tree) -> Vec<Finding> {
    let tests = tests_by_file(tree);
    let mut findings = Vec::new();
    for (line, item) in items(tree.text(DOCUMENT).unwrap_or_default()) {
        let named: Vec<&str> = code_spans(&item)
            .filter(|span| is_test_name(span))
            .collect();
        if named.is_empty() {
            findings.push(Finding::at(DOCUMENT, line, "this guarantee names no test"));
        }
        for name in named.into_iter().filter(|name| !exists(name, &tests)) {
            findings.push(Finding::at(
                DOCUMENT,
                line,
                format!("there is no test `{name}`"),
            ));
        }
    }
    findings
}

/// The names of the test functions of each file.
fn tests_by_file(tree: &Tree) -> BTreeMap<String, Vec<String>> {
    tree.sources()
        .iter()
        .map(|source| {
            let names = source
                .test_functions()
                .map(|name| source.word(name).to_owned());
            (source.path().to_owned(), names.collect())
        })
        .collect()
}

fn exists(name: &str, tests: &BTreeMap<String, Vec<String>>) -> bool {
    let Some((place, function)) = name.rsplit_once("::") else {
        return false;
    };
    let folder = match place.split("::").next().unwrap_or_default() {
        "synod" => "service/synod/",
        "synod_client" => "sdk/",
        "synod_demo" => "service/demo/",
        "synod_machine" => "service/machine/",
        "synod_model" => "service/model/",
        "synod_proto" => "proto/",
        "synod_server" => "service/server/",
        "synod_store" => "service/store/",
        file => file,
    };
    tests
        .iter()
        .any(|(path, names)| path.starts_with(folder) && names.iter().any(|name| name == function))
}

/// The items of all lists, each with the line where it begins.
fn items(text: &str) -> Vec<(usize, String)> {
    let mut items: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (number, line) in (1..).zip(text.lines()) {
        let item = line.trim_start().strip_prefix("- ");
        // An item continues over the indented lines below it.
        is_open = item.is_some() || is_open && line.starts_with(' ');
        match (item, items.last_mut()) {
            (Some(item), _) => items.push((number, item.to_owned())),
            (None, Some((_, last))) if is_open => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => {}
        }
    }
    items
}

fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Whether it is a path that ends with a function; types and modules of one word are not tests.
fn is_test_name(span: &str) -> bool {
    let function = span.rsplit_once("::").map_or("", |(_, function)| function);
    function.contains('_')
        && function
            .chars()
            .all(|letter| letter.is_lowercase() || letter.is_numeric() || letter == '_')
}

#[test]
fn a_guarantee_without_a_test_is_found() {
    let tree = Tree::of(&[
        (
            "GUARANTEES.md",
            "# Guarantees\n\n\
             - Nothing is lost: `synod_store::wal::tests::a_torn_tail_is_cut`.\n\
             - Reads of `synod_model::Revision` are exact,\n\
             \x20 everywhere: `tests/sim/read.rs::a_read_is_exact`\n\
             \x20 and `tests/sim/read.rs::a_read_is_late`.\n\
             - Trust me.\n\n\
             A paragraph.\n",
        ),
        (
            "service/store/src/wal/tests.rs",
            "#[test]\nfn a_torn_tail_is_cut() {}\n",
        ),
        (
            "tests/sim/read.rs",
            "#[test]\nfn a_read_is_exact() {}\nfn a_read_is_late() {}\n",
        ),
    ]);
    assert_eq!(
        lines(&unproven(&tree)),
        "GUARANTEES.md:4: there is no test `tests/sim/read.rs::a_read_is_late`\n\
         GUARANTEES.md:7: this guarantee names no test"
    );
}
