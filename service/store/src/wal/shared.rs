//! What the handles and threads of one log share, with its two locks.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use super::appender::{Appender, Placements};
use super::entries::Entries;
use super::layout::Record;
use super::queue::{Done, Item, Queue};
use super::recovery::Recovered;
use super::{LogConfig, LogError};
use crate::disk::{Disk, DiskFile};
use crate::failure::IoFailure;
use crate::log_id::LogId;

/// The shared parts of one log.
#[derive(Debug)]
pub(super) struct LogParts {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) directory: PathBuf,
    pub(super) config: LogConfig,
    /// Held during writes and syncs. Where both locks are needed, this one is taken first.
    io: Mutex<Io>,
    /// Held only briefly, never during disk access.
    state: Mutex<LogState>,
    /// The function that is told how long the writer thread took for each batch.
    pub(super) flushed: Flushed,
    /// Tells the writer thread that there is something to flush, or to stop.
    pub(super) work: Condvar,
    /// Tells the housekeeping thread that there is work, or to stop.
    pub(super) chores: Condvar,
}

/// A function that is told how long batches take, if one was set.
#[derive(Default)]
pub(super) struct Flushed(pub(super) OnceLock<Box<dyn Fn(Duration) + Send + Sync>>);

impl fmt::Debug for Flushed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Flushed")
            .field(&self.0.get().is_some())
            .finish()
    }
}

/// What the thread that flushes needs to write.
#[derive(Debug)]
pub(super) struct Io {
    pub(super) appender: Appender,
    pub(super) in_flight: Option<InFlight>,
}

/// A batch that was taken from the queue and is not yet reported durable.
pub(super) struct InFlight {
    pub(super) placements: Placements,
    pub(super) done: Vec<Done>,
    pub(super) purged: Option<LogId>,
    /// Whether anything was written and has to be synced.
    pub(super) wrote: bool,
}

/// The state of the log that callers see.
#[derive(Debug)]
pub(super) struct LogState {
    pub(super) entries: Entries,
    pub(super) queue: Queue,
    /// The segments that entries may be read from, by number.
    pub(super) files: BTreeMap<u64, Arc<dyn DiskFile>>,
    /// Whether the committed log id still has to be written.
    pub(super) committed_is_new: bool,
    /// The last durably purged entry, if segments may have to be removed for it.
    pub(super) purge_due: Option<LogId>,
    pub(super) spare_due: bool,
    /// The error of the last housekeeping, if it failed.
    pub(super) chore_failure: Option<String>,
    pub(super) poison: Option<Arc<IoFailure>>,
    pub(super) stopping: bool,
}

impl LogParts {
    pub(super) fn new(
        disk: Arc<dyn Disk>,
        directory: &Path,
        config: LogConfig,
        recovered: Recovered,
    ) -> Self {
        let Recovered {
            segments,
            end,
            entries,
        } = recovered;
        let state = LogState {
            queue: Queue::new(config.queue_bytes_max),
            files: segments
                .iter()
                .map(|s| (s.number, Arc::clone(&s.file)))
                .collect(),
            committed_is_new: false,
            purge_due: entries.summary().purged,
            spare_due: false,
            chore_failure: None,
            poison: None,
            stopping: false,
            entries,
        };
        let directory = directory.to_owned();
        let appender = Appender::new(
            Arc::clone(&disk),
            directory.clone(),
            config.clone(),
            segments,
            end,
        );
        Self {
            disk,
            directory,
            config,
            io: Mutex::new(Io {
                appender,
                in_flight: None,
            }),
            state: Mutex::new(state),
            flushed: Flushed::default(),
            work: Condvar::new(),
            chores: Condvar::new(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, LogState> {
        self.state
            .lock()
            .expect("nothing panics while it holds the state of the log")
    }

    pub(super) fn lock_io(&self) -> MutexGuard<'_, Io> {
        self.io
            .lock()
            .expect("nothing panics while it writes the log")
    }

    /// Locks the state of a log that has not failed.
    pub(super) fn healthy(&self) -> Result<MutexGuard<'_, LogState>, LogError> {
        let state = self.lock();
        match &state.poison {
            None => Ok(state),
            Some(cause) => Err(LogError::Poisoned(Arc::clone(cause))),
        }
    }

    /// Unlocks the state before it wakes the writer thread, which would wait for the lock at once.
    pub(super) fn enqueue(
        &self,
        mut state: MutexGuard<'_, LogState>,
        records: Vec<Record>,
        done: Option<Done>,
    ) {
        state.queue.push(Item { records, done });
        drop(state);
        self.work.notify_one();
    }

    /// Fails the log for good: all waiting callers get the error, and so does every later call.
    pub(super) fn poison(&self, failure: IoFailure, done: Vec<Done>) -> LogError {
        let cause = Arc::new(failure);
        let mut state = self.lock();
        let cause = Arc::clone(state.poison.get_or_insert(cause));
        let waiting = state.queue.take(usize::MAX);
        let rooms = state.queue.take_waiting();
        drop(state);
        // Callbacks run without a lock, because they may use the log.
        for done in done
            .into_iter()
            .chain(waiting.into_iter().filter_map(|item| item.done))
        {
            done(Err(LogError::Poisoned(Arc::clone(&cause)).into()));
        }
        rooms.into_iter().for_each(|room| room());
        self.work.notify_all();
        self.chores.notify_all();
        LogError::Poisoned(cause)
    }
}

impl fmt::Debug for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InFlight")
            .field("entries", &self.placements.len())
            .finish_non_exhaustive()
    }
}
