use serde_json::Value;
use synod_model::{
    ApiVersion, Condition, ConditionStatus, Revision, WallTime, agreement_condition,
    check_common_version, common_encoding_version,
};

use crate::{expect, expect_eq, optional_text, suite, text, texts};

const SHARED: &str = "set_common_encoding_version.json";
const BEFORE: (WallTime, Revision) = (WallTime::from_millis(1_000), Revision::new(1));
const NOW: (WallTime, Revision) = (WallTime::from_millis(2_000), Revision::new(2));

#[test]
fn agreement_follows_from_the_entries_as_in_kubernetes() {
    suite::run(SHARED, 7, &["entries"], |_, case| {
        if text(case, "name").starts_with("observedGeneration_always_follows") {
            return observed_generation_follows();
        }
        check(case, &texts(&case["old"], "storageVersions"))
    });
}

#[test]
fn a_report_moves_agreement_as_in_kubernetes() {
    suite::run("local_update_storage_version.json", 2, &[], |_, case| {
        let mut entries = texts(&case["old"], "storageVersions");
        let report = text(case, "report");
        let shared = suite::document(SHARED);
        let member = |entry: &str| text(&shared["entries"][entry], "apiServerID").to_owned();
        match entries
            .iter()
            .position(|entry| member(entry) == member(report))
        {
            Some(place) => entries[place] = report,
            None => entries.push(report),
        }
        check(case, &entries)
    });
}

/// Computes from `entries` what follows from `old`, and holds it against `expected`.
fn check(case: &Value, entries: &[&str]) -> Result<(), String> {
    let (old, expected) = (&case["old"], &case["expected"]);
    expect_eq(entries, &texts(expected, "storageVersions"))?;

    let versions = encodings(entries)?;
    let common = common_encoding_version(versions.iter().map(Some));
    expect_eq(
        common.map(ApiVersion::as_str),
        optional_text(expected, "commonEncodingVersion"),
    )?;
    expect(
        &check_common_version(versions.iter().map(Some), common),
        None,
    )?;

    let old_common = optional_text(old, "commonEncodingVersion")
        .map(version)
        .transpose()?;
    let previous = described(text(old, "condition"), 1)?;
    let condition = agreement_condition(
        Some((&previous, old_common.as_ref())),
        common,
        2,
        NOW.0,
        NOW.1,
    );
    let mut awaited = described(text(expected, "condition"), 2)?;
    if case["lastTransitionTimeChanges"]
        .as_bool()
        .ok_or("no lastTransitionTimeChanges")?
    {
        (awaited.transition, awaited.transition_revision) = NOW;
    }
    expect_eq(condition, awaited)
}

fn observed_generation_follows() -> Result<(), String> {
    let previous = described("TRUE", 1)?;
    let common = version("v1")?;
    let told = Some((&previous, Some(&common)));
    let condition = agreement_condition(told, Some(&common), 5, NOW.0, NOW.1);
    expect_eq(
        (condition.transition, condition.transition_revision),
        BEFORE,
    )?;
    expect_eq(condition.observed_generation, 5)
}

#[test]
fn every_common_version_is_judged_as_kubernetes_judges_it() {
    suite::run("validate_common_version.json", 5, &[], |_, case| {
        let entries = case["storageVersions"].as_array().ok_or("no entries")?;
        let encodings: Vec<ApiVersion> = entries
            .iter()
            .map(|entry| version(entry[1].as_str().unwrap_or_default()))
            .collect::<Result<_, _>>()?;
        let common = optional_text(case, "commonEncodingVersion")
            .map(version)
            .transpose()?;
        let violations = check_common_version(encodings.iter().map(Some), common.as_ref());
        expect(&violations, optional_text(case, "errorContains"))
    });
}

/// The encodings of the shared entries with these names.
fn encodings(entries: &[&str]) -> Result<Vec<ApiVersion>, String> {
    let shared = suite::document(SHARED);
    let encoding = |entry: &&str| version(text(&shared["entries"][*entry], "encodingVersion"));
    entries.iter().map(encoding).collect()
}

/// The shared condition with this name, as it was told before now.
fn described(name: &str, observed_generation: u64) -> Result<Condition, String> {
    let shared = suite::document(SHARED);
    let condition = &shared["conditions"][name];
    let status: ConditionStatus = text(condition, "status")
        .parse()
        .map_err(|violation| format!("{violation}"))?;
    Ok(Condition {
        kind: text(condition, "type").to_owned(),
        status,
        reason: text(condition, "reason").to_owned(),
        message: text(condition, "message").to_owned(),
        observed_generation,
        transition: BEFORE.0,
        transition_revision: BEFORE.1,
    })
}

fn version(text: &str) -> Result<ApiVersion, String> {
    ApiVersion::parse(text).map_err(|violation| violation.to_string())
}
