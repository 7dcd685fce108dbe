//! A condition of an object: one sentence about its state that programs can wait for.

use std::fmt;
use std::str::FromStr;

use crate::{Revision, Violation, WallTime};

/// What is known of one aspect of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Which aspect, such as `AllEncodingVersionsEqual`. Unique in an object.
    pub kind: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// Why, in one word for programs.
    pub reason: String,
    /// Why, in a sentence for people.
    pub message: String,
    /// The generation of the object that this was said of.
    pub observed_generation: u64,
    /// When it last passed from one status to another, for people.
    pub transition: WallTime,
    /// The revision at which it did.
    pub transition_revision: Revision,
}

impl Condition {
    /// Whether all encoding versions of a resource are equal, see
    /// [`agreement_condition`](crate::agreement_condition).
    pub const ALL_ENCODING_VERSIONS_EQUAL: &'static str = "AllEncodingVersionsEqual";
    /// Whether every member with an entry decodes every version that is reported, selected or
    /// persisted.
    pub const DECODABLE_BY_ALL: &'static str = "DecodableByAll";

    /// The same condition, but with the transition of `previous` if the status is the same: then
    /// there was none.
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
    /// It holds.
    True,
    /// It does not.
    False,
    /// Nobody can tell.
    Unknown,
}

impl ConditionStatus {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::True, Self::False, Self::Unknown];

    /// The word for it.
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
mod tests;
