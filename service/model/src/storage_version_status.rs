//! The rules for the status of a StorageVersion.
//!
//! Kubernetes checks them when a client writes a status, and so does the Kubernetes API of Synod.
//! What is stored is computed by apply. The same rules are checked on a status that is read from a
//! checkpoint.

use std::collections::BTreeMap;
use std::fmt::Display;

use crate::agreement::common_encoding_version;
use crate::names::qualified_name;
use crate::{Condition, Violation, Violations};

/// The texts of a condition, as a client writes them.
#[derive(Clone, Copy, Debug)]
pub struct ConditionText<'a> {
    /// The type.
    pub kind: &'a str,
    /// The status, such as `True`.
    pub status: &'a str,
    /// The reason, one word for programs.
    pub reason: &'a str,
    /// The reason, a sentence for people.
    pub message: &'a str,
}

impl<'a> From<&'a Condition> for ConditionText<'a> {
    fn from(condition: &'a Condition) -> Self {
        Self {
            kind: &condition.kind,
            status: condition.status.as_str(),
            reason: &condition.reason,
            message: &condition.message,
        }
    }
}

/// Checks that `common` is the one version that these entries encode.
pub fn check_common_version<'a, V: PartialEq + Display + ?Sized + 'a>(
    encodings: impl IntoIterator<Item = Option<&'a V>>,
    common: Option<&V>,
) -> Violations {
    let violation = match (common_encoding_version(encodings), common) {
        (None, None) => return Violations::new(),
        (Some(actual), Some(common)) if actual == common => return Violations::new(),
        (Some(actual), Some(common)) => {
            let rule = format_args!("the actual common encoding version is {actual}");
            Violation::invalid(&common.to_string(), rule)
        }
        (Some(actual), None) => {
            // Kubernetes quotes what is not set.
            let rule = format_args!("the common encoding version is {actual}");
            Violation::invalid("null", rule)
        }
        (None, Some(common)) => Violation::invalid(
            &common.to_string(),
            "should be nil if servers do not agree on the same encoding version, or if there is \
             no server reporting the supported versions yet",
        ),
    };
    violation.at("commonEncodingVersion").into()
}

/// Checks that each condition is there once and has all required fields.
///
/// The type and the status may be unknown here: later releases may have more of them.
pub fn check_conditions<'a, C: Into<ConditionText<'a>>>(
    conditions: impl IntoIterator<Item = C>,
) -> Violations {
    let mut violations = Violations::new();
    let mut places = BTreeMap::new();
    for (i, condition) in conditions.into_iter().map(Into::into).enumerate() {
        if let Some(first) = places.get(condition.kind) {
            let rule = format_args!(
                "the type of the condition is not unique, it also appears in conditions[{first}]"
            );
            violations.push(Violation::invalid(condition.kind, rule).at(&field(i, "type")));
        } else {
            places.insert(condition.kind, i);
        }
        check_condition(i, condition, &mut violations);
    }
    violations
}

fn check_condition(i: usize, condition: ConditionText<'_>, violations: &mut Violations) {
    for (name, value) in [("type", condition.kind), ("status", condition.status)] {
        if let Err(rule) = qualified_name(value) {
            violations.push(Violation::invalid(value, rule).at(&field(i, name)));
        }
    }
    for (name, value) in [("reason", condition.reason), ("message", condition.message)] {
        if value.is_empty() {
            let rule = format_args!("{name} cannot be empty");
            violations.push(Violation::required(rule).at(&field(i, name)));
        }
    }
}

fn field(i: usize, name: &str) -> String {
    format!("conditions[{i}].{name}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ApiVersion;

    fn version(text: &str) -> ApiVersion {
        ApiVersion::parse(text).unwrap()
    }

    fn texts(violations: &Violations) -> Vec<String> {
        violations.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_agreement_that_is_not_told_is_a_violation() {
        let v1 = version("v1");
        let violations = check_common_version([Some(&v1), Some(&v1)], None);
        assert_eq!(
            texts(&violations),
            ["commonEncodingVersion: Invalid value: \"null\": the common encoding version is v1"]
        );
    }

    #[test]
    fn versions_that_a_client_writes_are_compared_as_texts() {
        let violations = check_common_version([Some("/v1"), Some("/v1")], Some("v1"));
        assert_eq!(
            texts(&violations),
            [
                "commonEncodingVersion: Invalid value: \"v1\": the actual common encoding version is /v1"
            ]
        );
        assert!(check_common_version([Some("/v1")], Some("/v1")).is_empty());
    }

    #[test]
    fn a_condition_has_a_status() {
        let computed = computed();
        let unsaid = ConditionText {
            status: "",
            ..ConditionText::from(&computed)
        };
        let found = texts(&check_conditions([unsaid]));
        assert!(
            found[0].starts_with("conditions[0].status: Invalid value: \"\""),
            "{found:?}"
        );
    }

    #[test]
    fn an_entry_without_an_encoding_leaves_no_common_version_to_tell() {
        let v1 = version("v1");
        assert!(check_common_version([Some(&v1), None], None).is_empty());
        assert_eq!(check_common_version([Some(&v1), None], Some(&v1)).len(), 1);
    }

    #[test]
    fn the_conditions_that_are_computed_pass() {
        assert!(check_conditions([&computed()]).is_empty());
    }

    #[test]
    fn every_fault_of_every_condition_is_found() {
        let empty = Condition {
            reason: String::new(),
            message: String::new(),
            ..computed()
        };
        let unnamed = Condition {
            kind: "-".to_owned(),
            ..computed()
        };
        let found = texts(&check_conditions([&empty, &computed(), &unnamed]));
        assert_eq!(
            found[..3],
            [
                "conditions[0].reason: Required value: reason cannot be empty",
                "conditions[0].message: Required value: message cannot be empty",
                "conditions[1].type: Invalid value: \"AllEncodingVersionsEqual\": the type of \
                 the condition is not unique, it also appears in conditions[0]",
            ]
        );
        assert!(
            found[3].starts_with("conditions[2].type: Invalid value: \"-\""),
            "{found:?}"
        );
    }

    fn computed() -> Condition {
        let at = crate::WallTime::from_millis(1);
        crate::agreement_condition(None, None, 1, at, crate::Revision::new(1))
    }
}
