//! Checks that each RPC of the protocol, each reason of an error, each function of the client, and each element of the
//! case format has a case. `coverage.toml` lists what has none, with the reason and the test that covers it.

mod functions;
mod used;

use std::collections::BTreeSet;

use prost::Message as _;
use prost_types::FileDescriptorSet;
use synod_client::ErrorKind;
use toml::{Table, Value};

use crate::document::{KINDS, groups};
use crate::matching::MATCHERS;
use used::Used;

/// The content of `coverage.toml`.
struct Listed(Table);

impl Listed {
    fn read() -> Self {
        let path = synod_tests::checkout().join("tests/conformance/coverage.toml");
        let text = std::fs::read_to_string(path).expect("the list can be read");
        Self(text.parse().expect("the list is TOML"))
    }

    /// One table of it, by name.
    fn part(&self, name: &str) -> Table {
        let part = self.0.get(name).and_then(Value::as_table);
        part.unwrap_or_else(|| panic!("coverage.toml has no [{name}]"))
            .clone()
    }
}

/// Every name of `wanted` that is neither in `used` nor an exception; and every exception that is needless or faulty.
fn uncovered(
    wanted: &BTreeSet<String>,
    used: &BTreeSet<String>,
    exceptions: &Table,
) -> Vec<String> {
    let mut found: Vec<String> = wanted
        .iter()
        .filter(|name| !used.contains(*name) && !exceptions.contains_key(*name))
        .map(|name| format!("{name} has no case"))
        .collect();
    for (name, exception) in exceptions {
        if !wanted.contains(name) {
            found.push(format!(
                "the exception {name} is about nothing that there is"
            ));
        } else if used.contains(name) {
            found.push(format!("{name} has a case, so it is no exception"));
        } else if let Some(fault) = fault_of(exception) {
            found.push(format!("the exception {name}: {fault}"));
        }
    }
    found
}

/// What is wrong with an exception. It must have a reason, and name an existing test, as `path::name`, or an existing
/// case, as `group: sentence`.
fn fault_of(exception: &Value) -> Option<String> {
    let text = |key: &str| exception.get(key).and_then(Value::as_str);
    if text("why").is_none_or(str::is_empty) {
        return Some("it does not say why".to_owned());
    }
    if let Some(case) = text("case") {
        let mut groups = groups().into_iter();
        let is_there = groups.any(|group| {
            let mut cases = group.cases.iter();
            cases.any(|one| format!("{}: {}", group.name, one.name) == case)
        });
        return (!is_there).then(|| format!("there is no case \"{case}\""));
    }
    let Some((path, name)) = text("test").and_then(|test| test.split_once("::")) else {
        return Some("it names neither a case nor a test".to_owned());
    };
    let source = std::fs::read_to_string(synod_tests::checkout().join(path));
    let is_there = source.is_ok_and(|source| source.contains(&format!("fn {name}()")));
    (!is_there).then(|| format!("there is no test {name} in {path}"))
}

fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// All methods of the public protocol.
fn methods() -> BTreeSet<String> {
    let set = FileDescriptorSet::decode(synod_proto::FILE_DESCRIPTOR_SET);
    let set = set.expect("the descriptors are a message");
    let mut methods = BTreeSet::new();
    for file in &set.file {
        for service in &file.service {
            for method in &service.method {
                methods.insert(format!(
                    "{}.{}/{}",
                    file.package(),
                    service.name(),
                    method.name()
                ));
            }
        }
    }
    methods
}

// Guarantee: C-01
#[test]
fn every_method_of_the_protocol_has_a_case() {
    let used = Used::of(&groups());
    let exceptions = Listed::read().part("methods");
    assert_none(&uncovered(&methods(), &used.methods, &exceptions));
}

#[test]
fn no_case_calls_a_method_that_there_is_not() {
    let used = Used::of(&groups());
    let unknown: Vec<String> = used.methods.difference(&methods()).cloned().collect();
    assert_none(&unknown);
}

// Guarantee: C-01
#[test]
fn every_reason_of_an_error_has_a_case() {
    let used = Used::of(&groups());
    let reasons = ErrorKind::ALL.map(|kind| kind.reason().to_owned());
    let exceptions = Listed::read().part("reasons");
    assert_none(&uncovered(&reasons.into(), &used.reasons, &exceptions));
}

#[test]
fn every_kind_of_step_and_every_matcher_is_used() {
    let used = Used::of(&groups());
    let none = Table::new();
    let kinds = KINDS.map(str::to_owned).into();
    assert_none(&uncovered(&kinds, &used.kinds, &none));
    let matchers = MATCHERS.map(str::to_owned).into();
    assert_none(&uncovered(&matchers, &used.matchers, &none));
}

#[test]
fn every_function_that_the_readme_lists_is_used() {
    let used = Used::of(&groups());
    let path = synod_tests::checkout().join("tests/conformance/README.md");
    let readme = std::fs::read_to_string(path).expect("the format is described");
    let listed = used::listed_functions(&readme);
    assert!(listed.contains("lock.release") && listed.contains("permit.check"));
    let exceptions = Table::new();
    assert_none(&uncovered(&listed, &used.functions, &exceptions));
    let unlisted: Vec<String> = used.functions.difference(&listed).cloned().collect();
    assert_none(&unlisted);
}

// Guarantee: C-01
#[test]
fn every_function_of_the_client_is_held_by_a_case() {
    let used = Used::of(&groups());
    let listed = Listed::read().part("functions");
    let mut found = Vec::new();
    let mut named = BTreeSet::new();
    for (kind, functions) in &listed {
        for (name, proof) in functions.as_table().into_iter().flatten() {
            let function = format!("{kind}::{name}");
            let fault = match proof.as_str() {
                Some(proof) if used.has(proof) => None,
                Some(proof) => Some(format!("no case uses {proof}")),
                None => fault_of(proof),
            };
            found.extend(fault.map(|fault| format!("{function}: {fault}")));
            named.insert(function);
        }
    }
    let there = functions::of_handles();
    assert!(there.contains("Client::join") && there.contains("Permit::check"));
    for function in there.difference(&named) {
        found.push(format!(
            "{function} is not in coverage.toml, with what holds it"
        ));
    }
    for function in named.difference(&there) {
        found.push(format!(
            "{function} is in coverage.toml and not in the client"
        ));
    }
    assert_none(&found);
}

#[test]
fn what_has_no_case_and_no_good_reason_is_found() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let exceptions: Table = r#"
        b = { why = "it is like that", test = "tests/conformance/coverage.rs::what_has_no_case_and_no_good_reason_is_found" }
        c = { why = "it has a case", case = "sessions: no such case" }
        d = { why = "" }
        e = { why = "nobody knows it", test = "tests/conformance/coverage.rs::not_there" }
    "#
    .parse()
    .expect("it is TOML");
    let wanted = names(&["a", "b", "c", "d", "used"]);
    let found = uncovered(&wanted, &names(&["used"]), &exceptions);
    for (place, name) in ["a", "c", "d", "e"].into_iter().enumerate() {
        assert!(found[place].contains(name), "{found:?}");
    }
    assert_eq!(found.len(), 4, "{found:?}");
}

/// The programs that run the cases in other languages.
const RUNNERS: [(&str, &str); 2] = [
    ("python", "bindings/python/tests/test_conformance.py"),
    ("node", "bindings/node/test/conformance.test.mjs"),
];

#[test]
fn every_language_runs_what_must_hold_and_what_must_fail() {
    let root = synod_tests::checkout();
    let mut found = Vec::new();
    for (language, runner) in RUNNERS {
        if !root.join("bindings").join(language).is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(root.join(runner)).unwrap_or_default();
        for word in ["conformance", "yaml", "failing"] {
            if !text.contains(word) {
                found.push(format!("{runner} says nothing of `{word}`"));
            }
        }
    }
    assert_none(&found);
}
