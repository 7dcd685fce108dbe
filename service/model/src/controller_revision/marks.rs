//! Marks of use, which keep a snapshot from being truncated, and the tie that ends each mark.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::limits::MARKER_BYTES_MAX;
use crate::text::{shared_text, short_identity};
use crate::{Epoch, MemberId, ObjectKey, Ttl, Uid, Violation};

/// The name of a user of a snapshot, such as a controller or one of its workers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Marker(Arc<str>);

impl Marker {
    /// The marker with this name.
    ///
    /// # Errors
    ///
    /// Empty, longer than 253 bytes, or with control characters, bidirectional marks or line separators.
    pub fn parse(text: &str) -> Result<Self, Violation> {
        if text.is_empty() {
            return Err(Violation::required("must say who uses it"));
        }
        short_identity(text, MARKER_BYTES_MAX)?;
        Ok(Self(text.into()))
    }
}

shared_text!(Marker);

/// A mark that a snapshot can have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LiveMark {
    /// The controller's objects were last made from this snapshot.
    Current,
    /// The controller is changing its objects to this snapshot.
    Update,
    /// The user of this name uses the snapshot.
    InUse(Marker),
}

/// What ends a mark. Every mark has a tie: its setter may die, and no snapshot must be pinned for ever.
///
/// The deadline of a mark is not part of the snapshot, so a renewal changes no object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MarkTie {
    /// The mark ends when it has not been set again for this long.
    Renewals(Ttl),
    /// The mark ends with this epoch of a member: when the member leaves or expires, or another instance replaces it.
    Member(MemberId, Epoch),
    /// The mark ends when this object is removed.
    Object(ObjectKey, Uid),
}

/// The marks of a snapshot, each with its tie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveMarks {
    ties: BTreeMap<LiveMark, MarkTie>,
}

impl MarkTie {
    /// The tie of a mark if the caller gives none: the mark ends unless it is renewed at least once a day. A snapshot
    /// that is kept for a day too long costs less than one that is deleted while its controller is away.
    pub const DEFAULT: Self = Self::Renewals(Ttl::MAX);
}

impl Default for MarkTie {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl LiveMarks {
    /// Whether there is any mark. A marked snapshot is never truncated, and does not count against a limit.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !self.ties.is_empty()
    }

    /// Whether the snapshot has this mark.
    #[must_use]
    pub fn has(&self, mark: &LiveMark) -> bool {
        self.ties.contains_key(mark)
    }

    /// The tie of the mark, if the snapshot has the mark.
    #[must_use]
    pub fn tie(&self, mark: &LiveMark) -> Option<&MarkTie> {
        self.ties.get(mark)
    }

    /// All marks with their ties: current, update, then the others by marker.
    pub fn iter(&self) -> impl Iterator<Item = (&LiveMark, &MarkTie)> {
        self.ties.iter()
    }

    /// The markers of all `InUse` marks, sorted.
    pub fn in_use(&self) -> impl Iterator<Item = &Marker> {
        self.ties.keys().filter_map(|mark| match mark {
            LiveMark::InUse(marker) => Some(marker),
            LiveMark::Current | LiveMark::Update => None,
        })
    }

    /// Sets the mark with this tie, which replaces its earlier tie.
    pub fn set(&mut self, mark: LiveMark, tie: MarkTie) {
        self.ties.insert(mark, tie);
    }

    /// Removes the mark, if it is there.
    pub fn clear(&mut self, mark: &LiveMark) {
        self.ties.remove(mark);
    }

    /// Removes the marks whose tie has ended.
    pub fn clear_tied(&mut self, has_ended: impl Fn(&MarkTie) -> bool) {
        self.ties.retain(|_, tie| !has_ended(tie));
    }
}

impl FromIterator<(LiveMark, MarkTie)> for LiveMarks {
    fn from_iter<I: IntoIterator<Item = (LiveMark, MarkTie)>>(marks: I) -> Self {
        let ties = marks.into_iter().collect();
        Self { ties }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_mark_makes_a_snapshot_live() {
        let used = LiveMark::InUse(Marker::parse("web-0").unwrap());
        for mark in [LiveMark::Current, LiveMark::Update, used] {
            let mut marks = LiveMarks::default();
            assert!(!marks.is_live() && !marks.has(&mark));
            marks.set(mark.clone(), MarkTie::DEFAULT);
            assert!(marks.is_live() && marks.has(&mark));
            marks.clear_tied(|tie| matches!(tie, MarkTie::Member(..)));
            assert!(marks.is_live());
            marks.clear_tied(|tie| *tie == MarkTie::DEFAULT);
            assert!(!marks.is_live());
        }
    }

    #[test]
    fn a_marker_is_a_short_text() {
        assert!(Marker::parse(&"m".repeat(MARKER_BYTES_MAX)).is_ok());
        assert!(Marker::parse(&"m".repeat(MARKER_BYTES_MAX + 1)).is_err());
        assert!(Marker::parse("").is_err() && Marker::parse("a\nb").is_err());
    }
}
