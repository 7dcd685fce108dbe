// Runs all cases of a file beside this one, and compares the failures with DEVIATIONS.md. Crates include this file in
// their tests by path, so that there is one list of deviations and one way to count.
//
// A case that would pass with any expectation proves nothing. So the check of a case must read all of its fields,
// except those listed as prose, and must fail when any of its expectations is changed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Index;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;

/// Runs every case of a file.
///
/// Every list in the file is a list of cases, except those at or below a path of `prose`. `count` is the number of
/// cases, so that none can get lost. `check` is given the name of the case's list, such as `derived`, and the case.
pub(crate) fn run(
    file: &str,
    count: usize,
    prose: &[&str],
    check: impl Fn(&str, &Case<'_>) -> Result<(), String>,
) {
    let root = document(file);
    let mut faults = Vec::new();
    let mut deviations = deviations_of(file);
    let mut ran = 0;
    for (name, section, value) in cases(&root, prose) {
        ran += 1;
        let case = Case::of(value);
        match (check(&section, &case), deviations.remove(&name)) {
            (Ok(()), None) => {
                let unread = case.unread(listed(file)).into_iter();
                let unread = unread.map(|field| format!("{name}: nobody reads its `{field}`"));
                faults.extend(unread);
                let idle = idle_expectations(listed(file), &section, value, &check).into_iter();
                faults.extend(idle.map(|fault| format!("{name}: {fault}")));
            }
            (Err(_), Some(_)) => {}
            (Ok(()), Some(_)) => faults.push(format!("{name}: passes but is a listed deviation")),
            (Err(fault), None) => faults.push(format!("{name}: {fault}")),
        }
    }
    faults.extend(
        deviations
            .keys()
            .map(|name| format!("{name}: a deviation, but no such case")),
    );
    if ran != count {
        faults.push(format!(
            "the number of its cases has changed: {ran}, not {count}"
        ));
    }
    assert!(faults.is_empty(), "{file}:\n{}", faults.join("\n"));
}

/// A case that remembers which of its fields were read.
pub(crate) struct Case<'a> {
    value: &'a Value,
    read: RefCell<BTreeSet<String>>,
}

impl<'a> Case<'a> {
    pub(crate) fn of(value: &'a Value) -> Self {
        Self {
            value,
            read: RefCell::default(),
        }
    }

    /// The case as a whole, for one that is not an object.
    pub(crate) fn whole(&self) -> &'a Value {
        self.value
    }

    fn unread(&self, file: &File) -> Vec<&'a str> {
        let read = self.read.borrow();
        let fields = self.whole().as_object().into_iter().flatten();
        let fields = fields.map(|(field, _)| field.as_str());
        fields
            .filter(|field| !PROSE.contains(field) && !file.prose.contains(field))
            .filter(|field| !read.contains(*field))
            .collect()
    }
}

/// A value with fields: a case, or an object in it.
pub(crate) trait Fields {
    fn field(&self, name: &str) -> Option<&Value>;
}

impl Fields for Value {
    fn field(&self, name: &str) -> Option<&Value> {
        self.get(name)
    }
}

impl Fields for Case<'_> {
    fn field(&self, name: &str) -> Option<&Value> {
        self.read.borrow_mut().insert(name.to_owned());
        self.value.get(name)
    }
}

impl Index<&str> for Case<'_> {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        self.field(name).unwrap_or(&Value::Null)
    }
}

/// Expectations that the check ignores: it still passes after they are changed.
fn idle_expectations(
    file: &File,
    section: &str,
    case: &Value,
    check: &impl Fn(&str, &Case<'_>) -> Result<(), String>,
) -> Vec<String> {
    let passes = |section: &str, case: &Value| {
        let checked = catch_unwind(AssertUnwindSafe(|| check(section, &Case::of(case))));
        matches!(checked, Ok(Ok(())))
    };
    if let Some(opposite) = opposite(section) {
        let idle = passes(&opposite, case);
        return idle
            .then(|| format!("passes as {opposite} too"))
            .into_iter()
            .collect();
    }
    let changed = changed_cases(file, case);
    if changed.is_empty() {
        return vec!["nothing in it is an expectation that could fail".to_owned()];
    }
    let idle = changed
        .into_iter()
        .filter(|(_, changed)| passes(section, changed));
    idle.map(|(what, _)| format!("passes with another {what}"))
        .collect()
}

/// The name of the list of bad cases for one of good cases, and the other way round.
fn opposite(section: &str) -> Option<String> {
    let swapped = |from: &str, to: &str| {
        Some(format!(
            "{}.{to}",
            section.strip_suffix(from)?.trim_end_matches('.')
        ))
    };
    swapped(".good", "bad").or_else(|| swapped(".bad", "good"))
}

/// Copies of the case, each with one expected value changed; a case that is a sentence is changed at its end.
fn changed_cases(file: &File, case: &Value) -> Vec<(String, Value)> {
    let Some(fields) = case.as_object() else {
        let sentence = case
            .as_str()
            .map(|text| ("end".to_owned(), Value::from(format!("{text}?"))));
        return sentence.into_iter().collect();
    };
    let mut places = Vec::new();
    for field in fields
        .keys()
        .filter(|field| file.expects.contains(&field.as_str()))
    {
        leaves(&case[field], format!("/{field}"), &mut places);
    }
    let change = |place: String| {
        let mut changed = case.clone();
        let leaf = changed.pointer_mut(&place)?;
        *leaf = another(leaf);
        Some((place, changed))
    };
    places.into_iter().filter_map(change).collect()
}

/// The places of all values that contain no others.
fn leaves(value: &Value, place: String, into: &mut Vec<String>) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            for (i, item) in items.iter().enumerate() {
                leaves(item, format!("{place}/{i}"), into);
            }
        }
        Value::Object(fields) if !fields.is_empty() => {
            for (field, value) in fields {
                leaves(value, format!("{place}/{field}"), into);
            }
        }
        _ => into.push(place),
    }
}

/// Another value, of the same kind if possible.
fn another(value: &Value) -> Value {
    match value {
        Value::Null => Value::from("something"),
        Value::Bool(value) => Value::from(!value),
        Value::Number(value) => match value.as_i64() {
            Some(value) => Value::from(value + 1),
            None => Value::Null,
        },
        Value::String(text) => Value::from(format!("{text}?")),
        Value::Array(_) => Value::from(vec!["something"]),
        Value::Object(_) => Value::Null,
    }
}

/// The content of a file.
pub(crate) fn document(file: &str) -> Value {
    serde_json::from_str(listed(file).text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn listed(file: &str) -> &'static File {
    let Some(found) = FILES.iter().find(|listed| listed.name == file) else {
        panic!("{file} is not in the list of files in tests/vectors/suite.rs");
    };
    found
}

/// The cases of a file by name, each with the name of its list. A list inside a case is part of the case.
fn cases<'a>(root: &'a Value, prose: &[&str]) -> Vec<(String, String, &'a Value)> {
    let mut found = Vec::new();
    let mut names = BTreeSet::new();
    let mut open = vec![(String::new(), root)];
    while let Some((path, value)) = open.pop() {
        if prose.iter().any(|excluded| path == *excluded) {
            continue;
        }
        if let Value::Object(fields) = value {
            let below = |key: &String| {
                if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                }
            };
            open.extend(fields.iter().rev().map(|(key, value)| (below(key), value)));
        }
        for (i, case) in value.as_array().into_iter().flatten().enumerate() {
            let given = case
                .get("name")
                .or_else(|| case.get("request"))
                .and_then(Value::as_str);
            let place = format!("{path}[{i}]");
            let name = given.filter(|name| names.insert((*name).to_owned()));
            found.push((name.map_or(place, str::to_owned), path.clone(), case));
        }
    }
    found
}

/// The listed deviations of a file: case and reason.
fn deviations_of(file: &str) -> BTreeMap<String, String> {
    let rows = include_str!("DEVIATIONS.md")
        .lines()
        .filter(|line| line.starts_with("| "));
    let mut deviations = BTreeMap::new();
    for row in rows.skip(1) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [of, case, reason] = cells[..] else {
            panic!("DEVIATIONS.md: not file, case and reason: {row}");
        };
        assert!(
            !reason.is_empty(),
            "DEVIATIONS.md: a deviation without a reason: {row}"
        );
        assert!(
            FILES.iter().any(|file| file.name == of),
            "DEVIATIONS.md: no file {of}"
        );
        if of == file {
            let twice = deviations.insert(case.to_owned(), reason.to_owned());
            assert!(twice.is_none(), "DEVIATIONS.md: a deviation twice: {row}");
        }
    }
    deviations
}

#[test]
fn every_listed_deviation_names_a_case_that_exists() {
    for File { name: file, .. } in FILES {
        let root = document(file);
        let names: BTreeSet<String> = cases(&root, &[])
            .into_iter()
            .map(|(name, ..)| name)
            .collect();
        for case in deviations_of(file).keys() {
            assert!(
                names.contains(case),
                "DEVIATIONS.md: no case {case:?} in {file}"
            );
        }
    }
}

#[test]
fn every_file_says_where_its_cases_come_from() {
    for File { name: file, .. } in FILES {
        assert!(document(file)["source"].is_string(), "{file} has no source");
    }
}

#[test]
#[should_panic(expected = "cases[0]: wrong")]
fn a_deviation_that_is_not_listed_fails() {
    run("apiserver_id.json", 4, &["negative"], |_, _| {
        Err("wrong".to_owned())
    });
}

#[test]
#[should_panic(expected = "passes but is a listed deviation")]
fn a_listed_deviation_that_passes_fails() {
    run(
        "storage_version_gc.json",
        4,
        &["derived_must_not_copy"],
        |_, _| Ok(()),
    );
}

#[test]
#[should_panic(expected = "creates new: passes with another /renamed")]
fn a_case_that_passes_whatever_it_says_fails() {
    run("controller_revision_create.json", 3, &[], |_, case| {
        let _ = [
            "existing",
            "renamed",
            "collisionCountAfter",
            "thenCreateSameAgain",
        ]
        .map(|field| &case[field]);
        Ok(())
    });
}

#[test]
#[should_panic(expected = "creates new: nobody reads its `existing`")]
fn a_field_that_nobody_reads_fails() {
    run("controller_revision_create.json", 3, &[], |_, _| Ok(()));
}

#[test]
#[should_panic(expected = "passes as dns1123label.bad too")]
fn a_case_that_is_good_and_bad_fails() {
    run("dns_names.json", 120, &[], |_, _| Ok(()));
}

#[test]
#[should_panic(expected = "rule_order[9]: passes with another end")]
fn a_sentence_that_may_end_otherwise_fails() {
    run("write_barrier.json", 17, &[], |_, _| Ok(()));
}

#[test]
#[should_panic(expected = "the number of its cases has changed")]
fn a_case_that_was_lost_from_its_file_fails() {
    run("apiserver_id.json", 5, &["negative"], |_, _| Ok(()));
}

/// A file of cases.
struct File {
    name: &'static str,
    text: &'static str,
    /// The fields of its cases that are expectations.
    expects: &'static [&'static str],
    /// The fields for readers only: how Kubernetes gets there, and what Synod does not have.
    prose: &'static [&'static str],
}

/// The fields for readers only, in every file.
const PROSE: [&str; 4] = ["name", "note", "origin", "seenIn"];

macro_rules! file {
    ($name:literal, $expects:expr, $prose:expr) => {
        File {
            name: $name,
            text: include_str!($name),
            expects: &$expects,
            prose: &$prose,
        }
    };
}

const FILES: &[File] = &[
    file!(
        "api_error_texts.json",
        ["reason", "message", "limitBytes"],
        ["code", "when", "causes"]
    ),
    file!("apiserver_id.json", ["id"], []),
    file!("compare_resource_version.json", ["result"], []),
    file!(
        "controller_revision_create.json",
        [
            "existing",
            "renamed",
            "collisionCountAfter",
            "thenCreateSameAgain"
        ],
        []
    ),
    file!("controller_revision_find_equal.json", ["want", "equal"], []),
    file!(
        "controller_revision_hash.json",
        ["fnv1", "suffix", "sum32", "hash"],
        ["fnv1a"]
    ),
    file!("controller_revision_list.json", ["want"], []),
    file!(
        "controller_revision_name.json",
        ["expected", "expectedLength"],
        []
    ),
    file!(
        "controller_revision_next_and_truncate.json",
        ["next", "result", "deleted"],
        []
    ),
    file!("controller_revision_sort.json", ["want"], []),
    file!(
        "controller_revision_update_delete_adopt_release.json",
        ["error", "writes", "message", "result"],
        []
    ),
    file!("dns_names.json", [], []),
    file!("identity_lease_gc.json", ["deleted"], []),
    file!("lease_candidate_compare.json", ["result", "want"], []),
    file!(
        "local_update_storage_version.json",
        ["expected", "lastTransitionTimeChanges"],
        []
    ),
    file!("migratable_resources.json", [], []),
    file!("migration_status_index.json", ["index", "hits"], []),
    file!(
        "migrator_retry_table.json",
        [
            "retry",
            "migrationFails",
            "refreshFirst",
            "honourRetryAfter",
            "action"
        ],
        ["text"]
    ),
    file!("printer_rows.json", ["cells"], []),
    file!(
        "report_retry_budget.json",
        ["expectedError", "expectedClientCalls"],
        []
    ),
    file!(
        "resource_info_sort.json",
        ["expected", "expectedReportedAs", "expectedObjectName"],
        []
    ),
    file!("safe_encode.json", ["expected"], []),
    file!(
        "set_common_encoding_version.json",
        ["expected", "lastTransitionTimeChanges"],
        []
    ),
    file!(
        "storage_version_gc.json",
        ["expectedBefore", "expected"],
        ["commonEncodingVersion"]
    ),
    file!(
        "storage_version_hash.json",
        ["hash"],
        ["servedGroupVersion", "resource", "storageDiffersFromServed"]
    ),
    file!("svm_runner.json", ["expect"], []),
    file!("svm_sync.json", ["error", "writes", "conditions"], []),
    file!("svm_validate_create.json", ["error"], []),
    file!("svm_validate_status_update.json", ["errorContains"], []),
    file!("svm_validate_update.json", ["errorContains"], []),
    file!(
        "trigger_controller.json",
        ["createdMigrations", "stateAfter", "expectedName"],
        ["stateDeletedFirst", "failedGroups"]
    ),
    file!("validate_common_version.json", ["errorContains"], []),
    file!(
        "validate_controller_revision_create.json",
        ["valid"],
        ["case"]
    ),
    file!(
        "validate_controller_revision_update.json",
        ["valid"],
        ["case"]
    ),
    file!(
        "validate_server_storage_version.json",
        ["errorContains"],
        []
    ),
    file!(
        "validate_storage_version_conditions.json",
        ["errorContains"],
        []
    ),
    file!("validate_storage_version_name.json", ["error"], []),
    file!("write_barrier.json", ["beforeReport", "afterReport"], []),
];
