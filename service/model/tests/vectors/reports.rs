use serde_json::Value;
use synod_model::{
    ConditionText, MemberId, ReportEntry, ReportEntryText, StanceText, Violations,
    check_conditions, check_unique_members,
};

use crate::{expect, optional_text, suite, text, texts};

#[test]
fn every_entry_is_judged_as_kubernetes_judges_it() {
    suite::run("validate_server_storage_version.json", 7, &[], |_, case| {
        let violations = match case.get("status") {
            Some(status) => violations_of_status(status),
            None => violations_of_entry(case),
        };
        expect(&violations, optional_text(case, "errorContains"))
    });
}

/// Kubernetes puts member and entry into one object; a report names the member once.
fn violations_of_entry(entry: &Value) -> Violations {
    let mut violations = Violations::new();
    violations.parsed("apiServerID", MemberId::parse(text(entry, "apiServerID")));
    let entry = ReportEntryText {
        group: "mygroup.com",
        resource: "widgets",
        kind: "Widget",
        decodable: texts(entry, "decodableVersions"),
        served: texts(entry, "servedVersions"),
        stance: StanceText::Fixed {
            encoding: text(entry, "encodingVersion"),
        },
    };
    violations.parsed("", ReportEntry::parse(&entry));
    violations
}

fn violations_of_status(entries: &Value) -> Violations {
    let ids = entries
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|entry| entry[0].as_str());
    let members: Vec<MemberId> = ids.filter_map(|id| MemberId::parse(id).ok()).collect();
    check_unique_members(&members)
}

#[test]
fn every_list_of_conditions_is_judged_as_kubernetes_judges_it() {
    suite::run(
        "validate_storage_version_conditions.json",
        5,
        &[],
        |_, case| {
            let conditions = case["conditions"].as_array().into_iter().flatten();
            let violations = check_conditions(conditions.map(|condition| ConditionText {
                kind: text(condition, "type"),
                status: text(condition, "status"),
                reason: text(condition, "reason"),
                message: text(condition, "message"),
            }));
            expect(&violations, optional_text(case, "errorContains"))
        },
    );
}
