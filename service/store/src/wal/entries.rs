//! The index of the log in memory: the place of each entry on disk, and the payloads of the newest.
//!
//! Unwritten entries can only be read from here, so their payloads stay even beyond the cache
//! bound; the bound of the queue limits them.

use std::collections::VecDeque;

use bytes::Bytes;

use super::layout::{Record, Summary};
use crate::log_id::LogId;

/// The place of a record on disk, and what is needed to verify it there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RecordPlace {
    pub(super) segment: u64,
    pub(super) offset: u64,
    /// In bytes, with its header.
    pub(super) length: u32,
    /// The chain that the record continues.
    pub(super) chain: u32,
}

#[derive(Debug)]
struct Slot {
    term: u64,
    leader: u64,
    /// `None` until the entry was written.
    place: Option<RecordPlace>,
}

/// The entries between the last purged one and the end of the log.
#[derive(Debug)]
pub(super) struct Entries {
    /// The index of the first slot, or of the next entry if there is none.
    first: u64,
    slots: VecDeque<Slot>,
    /// The payloads of the last `cached.len()` entries.
    cached: VecDeque<Bytes>,
    cached_bytes: usize,
    cache_bytes_max: usize,
    /// Entries below this index are written.
    unwritten: u64,
    summary: Summary,
    /// The lowest index to which the log was truncated since [`Entries::begin_write`].
    truncated_to: Option<u64>,
}

impl Entries {
    pub(super) fn new(summary: Summary, cache_bytes_max: usize) -> Self {
        let first = next_index(summary.last);
        Self {
            first,
            slots: VecDeque::new(),
            cached: VecDeque::new(),
            cached_bytes: 0,
            cache_bytes_max,
            unwritten: first,
            summary,
            truncated_to: None,
        }
    }

    pub(super) fn summary(&self) -> Summary {
        self.summary
    }

    /// The index that the next appended entry must have.
    pub(super) fn next(&self) -> u64 {
        next_index(self.summary.last)
    }

    /// The index of the first entry in the log.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// The number of entries.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The bytes of payload in memory.
    pub(super) fn cached_bytes(&self) -> usize {
        self.cached_bytes
    }

    pub(super) fn log_id(&self, index: u64) -> Option<LogId> {
        if let Some(purged) = self.summary.purged.filter(|purged| purged.index == index) {
            return Some(purged);
        }
        let slot = self.slots.get(self.position(index)?)?;
        Some(LogId {
            term: slot.term,
            leader: slot.leader,
            index,
        })
    }

    /// Returns the payload of an entry if it is in memory.
    pub(super) fn cached(&self, index: u64) -> Option<&Bytes> {
        let uncached = self.slots.len() - self.cached.len();
        self.cached
            .get(self.position(index)?.checked_sub(uncached)?)
    }

    /// Returns the place of an entry on disk, if it was written.
    pub(super) fn place(&self, index: u64) -> Option<RecordPlace> {
        self.slots.get(self.position(index)?)?.place
    }

    /// Appends an entry that is not written yet. The caller has checked its index.
    pub(super) fn append(&mut self, id: LogId, payload: Bytes) {
        self.push(id, None);
        self.cached_bytes += payload.len();
        self.cached.push_back(payload);
    }

    /// Appends an entry that was found on disk. The caller has checked its index.
    pub(super) fn append_written(&mut self, id: LogId, place: RecordPlace) {
        self.push(id, Some(place));
        self.unwritten = id.index + 1;
    }

    fn push(&mut self, id: LogId, place: Option<RecordPlace>) {
        self.slots.push_back(Slot {
            term: id.term,
            leader: id.leader,
            place,
        });
        self.summary.last = Some(id);
    }

    /// Removes everything after `last`, which is an entry of the log or the last purged one.
    ///
    /// During recovery it may also be an entry whose segment was removed, if a later record is
    /// going to purge it.
    pub(super) fn truncate_after(&mut self, last: Option<LogId>) {
        let next = next_index(last);
        while self.first + self.slots.len() as u64 > next && self.slots.pop_back().is_some() {
            if let Some(payload) = self.cached.pop_back() {
                self.cached_bytes -= payload.len();
            }
        }
        self.first = self.first.min(next);
        self.unwritten = self.unwritten.min(next);
        self.truncated_to = Some(self.truncated_to.map_or(next, |to| to.min(next)));
        self.summary.last = last;
    }

    /// Removes everything up to `id`, which may be beyond the end of the log.
    pub(super) fn purge(&mut self, id: LogId) {
        let next = id.index + 1;
        while self.first < next && self.slots.pop_front().is_some() {
            self.first += 1;
            if self.cached.len() > self.slots.len()
                && let Some(payload) = self.cached.pop_front()
            {
                self.cached_bytes -= payload.len();
            }
        }
        self.first = self.first.max(next);
        self.unwritten = self.unwritten.max(next);
        self.summary.add(&Record::Purged(id));
    }

    pub(super) fn commit(&mut self, id: LogId) {
        self.summary.committed = Some(id);
    }

    /// Limits the committed log id to the end of the log.
    pub(super) fn limit_commit(&mut self) {
        let Summary {
            last, committed, ..
        } = self.summary;
        if next_index(committed) > next_index(last) {
            self.summary.committed = last;
        }
    }

    /// Marks everything enqueued so far as about to be written.
    pub(super) fn begin_write(&mut self) {
        self.truncated_to = None;
    }

    /// Records where an entry of the batch was written, unless it was truncated meanwhile.
    pub(super) fn written(&mut self, index: u64, place: RecordPlace) {
        // A truncated entry may have been replaced by one that waits for the next batch.
        if self.truncated_to.is_some_and(|to| index >= to) {
            return;
        }
        if let Some(slot) = self
            .position(index)
            .and_then(|position| self.slots.get_mut(position))
        {
            slot.place = Some(place);
            self.unwritten = self.unwritten.max(index + 1);
        }
    }

    /// Drops the oldest payloads until the bound holds, or only unwritten entries are left.
    pub(super) fn shrink_cache(&mut self) {
        while self.cached_bytes > self.cache_bytes_max {
            let oldest = self.first + (self.slots.len() - self.cached.len()) as u64;
            if oldest >= self.unwritten {
                return;
            }
            let Some(payload) = self.cached.pop_front() else {
                return;
            };
            self.cached_bytes -= payload.len();
        }
    }

    fn position(&self, index: u64) -> Option<usize> {
        usize::try_from(index.checked_sub(self.first)?).ok()
    }
}

/// The index that follows a log id; a log begins at index 0.
pub(super) fn next_index(last: Option<LogId>) -> u64 {
    last.map_or(0, |last| last.index + 1)
}
