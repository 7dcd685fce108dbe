//! Marks of use: what keeps a snapshot from being truncated.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::Violation;
use crate::limits::MARKER_BYTES_MAX;
use crate::text::{shared_text, short_printable};

/// Who says that a snapshot is in use, such as a controller or one of its workers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Marker(Arc<str>);

impl Marker {
    /// The marker with this name.
    ///
    /// # Errors
    ///
    /// Empty, longer than a name, or with control characters.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        if text.is_empty() {
            return Err(Violation::required("must say who uses it"));
        }
        short_printable(text, MARKER_BYTES_MAX)?;
        Ok(Self(text.into()))
    }
}

shared_text!(Marker);

/// Why a snapshot is live.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveMarks {
    /// What the controller's objects were made from last.
    pub current: bool,
    /// What the controller is changing them to.
    pub update: bool,
    /// Who else uses it.
    pub in_use: BTreeSet<Marker>,
}

impl LiveMarks {
    /// Whether anyone uses the snapshot. A live one is never truncated, and does not count against a limit.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.current || self.update || !self.in_use.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_mark_makes_a_snapshot_live() {
        let none = LiveMarks::default();
        assert!(!none.is_live());
        let used = BTreeSet::from([Marker::parse("web-0").unwrap()]);
        for marks in [
            LiveMarks {
                current: true,
                ..none.clone()
            },
            LiveMarks {
                update: true,
                ..none.clone()
            },
            LiveMarks {
                in_use: used,
                ..none
            },
        ] {
            assert!(marks.is_live());
        }
    }

    #[test]
    fn a_marker_is_a_short_text() {
        assert!(Marker::parse(&"m".repeat(MARKER_BYTES_MAX)).is_ok());
        assert!(Marker::parse(&"m".repeat(MARKER_BYTES_MAX + 1)).is_err());
        assert!(Marker::parse("").is_err() && Marker::parse("a\nb").is_err());
    }
}
