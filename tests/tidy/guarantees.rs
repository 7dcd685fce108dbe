//! Every guarantee names the tests that prove it, and so does every defence of the threat model; and those tests exist.
//!
//! A guarantee is an item of a list in `GUARANTEES.md`, and a defence one of `THREAT_MODEL.md` outside of the sections that
//! say what is at stake and what is not defended. It names a test in backticks, by its crate
//! (`synod_model::agreement::tests::an_empty_set_agrees_on_nothing`) or by its file
//! (`tests/sim/partition.rs::a_minority_acknowledges_nothing`).

use std::collections::BTreeMap;

use crate::finding::{Finding, assert_none, lines};
use crate::tree::Tree;

const GUARANTEES: &str = "GUARANTEES.md";
const THREATS: &str = "THREAT_MODEL.md";

/// The sections of the threat model that name no tests.
const UNTESTED: [&str; 3] = ["## Assets", "## Boundaries", "## What is not defended"];

#[test]
fn every_guarantee_names_tests_that_exist() {
    let tree = Tree::load();
    let guarantees = tree.text(GUARANTEES).unwrap_or_default();
    assert_none(unproven(tree, GUARANTEES, guarantees));
}

#[test]
fn every_defence_names_tests_that_exist() {
    let tree = Tree::load();
    let threats = tree.text(THREATS).unwrap_or_default();
    assert!(!threats.is_empty(), "{THREATS} is missing or empty");
    assert_none(unproven(tree, THREATS, &without(threats, &UNTESTED)));
}

/// The text without the lines of these sections, each of which is left empty, so that the others keep their numbers.
fn without(text: &str, sections: &[&str]) -> String {
    let mut is_left_out = false;
    let mut kept = String::new();
    for line in text.lines() {
        if line.starts_with("## ") {
            is_left_out = sections.contains(&line);
        }
        if !is_left_out {
            kept += line;
        }
        kept.push('\n');
    }
    kept
}

fn unproven(tree: &Tree, document: &str, text: &str) -> Vec<Finding> {
    let tests = tests_by_file(tree);
    let mut findings = Vec::new();
    for (line, item) in items(text) {
        let named: Vec<&str> = code_spans(&item)
            .filter(|span| is_test_name(span))
            .collect();
        if named.is_empty() {
            findings.push(Finding::at(document, line, "this names no test"));
        }
        for name in named.into_iter().filter(|name| !exists(name, &tests)) {
            findings.push(Finding::at(
                document,
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
        "synod_kube" => "service/kube/",
        "synod_machine" => "service/machine/",
        "synod_model" => "service/model/",
        "synod_policy" => "service/policy/",
        "synod_proto" => "proto/",
        "synod_server" => "service/server/",
        "synod_store" => "service/store/",
        "synod_tls" => "service/tls/",
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
        lines(&unproven(&tree, GUARANTEES, tree.text(GUARANTEES).unwrap())),
        "GUARANTEES.md:4: there is no test `tests/sim/read.rs::a_read_is_late`\n\
         GUARANTEES.md:7: this names no test"
    );
}

#[test]
fn sections_that_name_no_tests_are_left_out_and_the_others_keep_their_lines() {
    let text = "## Assets\n- One.\n## Defended\n- Two.\n";
    assert_eq!(items(&without(text, &UNTESTED)), [(4, "Two.".to_owned())]);
}
