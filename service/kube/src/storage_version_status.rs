//! The rules of Kubernetes for the status of a StorageVersion that a client writes.
//!
//! Synod computes the common version and the conditions itself. So a client that writes others than its own entries imply has
//! miscounted, and is answered by the rules of Kubernetes.

use serde_json::Value;
use synod_model::{
    ConditionText, MemberId, Violation, Violations, check_common_version, check_conditions,
};

/// Checks a status as a whole. The report that follows checks its new entry.
pub(crate) fn check(status: &Value) -> Violations {
    let mut found = Violations::new();
    let entries = list(&status["storageVersions"]);
    for (place, entry) in entries.iter().enumerate() {
        let id = MemberId::parse(text(&entry["apiServerID"]));
        found.parsed(format_args!("storageVersions[{place}].apiServerID"), id);
    }
    let common = &status["commonEncodingVersion"];
    if common.is_null() || common.is_string() {
        // A voter that encodes nothing yet is shown with an empty version.
        let encodings = entries
            .iter()
            .map(|entry| given(text(&entry["encodingVersion"])));
        found.extend_at("", check_common_version(encodings, given(text(common))));
    } else {
        found.push(
            Violation::invalid(&common.to_string(), "must be a text").at("commonEncodingVersion"),
        );
    }
    let conditions = list(&status["conditions"]);
    let conditions = conditions.iter().map(|condition| ConditionText {
        kind: text(&condition["type"]),
        status: text(&condition["status"]),
        reason: text(&condition["reason"]),
        message: text(&condition["message"]),
    });
    found.extend_at("", check_conditions(conditions));
    found.at("status")
}

/// The items of a list; none of anything else.
fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn given(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}
