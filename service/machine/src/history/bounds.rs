//! The bounds of the history: they drop the oldest events.

use std::sync::Arc;

use synod_model::{Identity, Revision, WallTime};

use super::{HashedEvents, History};
use crate::RevisionEvents;
use crate::digest::{RowHash, RowSum};

/// The bounds of the history, which hold for all events and for those of the upgrade history alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HistoryBounds {
    pub(crate) revisions: u64,
    pub(crate) bytes: u64,
    /// Whether the upgrade history has a floor of its own.
    pub(crate) keeps_upgrade: bool,
}

impl History {
    /// Sets the floors of an empty history.
    pub(crate) fn set_floors(&mut self, floor: Revision, upgrade_floor: Revision) {
        assert!(
            self.kept.is_empty() && self.older.is_empty(),
            "the floors of a history move by trimming once it keeps something"
        );
        self.floor = floor;
        self.upgrade_floor = upgrade_floor;
    }

    /// Whether this revision follows the newest one directly.
    pub(crate) fn takes(&self, revision: Revision) -> bool {
        let newest = self.kept.back();
        let newest = newest.map_or(self.floor, |kept| kept.events.revision);
        revision == newest.next()
    }

    /// Whether these can be the next events between the floors, of which only events of the upgrade history are kept.
    pub(crate) fn takes_older(&self, events: &RevisionEvents) -> bool {
        let newest = self.older.back();
        let newest = newest.map_or(self.upgrade_floor, |older| older.events.revision);
        let mut kinds = events.changes.iter().map(|change| change.object.kind());
        let is_between = newest < events.revision && events.revision <= self.floor;
        is_between && !events.changes.is_empty() && kinds.all(|kind| kind.is_in_upgrade_history())
    }

    /// The greatest wall clock of the revisions until now, if it is later than the one of the next revision.
    pub(crate) fn time_after(&self, time: WallTime) -> Option<WallTime> {
        let newest = self.kept.back()?.events.running_time()?;
        (newest > time).then_some(newest)
    }

    /// The identity, sharing its text with the kept revisions that name the same caller.
    pub(crate) fn interned(&self, caller: &Identity) -> Identity {
        let kept = self.callers.get_key_value(caller);
        kept.map_or(caller, |(kept, _)| kept).clone()
    }

    /// Appends the next revision. Panics on a gap: a watch must never miss one.
    pub(crate) fn push(&mut self, events: Arc<RevisionEvents>, hash: RowHash) {
        assert!(
            self.takes(events.revision),
            "the history has no gap, and {} leaves one",
            events.revision
        );
        self.bytes += hash.bytes();
        self.count_caller(events.caller.as_ref());
        let kept = HashedEvents { events, hash };
        if let Some(part) = kept.upgrade_part() {
            self.upgrade_revisions += 1;
            self.upgrade_bytes += part.hash.bytes();
        }
        self.kept.push_back(kept);
    }

    /// Appends events between the floors, which a checkpoint holds before the others.
    pub(crate) fn push_older(&mut self, events: Arc<RevisionEvents>, hash: RowHash) {
        assert!(
            self.takes_older(&events),
            "revision {} is not the next one between the floors",
            events.revision
        );
        self.upgrade_revisions += 1;
        self.upgrade_bytes += hash.bytes();
        self.count_caller(events.caller.as_ref());
        self.older_bytes += hash.bytes();
        self.older.push_back(HashedEvents { events, hash });
    }

    /// Drops every revision and continues after `floor`.
    pub(crate) fn restart(&mut self, floor: Revision, sum: &mut RowSum) {
        assert!(
            self.floor < floor,
            "what was kept is older than what comes now"
        );
        for kept in &self.kept {
            sum.subtract(kept.hash);
        }
        for older in &self.older {
            sum.subtract(older.hash);
        }
        *self = Self::default();
        self.set_floors(floor, floor);
    }

    /// Drops the oldest revisions while there are more than the bounds allow; the newest stays, whatever its size. Updates
    /// the sum.
    pub(crate) fn trim(&mut self, bounds: HistoryBounds, sum: &mut RowSum) {
        while self.kept.len() as u64 > bounds.revisions
            || (self.bytes > bounds.bytes && self.kept.len() > 1)
        {
            let Some(oldest) = self.kept.pop_front() else {
                break;
            };
            self.bytes -= oldest.hash.bytes();
            self.floor = oldest.events.revision;
            sum.subtract(oldest.hash);
            match oldest.upgrade_part() {
                Some(part) if bounds.keeps_upgrade => {
                    sum.add(part.hash);
                    self.older_bytes += part.hash.bytes();
                    self.older.push_back(part);
                    continue;
                }
                Some(part) => self.forget_upgrade(&part),
                None => {}
            }
            self.forget_caller(oldest.events.caller.as_ref());
        }
        if !bounds.keeps_upgrade {
            self.upgrade_floor = self.floor;
        }
        self.trim_older(bounds, sum);
    }

    /// Drops what the upgrade history has below the floor and beyond the bounds. Only revisions with events of it count,
    /// so no others move its floor.
    fn trim_older(&mut self, bounds: HistoryBounds, sum: &mut RowSum) {
        while self.upgrade_revisions > bounds.revisions
            || (self.upgrade_bytes > bounds.bytes && self.upgrade_revisions > 1)
        {
            let Some(oldest) = self.older.pop_front() else {
                break;
            };
            self.upgrade_floor = oldest.events.revision;
            self.older_bytes -= oldest.hash.bytes();
            sum.subtract(oldest.hash);
            self.forget_upgrade(&oldest);
            self.forget_caller(oldest.events.caller.as_ref());
        }
    }

    fn forget_upgrade(&mut self, part: &HashedEvents) {
        self.upgrade_revisions -= 1;
        self.upgrade_bytes -= part.hash.bytes();
    }

    fn count_caller(&mut self, caller: Option<&Identity>) {
        if let Some(caller) = caller {
            *self.callers.entry(caller.clone()).or_default() += 1;
        }
    }

    fn forget_caller(&mut self, caller: Option<&Identity>) {
        let Some(caller) = caller else {
            return;
        };
        let count = self.callers.get_mut(caller);
        let count = count.expect("the callers of kept revisions are counted");
        *count -= 1;
        if *count == 0 {
            self.callers.remove(caller);
        }
    }
}
