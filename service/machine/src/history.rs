//! The events of the newest revisions, as part of the state, so that a watch resumes on any replica without a gap.

use std::sync::Arc;

use imbl::Vector;
use synod_model::Revision;

use crate::Change;
use crate::digest::RowHash;

/// All that one revision changed, in the order in which its command made the changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionEvents {
    /// The revision.
    pub revision: Revision,
    /// The changes. Empty when the command changed nothing that is watched, such as a session.
    pub changes: Vec<Change>,
}

/// The error of a read after a revision that is no longer kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// The oldest revision from which a watch can start.
    pub oldest: Revision,
}

/// The events of one kept revision, with their hash, which is subtracted from the digest when they are dropped.
#[derive(Clone, Debug)]
struct HashedEvents {
    events: Arc<RevisionEvents>,
    hash: RowHash,
}

/// The events of the newest revisions, without a gap. Only the settings and restores move its floor, so the floor is
/// the same on every replica.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Every revision above `floor` is kept.
    floor: Revision,
    kept: Vector<HashedEvents>,
    bytes: u64,
}

impl History {
    /// The newest revision that is *not* kept: a watch can start at the one after it.
    #[must_use]
    pub fn floor(&self) -> Revision {
        self.floor
    }

    /// How many revisions are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether no revision is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The size of the kept events in bytes, by the machine's own estimate, which is equal on every replica.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The events of the first revision after `revision`; `None` if no newer one exists.
    ///
    /// # Errors
    ///
    /// [`Compacted`] if that revision is no longer kept.
    pub fn next_after(
        &self,
        revision: Revision,
    ) -> Result<Option<&Arc<RevisionEvents>>, Compacted> {
        if revision < self.floor {
            return Err(Compacted {
                oldest: self.floor.next(),
            });
        }
        Ok(self
            .kept
            .get(self.index_after(revision))
            .map(|kept| &kept.events))
    }

    /// The events of every kept revision after `revision`, newest first.
    pub(crate) fn newest_first_after(
        &self,
        revision: Revision,
    ) -> impl Iterator<Item = &Arc<RevisionEvents>> {
        self.kept
            .iter()
            .rev()
            .map(|kept| &kept.events)
            .take_while(move |events| events.revision > revision)
    }

    /// The events of every kept revision after `revision`, oldest first.
    pub(crate) fn oldest_first_after(
        &self,
        revision: Revision,
    ) -> impl Iterator<Item = &Arc<RevisionEvents>> {
        let later = self.index_after(revision)..self.kept.len();
        later
            .filter_map(move |i| self.kept.get(i))
            .map(|kept| &kept.events)
    }

    /// The events of every kept revision, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<RevisionEvents>> {
        self.kept.iter().map(|kept| &kept.events)
    }

    fn index_after(&self, revision: Revision) -> usize {
        // A count of kept revisions that exceeds the address space cannot occur; `get()` would answer `None` for it.
        usize::try_from(revision.get() - self.floor.get()).unwrap_or(usize::MAX)
    }

    pub(crate) fn set_floor(&mut self, floor: Revision) {
        assert!(
            self.kept.is_empty(),
            "the floor of a history moves by trimming once it keeps something"
        );
        self.floor = floor;
    }

    /// Whether this revision follows the newest one directly.
    pub(crate) fn takes(&self, revision: Revision) -> bool {
        revision
            == self
                .kept
                .back()
                .map_or(self.floor, |kept| kept.events.revision)
                .next()
    }

    /// Appends the next revision. Panics on a gap: a watch must never miss one.
    pub(crate) fn push(&mut self, events: Arc<RevisionEvents>, hash: RowHash) {
        assert!(
            self.takes(events.revision),
            "the history has no gap, and {} leaves one",
            events.revision
        );
        self.bytes += hash.bytes();
        self.kept.push_back(HashedEvents { events, hash });
    }

    /// Drops every revision and continues after `floor`. Returns the hashes of what was dropped.
    pub(crate) fn restart(&mut self, floor: Revision) -> Vec<RowHash> {
        let dropped = self.trim(0, 0);
        assert!(
            self.floor < floor,
            "what was kept is older than what comes now"
        );
        self.floor = floor;
        dropped
    }

    /// Drops the oldest revisions while more than `revisions` or more than `bytes` are kept; returns their hashes.
    pub(crate) fn trim(&mut self, revisions: u64, bytes: u64) -> Vec<RowHash> {
        let mut dropped = Vec::new();
        while self.kept.len() as u64 > revisions || (self.bytes > bytes && self.kept.len() > 1) {
            let Some(oldest) = self.kept.pop_front() else {
                break;
            };
            self.bytes -= oldest.hash.bytes();
            self.floor = oldest.events.revision;
            dropped.push(oldest.hash);
        }
        dropped
    }
}
