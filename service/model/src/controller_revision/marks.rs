//! Marks of use: what keeps a snapshot from being truncated, and what each of them goes with.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::limits::MARKER_BYTES_MAX;
use crate::text::{shared_text, short_identity};
use crate::{Epoch, MemberId, ObjectKey, Ttl, Uid, Violation};

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
        short_identity(text, MARKER_BYTES_MAX)?;
        Ok(Self(text.into()))
    }
}

shared_text!(Marker);

/// A mark that a snapshot can have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LiveMark {
    /// What the controller's objects were made from last.
    Current,
    /// What the controller is changing them to.
    Update,
    /// What somebody else uses.
    InUse(Marker),
}

/// What a mark goes with. There is none without: whoever set it may die, and nothing is pinned for ever.
///
/// How long a mark still has is no part of the snapshot: renewing it writes nothing that anybody reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MarkTie {
    /// It goes when it was not set again for so long.
    Renewals(Ttl),
    /// It goes with this epoch of a member: when the member leaves or expires, or another instance replaces it.
    Member(MemberId, Epoch),
    /// It goes with this object.
    Object(ObjectKey, Uid),
}

/// Why a snapshot is live.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveMarks {
    ties: BTreeMap<LiveMark, MarkTie>,
}

impl MarkTie {
    /// What a mark is tied to whose holder does not say: it is renewed at least once a day, or goes. A snapshot that is
    /// kept for a day too long costs less than one that is gone while its controller was away.
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

    /// Whether it has this mark.
    #[must_use]
    pub fn has(&self, mark: &LiveMark) -> bool {
        self.ties.contains_key(mark)
    }

    /// What the mark is tied to, if it has it.
    #[must_use]
    pub fn tie(&self, mark: &LiveMark) -> Option<&MarkTie> {
        self.ties.get(mark)
    }

    /// All marks with what they are tied to: current, update, then the others by marker.
    pub fn iter(&self) -> impl Iterator<Item = (&LiveMark, &MarkTie)> {
        self.ties.iter()
    }

    /// Who else uses it, sorted.
    pub fn in_use(&self) -> impl Iterator<Item = &Marker> {
        self.ties.keys().filter_map(|mark| match mark {
            LiveMark::InUse(marker) => Some(marker),
            LiveMark::Current | LiveMark::Update => None,
        })
    }

    /// Sets the mark, tied so and no longer otherwise.
    pub fn set(&mut self, mark: LiveMark, tie: MarkTie) {
        self.ties.insert(mark, tie);
    }

    /// Takes the mark away, if it is there.
    pub fn clear(&mut self, mark: &LiveMark) {
        self.ties.remove(mark);
    }

    /// Takes those marks away whose tie has ended.
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
