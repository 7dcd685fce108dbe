// Runs the cases of a file beside this one, all of them, and holds what fails against
// DEVIATIONS.md. Crates include this file in their tests by path, so that there is one list of
// deviations and one way to count.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Runs every case of a file.
///
/// Every list in the file is taken for cases, except those at or below a path of `prose`. `count`
/// is how many there must be, so that none gets lost from the file either. `check` is given the
/// list that the case stands in, such as `derived`, and the case.
pub(crate) fn run(
    file: &str,
    count: usize,
    prose: &[&str],
    check: impl Fn(&str, &Value) -> Result<(), String>,
) {
    let root = document(file);
    let mut faults = Vec::new();
    let mut deviations = deviations_of(file);
    let mut ran = 0;
    for (name, section, value) in cases(&root, prose) {
        ran += 1;
        match (check(&section, value), deviations.remove(&name)) {
            (Ok(()), None) | (Err(_), Some(_)) => {}
            (Ok(()), Some(_)) => faults.push(format!("{name}: passes but is a listed deviation")),
            (Err(fault), None) => faults.push(format!("{name}: {fault}")),
        }
    }
    faults.extend(
        deviations
            .keys()
            .map(|name| format!("{name}: a deviation, but no such case")),
    );
    assert!(faults.is_empty(), "{file}:\n{}", faults.join("\n"));
    assert_eq!(ran, count, "{file}: the number of its cases has changed");
}

/// What a file holds.
pub(crate) fn document(file: &str) -> Value {
    let Some((_, text)) = FILES.iter().find(|(name, _)| *name == file) else {
        panic!("{file} is not in the list of files in tests/vectors/suite.rs");
    };
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The cases of a file by name, each with its section. A list inside a case is part of the case.
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
            FILES.iter().any(|(name, _)| *name == of),
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
    for (file, _) in FILES {
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
    for (file, _) in FILES {
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
#[should_panic(expected = "the number of its cases has changed")]
fn a_case_that_was_lost_from_its_file_fails() {
    run("apiserver_id.json", 5, &["negative"], |_, _| Ok(()));
}

const FILES: &[(&str, &str)] = &[
    ("api_error_texts.json", include_str!("api_error_texts.json")),
    ("apiserver_id.json", include_str!("apiserver_id.json")),
    (
        "compare_resource_version.json",
        include_str!("compare_resource_version.json"),
    ),
    (
        "controller_revision_create.json",
        include_str!("controller_revision_create.json"),
    ),
    (
        "controller_revision_find_equal.json",
        include_str!("controller_revision_find_equal.json"),
    ),
    (
        "controller_revision_hash.json",
        include_str!("controller_revision_hash.json"),
    ),
    (
        "controller_revision_list.json",
        include_str!("controller_revision_list.json"),
    ),
    (
        "controller_revision_name.json",
        include_str!("controller_revision_name.json"),
    ),
    (
        "controller_revision_next_and_truncate.json",
        include_str!("controller_revision_next_and_truncate.json"),
    ),
    (
        "controller_revision_sort.json",
        include_str!("controller_revision_sort.json"),
    ),
    (
        "controller_revision_update_delete_adopt_release.json",
        include_str!("controller_revision_update_delete_adopt_release.json"),
    ),
    ("dns_names.json", include_str!("dns_names.json")),
    (
        "identity_lease_gc.json",
        include_str!("identity_lease_gc.json"),
    ),
    (
        "lease_candidate_compare.json",
        include_str!("lease_candidate_compare.json"),
    ),
    (
        "local_update_storage_version.json",
        include_str!("local_update_storage_version.json"),
    ),
    (
        "migratable_resources.json",
        include_str!("migratable_resources.json"),
    ),
    ("printer_rows.json", include_str!("printer_rows.json")),
    (
        "report_retry_budget.json",
        include_str!("report_retry_budget.json"),
    ),
    (
        "resource_info_sort.json",
        include_str!("resource_info_sort.json"),
    ),
    ("safe_encode.json", include_str!("safe_encode.json")),
    (
        "set_common_encoding_version.json",
        include_str!("set_common_encoding_version.json"),
    ),
    (
        "storage_version_gc.json",
        include_str!("storage_version_gc.json"),
    ),
    (
        "storage_version_hash.json",
        include_str!("storage_version_hash.json"),
    ),
    (
        "validate_common_version.json",
        include_str!("validate_common_version.json"),
    ),
    (
        "validate_controller_revision_create.json",
        include_str!("validate_controller_revision_create.json"),
    ),
    (
        "validate_controller_revision_update.json",
        include_str!("validate_controller_revision_update.json"),
    ),
    (
        "validate_server_storage_version.json",
        include_str!("validate_server_storage_version.json"),
    ),
    (
        "validate_storage_version_conditions.json",
        include_str!("validate_storage_version_conditions.json"),
    ),
    (
        "validate_storage_version_name.json",
        include_str!("validate_storage_version_name.json"),
    ),
    (
        "migration_status_index.json",
        include_str!("migration_status_index.json"),
    ),
    (
        "migrator_retry_table.json",
        include_str!("migrator_retry_table.json"),
    ),
    ("svm_runner.json", include_str!("svm_runner.json")),
    ("svm_sync.json", include_str!("svm_sync.json")),
    (
        "svm_validate_create.json",
        include_str!("svm_validate_create.json"),
    ),
    (
        "svm_validate_status_update.json",
        include_str!("svm_validate_status_update.json"),
    ),
    (
        "svm_validate_update.json",
        include_str!("svm_validate_update.json"),
    ),
    (
        "trigger_controller.json",
        include_str!("trigger_controller.json"),
    ),
    ("write_barrier.json", include_str!("write_barrier.json")),
];
