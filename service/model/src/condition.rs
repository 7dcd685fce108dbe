//! Conditions of an object: the status of one aspect, which programs can wait for.

use std::fmt;
use std::str::FromStr;

use crate::{Revision, Violation, WallTime};

/// The status of one aspect of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The aspect, such as `AllEncodingVersionsEqual`. Unique in an object.
    pub kind: String,
    /// Whether the condition holds.
    pub status: ConditionStatus,
    /// The reason for the status, one word for programs.
    pub reason: String,
    /// The reason for the status, a sentence for people.
    pub message: String,
    /// The generation of the object that the condition was computed for.
    pub observed_generation: u64,
    /// The wall time of the last transition; only shown.
    pub transition: WallTime,
    /// The revision of the last transition.
    pub transition_revision: Revision,
}

impl Condition {
    /// Whether all encoding versions of a resource are equal, see
    /// [`agreement_condition`](crate::agreement_condition).
    pub const ALL_ENCODING_VERSIONS_EQUAL: &'static str = "AllEncodingVersionsEqual";
    /// Whether every member with an entry decodes every version that is reported, selected or
    /// persisted.
    pub const DECODABLE_BY_ALL: &'static str = "DecodableByAll";

    /// The same condition, with the transition of `previous` if both have the same status, since
    /// there was none then.
    #[must_use]
    pub fn after(mut self, previous: Option<&Self>) -> Self {
        if let Some(previous) = previous
            && previous.status == self.status
        {
            self.transition = previous.transition;
            self.transition_revision = previous.transition_revision;
        }
        self
    }
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConditionStatus {
    /// The condition holds.
    True,
    /// The condition does not hold.
    False,
    /// It is not known whether the condition holds.
    Unknown,
}

impl ConditionStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::True, Self::False, Self::Unknown];

    /// The status as text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<bool> for ConditionStatus {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

impl fmt::Display for ConditionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ConditionStatus {
    type Err = Violation;

    fn from_str(text: &str) -> Result<Self, Violation> {
        Self::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or_else(|| {
                Violation::invalid(text, r#"supported values: "True", "False", "Unknown""#)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(status: ConditionStatus, at_ms: u64, revision: u64) -> Condition {
        Condition {
            kind: Condition::DECODABLE_BY_ALL.to_owned(),
            status,
            reason: format!("Reason{revision}"),
            message: format!("as of {revision}"),
            observed_generation: revision,
            transition: WallTime::from_millis(at_ms),
            transition_revision: Revision::new(revision),
        }
    }

    #[test]
    fn the_first_telling_is_a_transition() {
        let first = told(ConditionStatus::True, 10, 1);
        assert_eq!(first.clone().after(None), first);
    }

    #[test]
    fn the_same_status_keeps_its_transition_and_takes_all_else() {
        let before = told(ConditionStatus::True, 10, 1);
        let after = told(ConditionStatus::True, 20, 2).after(Some(&before));
        assert_eq!(
            (after.transition, after.transition_revision),
            (before.transition, Revision::new(1))
        );
        assert_eq!(
            (after.reason.as_str(), after.observed_generation),
            ("Reason2", 2)
        );
    }

    #[test]
    fn another_status_is_a_transition() {
        let before = told(ConditionStatus::Unknown, 10, 1);
        let flipped = told(ConditionStatus::False, 20, 2);
        assert_eq!(flipped.clone().after(Some(&before)), flipped);
    }

    #[test]
    fn a_status_reads_back_from_its_word_and_no_other() {
        for status in ConditionStatus::ALL {
            assert_eq!(status.to_string().parse(), Ok(status));
        }
        assert_eq!(
            "true".parse::<ConditionStatus>().unwrap_err().to_string(),
            r#"Invalid value: "true": supported values: "True", "False", "Unknown""#
        );
    }
}
