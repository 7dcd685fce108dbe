//! The rules for the status of a StorageVersion.
//!
//! Kubernetes checks them when a client writes a status. In Synod no client can write one: apply
//! computes agreement and conditions. The same rules are checked on a status that is read from a
//! checkpoint.

use std::collections::BTreeMap;

use crate::agreement::common_encoding_version;
use crate::names::qualified_name;
use crate::{ApiVersion, Condition, Violation, Violations};

/// Checks that `common` is the one version that these entries encode.
pub fn check_common_version<'a>(
    encodings: impl IntoIterator<Item = Option<&'a ApiVersion>>,
    common: Option<&ApiVersion>,
) -> Violations {
    let violation = match (common_encoding_version(encodings), common) {
        (None, None) => return Violations::new(),
        (Some(actual), Some(common)) if actual == common => return Violations::new(),
        (Some(actual), Some(common)) => {
            let rule = format_args!("the actual common encoding version is {actual}");
            Violation::invalid(common.as_str(), rule)
        }
        (Some(actual), None) => {
            // Kubernetes quotes what is not set.
            let rule = format_args!("the common encoding version is {actual}");
            Violation::invalid("null", rule)
        }
        (None, Some(common)) => Violation::invalid(
            common.as_str(),
            "should be nil if servers do not agree on the same encoding version, or if there is \
             no server reporting the supported versions yet",
        ),
    };
    violation.at("commonEncodingVersion").into()
}

/// Checks that each condition is there once and has all required fields.
///
/// The type may be unknown here: later releases may have more types.
pub fn check_conditions<'a>(conditions: impl IntoIterator<Item = &'a Condition>) -> Violations {
    let mut violations = Violations::new();
    let mut places = BTreeMap::new();
    for (i, condition) in conditions.into_iter().enumerate() {
        if let Some(first) = places.get(&condition.kind) {
            let rule = format_args!(
                "the type of the condition is not unique, it also appears in conditions[{first}]"
            );
            violations.push(Violation::invalid(&condition.kind, rule).at(&field(i, "type")));
        } else {
            places.insert(&condition.kind, i);
        }
        check_condition(i, condition, &mut violations);
    }
    violations
}

fn check_condition(i: usize, condition: &Condition, violations: &mut Violations) {
    if let Err(rule) = qualified_name(&condition.kind) {
        violations.push(Violation::invalid(&condition.kind, rule).at(&field(i, "type")));
    }
    for (name, value) in [
        ("reason", &condition.reason),
        ("message", &condition.message),
    ] {
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
