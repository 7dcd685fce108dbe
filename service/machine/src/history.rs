//! The events of the newest revisions, as part of the state, so that a watch resumes on any replica without a gap.
//!
//! There are two floors. Above [`History::floor`] every event is kept. Above [`History::upgrade_floor`], which is never
//! higher, the events of the kinds are kept that [`ObjectKind::is_in_upgrade_history`] names: a busy collection moves
//! the first floor and not the second.

mod bounds;

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::{OrdMap, Vector};
use synod_model::{Identity, ObjectKind, Revision, WallTime};

use crate::Change;
use crate::digest::RowHash;
use crate::hashes::events_hash;

pub(crate) use bounds::HistoryBounds;

/// All that one revision changed, in the order in which its command made the changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionEvents {
    /// The revision.
    pub revision: Revision,
    /// The changes. Empty when the command changed nothing that is watched, such as a session.
    pub changes: Vec<Change>,
    /// The wall clock of the leader that proposed the command; only shown. `None` for a revision that an older machine
    /// version made.
    pub time: Option<WallTime>,
    /// The greatest wall clock of all revisions until this one, if the clock of this one is behind it.
    pub latest_time: Option<WallTime>,
    /// The proved identity of the caller. `None` for commands of the replicas, for callers that prove nothing, and for
    /// revisions that an older machine version made.
    pub caller: Option<Identity>,
}

/// The kinds of events that a reader of the history needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventScope {
    /// The events of every kind.
    All,
    /// Only events of the upgrade history.
    Upgrade,
}

/// The error of a read after a revision that is no longer kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// The oldest revision from which a watch can start.
    pub oldest: Revision,
}

/// The error of a search for the revision of a time before all kept times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeNotKept {
    /// The oldest kept revision that has a time, and its time.
    pub oldest: Option<(Revision, WallTime)>,
}

/// The events of one kept revision, with their hash, which is subtracted from the digest when they are dropped.
#[derive(Clone, Debug)]
struct HashedEvents {
    events: Arc<RevisionEvents>,
    hash: RowHash,
}

/// The events of the newest revisions. Only the settings and restores move its floors, so the floors are the same on
/// every replica.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Every revision above `floor` is kept.
    floor: Revision,
    kept: Vector<HashedEvents>,
    bytes: u64,
    /// Every event of the upgrade history above `upgrade_floor` is kept.
    upgrade_floor: Revision,
    /// The revisions between the floors that have such events, with those events alone.
    older: Vector<HashedEvents>,
    older_bytes: u64,
    /// The number and the bytes of the revisions with events of the upgrade history, above the floor and below it.
    upgrade_revisions: u64,
    upgrade_bytes: u64,
    /// The callers of the kept revisions, each with the number of revisions that name it: they share its text.
    callers: OrdMap<Identity, u64>,
}

impl EventScope {
    /// The scope of a reader of these kinds; no kind stands for all.
    #[must_use]
    pub fn for_kinds(kinds: &BTreeSet<ObjectKind>) -> Self {
        let all_in = kinds.iter().all(|kind| kind.is_in_upgrade_history());
        if all_in && !kinds.is_empty() {
            Self::Upgrade
        } else {
            Self::All
        }
    }

    /// Returns whether events of the kind are in the scope.
    #[must_use]
    pub const fn includes(self, kind: ObjectKind) -> bool {
        match self {
            Self::All => true,
            Self::Upgrade => kind.is_in_upgrade_history(),
        }
    }
}

impl RevisionEvents {
    /// The greatest wall clock of all revisions until this one.
    #[must_use]
    pub fn running_time(&self) -> Option<WallTime> {
        self.latest_time.or(self.time)
    }
}

impl HashedEvents {
    /// The part that belongs to the upgrade history, which stays when the revision falls below the floor; `None` if there is
    /// none.
    fn upgrade_part(&self) -> Option<Self> {
        let changes = &self.events.changes;
        let is_part = |change: &&Change| change.object.kind().is_in_upgrade_history();
        let parts = changes.iter().filter(is_part).count();
        if parts == 0 {
            return None;
        }
        if parts == changes.len() {
            return Some(self.clone());
        }
        let events = Arc::new(RevisionEvents {
            revision: self.events.revision,
            changes: changes.iter().filter(is_part).cloned().collect(),
            time: self.events.time,
            latest_time: self.events.latest_time,
            caller: self.events.caller.clone(),
        });
        let hash = events_hash(&events);
        Some(Self { events, hash })
    }
}

impl History {
    /// The newest revision that is *not* kept: a watch of all kinds can start at the one after it.
    #[must_use]
    pub fn floor(&self) -> Revision {
        self.floor
    }

    /// The newest revision of which events of the upgrade history may not be kept. It is never above [`Self::floor`].
    #[must_use]
    pub fn upgrade_floor(&self) -> Revision {
        self.upgrade_floor
    }

    /// The floor for a reader of this scope.
    #[must_use]
    pub fn floor_for(&self, scope: EventScope) -> Revision {
        match scope {
            EventScope::All => self.floor,
            EventScope::Upgrade => self.upgrade_floor,
        }
    }

    /// How many revisions are kept with all of their events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether no revision is kept with all of its events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The size in bytes of the events above the floor, by the machine's own estimate, which is equal on every replica.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The size in bytes of all kept events, above the floor and below it.
    #[must_use]
    pub fn all_bytes(&self) -> u64 {
        self.bytes + self.older_bytes
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
        self.next_in(EventScope::All, revision)
    }

    /// The events of the first revision after `revision` that a reader of this scope has to look at. Below the floor,
    /// revisions without events of the upgrade history are passed over.
    ///
    /// # Errors
    ///
    /// [`Compacted`] if events of the scope after `revision` are no longer kept.
    pub fn next_in(
        &self,
        scope: EventScope,
        revision: Revision,
    ) -> Result<Option<&Arc<RevisionEvents>>, Compacted> {
        let floor = self.floor_for(scope);
        if revision < floor {
            return Err(Compacted {
                oldest: floor.next(),
            });
        }
        if let Some(older) = self.older.get(self.older_index_after(revision)) {
            return Ok(Some(&older.events));
        }
        let kept = self.kept.get(self.index_after(revision));
        Ok(kept.map(|kept| &kept.events))
    }

    /// The newest kept revision at or before a time, by the running maximum of the wall clocks. Costs one step for
    /// each halving of the history.
    ///
    /// # Errors
    ///
    /// [`TimeNotKept`] if every kept revision is later, or has no time.
    pub fn revision_at(&self, time: WallTime) -> Result<&Arc<RevisionEvents>, TimeNotKept> {
        let is_not_later =
            |events: &RevisionEvents| events.running_time().is_none_or(|at| at <= time);
        let above = partition_point(self.kept.len(), |i| is_not_later(&self.kept[i].events));
        let below = partition_point(self.older.len(), |i| is_not_later(&self.older[i].events));
        let newest = match (above.checked_sub(1), below.checked_sub(1)) {
            (Some(i), _) => Some(&self.kept[i].events),
            (None, Some(i)) => Some(&self.older[i].events),
            (None, None) => None,
        };
        // Revisions of an older machine version come first, and have no time.
        let timed = newest.filter(|events| events.time.is_some());
        timed.ok_or_else(|| TimeNotKept {
            oldest: self.oldest_time(),
        })
    }

    /// The oldest kept revision that has a time, and its time.
    #[must_use]
    pub fn oldest_time(&self) -> Option<(Revision, WallTime)> {
        let is_untimed = |events: &RevisionEvents| events.time.is_none();
        let below = partition_point(self.older.len(), |i| is_untimed(&self.older[i].events));
        let above = partition_point(self.kept.len(), |i| is_untimed(&self.kept[i].events));
        let older = self.older.get(below).map(|older| &older.events);
        let events = older.or_else(|| self.kept.get(above).map(|kept| &kept.events))?;
        Some((events.revision, events.time?))
    }

    /// The events of every kept revision after `revision`, newest first.
    pub(crate) fn newest_first_after(
        &self,
        revision: Revision,
    ) -> impl Iterator<Item = &Arc<RevisionEvents>> {
        let kept = self.kept.iter().rev().map(|kept| &kept.events);
        let older = self.older.iter().rev().map(|older| &older.events);
        kept.chain(older)
            .take_while(move |events| events.revision > revision)
    }

    /// The events of every revision after `revision`, which is not below the floor, oldest first.
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
        let older = self.older.iter().map(|older| &older.events);
        older.chain(self.kept.iter().map(|kept| &kept.events))
    }

    /// The index above the floor of the first revision after `revision`.
    fn index_after(&self, revision: Revision) -> usize {
        // A count of kept revisions that exceeds the address space cannot occur; `get()` would answer `None` for it.
        usize::try_from(revision.get().saturating_sub(self.floor.get())).unwrap_or(usize::MAX)
    }

    /// The index below the floor of the first revision after `revision`.
    fn older_index_after(&self, revision: Revision) -> usize {
        if revision >= self.floor {
            return self.older.len();
        }
        partition_point(self.older.len(), |i| {
            self.older[i].events.revision <= revision
        })
    }
}

/// The number of the first items for which the predicate holds; it holds for none after them.
fn partition_point(len: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
