//! What must hold of a StorageVersion as a whole.
//!
//! Kubernetes checks this when a client writes a status. Nobody can write one in Synod: agreement
//! and conditions are computed where they are stored. The same rules are given here as checks of
//! what was computed or read back from a disk.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::qualified_name;
use crate::{ApiVersion, Condition, MemberId, Violation, Violations, common_encoding_version};

/// Checks that no member has two entries.
pub fn check_unique_members<'a>(members: impl IntoIterator<Item = &'a MemberId>) -> Violations {
    let mut violations = Violations::new();
    let mut seen = BTreeSet::new();
    for (i, member) in members.into_iter().enumerate() {
        if !seen.insert(member) {
            let path = format!("storageVersions[{i}].apiServerID");
            violations.push(Violation::duplicate(member.as_str()).at(&path));
        }
    }
    violations
}

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
            Violation::required(format_args!("the common encoding version is {actual}"))
        }
        (None, Some(common)) => Violation::invalid(
            common.as_str(),
            "should be nil if servers do not agree on the same encoding version, or if there is \
             no server reporting the supported versions yet",
        ),
    };
    violation.at("commonEncodingVersion").into()
}

/// The texts of a condition that have a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConditionText<'a> {
    /// Which aspect.
    pub kind: &'a str,
    /// Whether it holds.
    pub status: &'a str,
    /// Why, for programs.
    pub reason: &'a str,
    /// Why, for people.
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

/// Checks that each condition stands once and says all that it must.
///
/// Type and status need not be ones that are known here: there may be more of them later.
pub fn check_conditions<'a, C: Into<ConditionText<'a>>>(
    conditions: impl IntoIterator<Item = C>,
) -> Violations {
    let mut violations = Violations::new();
    let mut places = BTreeMap::new();
    for (i, condition) in conditions.into_iter().enumerate() {
        let condition = condition.into();
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
            ["commonEncodingVersion: Required value: the common encoding version is v1"]
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
        let at = crate::WallTime::from_millis(1);
        let condition = crate::agreement_condition(None, None, 1, at, crate::Revision::new(1));
        assert!(check_conditions([&condition]).is_empty());
    }

    #[test]
    fn every_fault_of_every_condition_is_found() {
        let empty = ConditionText {
            kind: "Ready",
            status: "",
            reason: "",
            message: "",
        };
        let found = texts(&check_conditions([
            empty,
            ConditionText {
                status: "True",
                ..empty
            },
        ]));
        assert_eq!(
            found,
            [
                "conditions[0].status: Invalid value: \"\": name part must be non-empty,name part \
                 must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
                 with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', \
                 regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
                "conditions[0].reason: Required value: reason cannot be empty",
                "conditions[0].message: Required value: message cannot be empty",
                "conditions[1].type: Invalid value: \"Ready\": the type of the condition is not \
                 unique, it also appears in conditions[0]",
                "conditions[1].reason: Required value: reason cannot be empty",
                "conditions[1].message: Required value: message cannot be empty",
            ]
        );
    }

    #[test]
    fn a_member_with_two_entries_is_named_at_the_second() {
        let members = ["a", "b", "a"].map(|id| MemberId::parse(id).unwrap());
        assert_eq!(
            texts(&check_unique_members(&members)),
            [r#"storageVersions[2].apiServerID: Duplicate value: "a""#]
        );
        assert!(check_unique_members(&members[..2]).is_empty());
    }
}
