//! The kept events, by revision. They are part of the state, so that a watch resumes on any replica without a gap.

use std::sync::Arc;

use imbl::Vector;
use synod_model::Revision;

use crate::Change;
use crate::digest::RowHash;

/// All that one revision changed, in the order in which the command changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionEvents {
    /// The revision.
    pub revision: Revision,
    /// What it changed. Empty when the command changed nothing that is watched, such as a session.
    pub changes: Vec<Change>,
}

/// The answer to a question about a revision that is no longer kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// The oldest revision from which a watch can start.
    pub oldest: Revision,
}

/// One kept revision, with what trimming it gives back.
#[derive(Clone, Debug)]
struct HashedEvents {
    events: Arc<RevisionEvents>,
    hash: RowHash,
}

/// The events of the newest revisions, without a gap. Its floor moves by the settings and by restores alone, so it is the
/// same on every replica.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Every revision above it is kept.
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

    /// How many bytes the kept events take, by the machine's own estimate, which is equal on every replica.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The events of the first revision after `revision`; `None` if there is none yet.
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
        // A 64-bit count of kept revisions that does not fit the address space cannot be reached: get() is then None.
        usize::try_from(revision.get() - self.floor.get()).unwrap_or(usize::MAX)
    }

    pub(crate) fn set_floor(&mut self, floor: Revision) {
        assert!(
            self.kept.is_empty(),
            "the floor of a history moves by trimming once it keeps something"
        );
        self.floor = floor;
    }

    /// Whether this is the next revision: the one that leaves no gap.
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

    /// Drops every revision, and goes on after `floor`. Answers the hashes of what was dropped.
    pub(crate) fn restart(&mut self, floor: Revision) -> Vec<RowHash> {
        let dropped = self.trim(0, 0);
        assert!(
            self.floor < floor,
            "what was kept is older than what comes now"
        );
        self.floor = floor;
        dropped
    }

    /// Drops the oldest revision while more are kept than `revisions` or more bytes than `bytes`; answers their hashes.
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
