//! The public interface of the log: enqueued entries are readable at once, and durable after a flush.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::entries::{Entries, next_index};
use super::layout::{ENTRY_OVERHEAD, Record, Summary};
use super::queue::Done;
use super::recovery::{self, Recovery};
use super::shared::LogParts;
use super::{APPEND_BYTES_MAX, LogConfig, LogError, LostEnd, OpenError, RECORD_BYTES_MAX};
use crate::disk::Disk;
use crate::failure::IoFailure;
use crate::log_id::{LogId, LogRecord};

/// The log. Handles are cheap to clone and share one log.
///
/// Only [`Log::flush`] and its parts, [`Log::housekeep`], [`Log::seal`] and reads of entries that left the cache block
/// on the disk. In production a [`LogWriter`] calls the first three on threads of its own; a simulator calls them
/// itself.
///
/// [`LogWriter`]: super::LogWriter
#[derive(Clone, Debug)]
pub struct Log {
    pub(super) shared: Arc<LogParts>,
}

/// Figures of a log, for metrics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogStatus {
    /// The number of entries in the log, without the purged ones.
    pub entries: usize,
    /// The number of segments that entries may be read from.
    pub segments: usize,
    /// The bytes of payload in memory.
    pub cached_bytes: usize,
    /// The bytes that wait to be written.
    pub queued_bytes: usize,
    /// Whether a write or sync has failed, so that the process must stop.
    pub poisoned: bool,
    /// The error of the last [`Log::housekeep`], if it failed: purged segments then stay on the disk.
    pub chore_failure: Option<String>,
}

impl Log {
    /// Writes the first segment of the log of a new data directory; `directory` must exist.
    ///
    /// [`DataDirectory::open`](crate::DataDirectory::open) does this when it formats a directory.
    /// An existing log is overwritten.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn format(
        disk: &dyn Disk,
        directory: &Path,
        directory_id: [u8; 16],
    ) -> Result<(), IoFailure> {
        recovery::format(disk, directory, directory_id)
    }

    /// Whether a log directory holds no more than [`Log::format`] writes, complete or interrupted.
    pub(crate) fn is_blank(disk: &dyn Disk, directory: &Path) -> bool {
        recovery::is_blank(disk, directory)
    }

    /// Opens a log, verifying every record, and repairs a torn tail.
    ///
    /// What was recovered is durable when this returns, so the caller may act upon it.
    ///
    /// # Errors
    /// See [`OpenError`]. The replica must not start then. All decisions are made before anything is
    /// changed, so the files are as they were, unless the file system itself failed in the end.
    pub fn open(
        disk: Arc<dyn Disk>,
        directory: &Path,
        config: LogConfig,
    ) -> Result<(Self, Recovery), OpenError> {
        let (recovered, recovery) = recovery::open(&disk, directory, &config)?;
        let shared = LogParts::new(disk, directory, config, recovered);
        Ok((
            Self {
                shared: Arc::new(shared),
            },
            recovery,
        ))
    }

    /// Enqueues entries, which are readable when this returns, and durable when `done` is called with
    /// `Ok`. Callbacks are called in the order of the calls.
    ///
    /// Without records, `done` reports when everything enqueued before is durable.
    ///
    /// This never blocks. If the queue is at its bound it returns [`LogError::Full`]; a caller that first waits for
    /// [`Log::when_room`], and is the only one that appends, does not get that.
    ///
    /// # Errors
    /// See [`LogError`]. Nothing was enqueued then, and `done` is dropped without a call.
    pub fn enqueue_append(&self, records: Vec<LogRecord>, done: Done) -> Result<(), LogError> {
        let mut state = self.shared.healthy()?;
        if !state.queue.has_room() {
            return Err(LogError::Full {
                queued_bytes: state.queue.bytes(),
                bound_bytes: state.queue.bytes_max(),
            });
        }
        check_append(&state.entries, &records)?;
        let mut encoded = Vec::with_capacity(records.len());
        for LogRecord { id, payload } in records {
            state.entries.append(id, payload.clone());
            encoded.push(Record::Entry(id, payload));
        }
        self.shared.enqueue(state, encoded, Some(done));
        Ok(())
    }

    /// Removes every entry after the one with this index, or all entries if `None`.
    ///
    /// Reads no longer find the entries when this returns. The removal is written with the next batch, before whatever
    /// is appended later; a crash before that restores the entries, which Raft permits, since no entry that replaced
    /// them has been acknowledged.
    ///
    /// # Errors
    /// [`LogError::BadTruncation`] if that would remove purged or committed entries, or keep entries
    /// that do not exist, and [`LogError::Poisoned`].
    pub fn truncate_after(&self, index: Option<u64>) -> Result<(), LogError> {
        let mut state = self.shared.healthy()?;
        let last = match index {
            None => None,
            Some(index) => state.entries.log_id(index),
        };
        let summary = state.entries.summary();
        let possible = match index {
            None => summary.purged.is_none(),
            Some(_) => last.is_some(),
        } && summary
            .committed
            .is_none_or(|c| last.is_some_and(|last| last.index >= c.index));
        if !possible {
            let Summary {
                purged,
                last,
                committed,
            } = summary;
            return Err(LogError::BadTruncation {
                after: index,
                purged,
                committed,
                last,
            });
        }
        if last == summary.last {
            return Ok(());
        }
        state.entries.truncate_after(last);
        self.shared
            .enqueue(state, vec![Record::TruncateAfter(last)], None);
        Ok(())
    }

    /// Removes every entry up to `id`, which may lie beyond the end of the log (after a checkpoint was installed); the
    /// next entry must then follow `id`.
    ///
    /// Reads no longer find the entries at once; [`Log::housekeep`] removes segments once the purge is durable. Purging
    /// less than was purged before does nothing.
    ///
    /// # Errors
    /// [`LogError::ImpossibleIndex`] and [`LogError::Poisoned`].
    pub fn purge(&self, id: LogId) -> Result<(), LogError> {
        check_index(id)?;
        let mut state = self.shared.healthy()?;
        if state
            .entries
            .summary()
            .purged
            .is_some_and(|purged| purged.index >= id.index)
        {
            return Ok(());
        }
        state.entries.purge(id);
        self.shared.enqueue(state, vec![Record::Purged(id)], None);
        Ok(())
    }

    /// Records that everything up to `id` is committed.
    ///
    /// It is written along with the next batch and causes no write of its own: after a crash an older value may return,
    /// which only means that the leader is asked again.
    ///
    /// # Errors
    /// [`LogError::ImpossibleIndex`] and [`LogError::Poisoned`].
    pub fn save_committed(&self, id: LogId) -> Result<(), LogError> {
        check_index(id)?;
        let mut state = self.shared.healthy()?;
        if state
            .entries
            .summary()
            .committed
            .is_none_or(|committed| committed.index < id.index)
        {
            state.entries.commit(id);
            state.committed_is_new = true;
        }
        Ok(())
    }

    /// Returns the entries of `range` that the log holds, in order and without holes.
    ///
    /// Purged entries are missing at the beginning, and those not yet appended at the end. The answer ends early once
    /// it has `max_bytes` of payload, but has at least one entry if there is one.
    ///
    /// # Errors
    /// [`LogError::Damaged`] when an entry on disk is not what was written; [`LogError::Io`];
    /// [`LogError::Poisoned`].
    pub fn entries(&self, range: Range<u64>, max_bytes: usize) -> Result<Vec<LogRecord>, LogError> {
        self.shared.read(range, max_bytes)
    }

    /// Returns the log id of an entry that the log holds, or of the last purged one.
    #[must_use]
    pub fn log_id(&self, index: u64) -> Option<LogId> {
        self.shared.lock().entries.log_id(index)
    }

    /// Returns the last entry, durable or not; the last purged one if there is none after it.
    #[must_use]
    pub fn last_log_id(&self) -> Option<LogId> {
        self.shared.lock().entries.summary().last
    }

    /// Returns the last purged entry.
    #[must_use]
    pub fn purged(&self) -> Option<LogId> {
        self.shared.lock().entries.summary().purged
    }

    /// Returns the last entry that [`Log::save_committed`] recorded, or that was recovered.
    #[must_use]
    pub fn committed(&self) -> Option<LogId> {
        self.shared.lock().entries.summary().committed
    }

    /// Returns the present figures.
    #[must_use]
    pub fn status(&self) -> LogStatus {
        let state = self.shared.lock();
        LogStatus {
            entries: state.entries.len(),
            segments: state.files.len(),
            cached_bytes: state.entries.cached_bytes(),
            queued_bytes: state.queue.bytes(),
            poisoned: state.poison.is_some(),
            chore_failure: state.chore_failure.clone(),
        }
    }

    /// Calls `room` once when another append will be taken: now if there is room, else from a flush.
    ///
    /// It is also called when the log fails, so that no caller waits for ever.
    pub fn when_room(&self, room: Box<dyn FnOnce() + Send>) {
        let mut state = self.shared.lock();
        if state.queue.has_room() || state.poison.is_some() {
            drop(state);
            room();
        } else {
            state.queue.wait_for_room(room);
        }
    }

    /// Sets the function that is told how long a [`LogWriter`] takes to write and sync each batch. The first call
    /// counts.
    ///
    /// [`LogWriter`]: super::LogWriter
    pub fn when_flushed(&self, told: Box<dyn Fn(Duration) + Send + Sync>) {
        let _ = self.shared.flushed.0.set(told);
    }

    /// Writes and syncs what is enqueued, with one write and one sync, and calls the callbacks.
    ///
    /// Returns whether there was anything to do. One call takes at most
    /// [`LogConfig::batch_bytes_max`]; call again until it returns `false`.
    ///
    /// # Errors
    /// When the write or the sync failed, now or earlier: the log is then poisoned for good, every
    /// callback gets the error, and the process must stop.
    pub fn flush(&self) -> io::Result<bool> {
        let mut io = self.shared.lock_io();
        let wrote = self.shared.write_gathered(&mut io)?;
        self.shared.sync_written(io)?;
        Ok(wrote)
    }

    /// The first half of [`Log::flush`]: writes, and leaves the sync to [`Log::sync_written`].
    ///
    /// For a simulator, which lets time pass, or the power fail, in between. While a batch waits for its sync this
    /// writes nothing and returns `false`.
    ///
    /// # Errors
    /// As [`Log::flush`].
    pub fn write_gathered(&self) -> io::Result<bool> {
        self.shared.write_gathered(&mut self.shared.lock_io())
    }

    /// The second half of [`Log::flush`]: syncs what was written, and calls the callbacks.
    ///
    /// # Errors
    /// As [`Log::flush`].
    pub fn sync_written(&self) -> io::Result<()> {
        self.shared.sync_written(self.shared.lock_io())
    }

    /// Removes purged segments, and fills a spare segment with zeros when the current one is half full, so that flushes
    /// need not do this.
    ///
    /// Only the disk space requires it: without it, the flush that needs a segment allocates it.
    ///
    /// # Errors
    /// An error of the file system. The log itself is unharmed, and the next call tries again.
    pub fn housekeep(&self) -> Result<(), IoFailure> {
        self.shared.housekeep()
    }

    /// Records durably that the replica has caught up with the leader's commit index: the next recovery no longer sets
    /// [`Recovery::must_catch_up`].
    ///
    /// # Errors
    /// An error of the file system. It is then unknown whether the next recovery sets it.
    pub fn caught_up(&self) -> Result<(), IoFailure> {
        self.shared.forget_must_catch_up()
    }

    /// Writes down what the end that recovery cut off held at most, for later starts.
    ///
    /// # Errors
    ///
    /// When the disk fails.
    pub fn note_lost_end(&self, lost: LostEnd) -> Result<(), IoFailure> {
        self.shared.note_lost_end(lost)
    }

    /// Flushes everything and proves on disk that it is durable, so that later damage is told apart from a torn tail.
    /// Used for a clean stop; the log stays usable.
    ///
    /// # Errors
    /// As [`Log::flush`].
    pub fn seal(&self) -> io::Result<()> {
        while self.flush()? {}
        self.shared.seal()
    }
}

fn check_index(id: LogId) -> Result<(), LogError> {
    if id.index > LogId::INDEX_MAX {
        return Err(LogError::ImpossibleIndex { id });
    }
    Ok(())
}

fn check_append(entries: &Entries, records: &[LogRecord]) -> Result<(), LogError> {
    let mut last = entries.summary().last;
    let mut total = 0_usize;
    for LogRecord { id, payload } in records {
        total = total.saturating_add(ENTRY_OVERHEAD + payload.len());
        if payload.len() > RECORD_BYTES_MAX || total > APPEND_BYTES_MAX {
            return Err(LogError::TooLarge {
                id: *id,
                bytes: payload.len(),
            });
        }
        check_index(*id)?;
        let (expected, term) = (next_index(last), last.map_or(0, |last| last.term));
        if id.index != expected || id.term < term {
            return Err(LogError::OutOfOrder {
                offered: *id,
                expected,
                term,
            });
        }
        last = Some(*id);
    }
    Ok(())
}
