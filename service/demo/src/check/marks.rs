//! Bounds of the revision at which a write landed.

use std::collections::BTreeMap;

use crate::records::{Mark, StoredWrite};

/// The revisions between which a write landed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Landed {
    /// It landed at this revision or later.
    pub(super) after: u64,
    /// It landed at this revision or earlier.
    pub(super) before: u64,
}

/// The marks of a run, as bounds by position.
#[derive(Debug)]
pub(super) struct Marks {
    /// By position, the greatest revision that was read before any later write landed.
    lower: BTreeMap<u64, u64>,
    /// By position, the least revision that was read after the write at this position had landed.
    upper: BTreeMap<u64, u64>,
    /// By revision, a time at which it had been read.
    known_at_ms: BTreeMap<u64, u64>,
}

impl Marks {
    pub(super) fn of<'a>(marks: impl DoubleEndedIterator<Item = &'a Mark> + Clone) -> Self {
        let mut lower = BTreeMap::new();
        let mut known_at_ms = BTreeMap::new();
        let mut greatest = 0;
        // Marks are made one after the other, so their positions rise; so do revisions, if reads are linearizable.
        for mark in marks.clone() {
            if mark.revision > greatest {
                known_at_ms.insert(mark.revision, mark.at_ms);
            }
            greatest = greatest.max(mark.revision);
            lower.insert(mark.answered_before, greatest);
        }
        let mut upper = BTreeMap::new();
        let mut least = u64::MAX;
        for mark in marks.rev() {
            least = least.min(mark.revision);
            upper.insert(mark.asked_after, least);
        }
        Self {
            lower,
            upper,
            known_at_ms,
        }
    }

    /// The revisions between which a write landed.
    pub(super) fn landed(&self, write: &StoredWrite) -> Landed {
        let before_it = self.lower.range(..write.position).next_back();
        let after_it = self.upper.range(write.position..).next();
        Landed {
            after: before_it.map_or(0, |(_, revision)| *revision),
            before: after_it.map_or(u64::MAX, |(_, revision)| *revision),
        }
    }

    /// A time at which a revision was known to exist, in milliseconds since the Unix epoch.
    pub(super) fn known_at_ms(&self, revision: u64) -> Option<u64> {
        let known = self.known_at_ms.range(revision..).next();
        known.map(|(_, at_ms)| *at_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::sample;

    fn mark(asked_after: u64, revision: u64, answered_before: u64) -> Mark {
        Mark {
            asked_after,
            revision,
            answered_before,
            at_ms: 1_000 + revision,
        }
    }

    #[test]
    fn a_write_lands_between_the_marks_around_it() {
        let marks = [mark(0, 3, 2), mark(4, 5, 6), mark(8, 9, 8)];
        let marks = Marks::of(marks.iter());
        let landed = |position| {
            let mut write = sample::write("widgets.example.io", "a", 1);
            write.position = position;
            let landed = marks.landed(&write);
            (landed.after, landed.before)
        };
        assert_eq!(
            landed(2),
            (0, 5),
            "the first read may have been answered before it"
        );
        assert_eq!(landed(3), (3, 5));
        assert_eq!(landed(5), (3, 9), "the second read was under way");
        assert_eq!(landed(7), (5, 9));
        assert_eq!(landed(9), (9, u64::MAX), "nothing was read after it");
    }

    #[test]
    fn a_revision_is_there_when_it_or_a_later_one_was_read() {
        let marks = [mark(0, 3, 2), mark(4, 5, 6), mark(7, 5, 7)];
        let marks = Marks::of(marks.iter());
        assert_eq!(marks.known_at_ms(3), Some(1_003));
        assert_eq!(marks.known_at_ms(4), Some(1_005));
        assert_eq!(marks.known_at_ms(6), None);
    }
}
