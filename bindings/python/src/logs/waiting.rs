//! The queue of log records that Python has not taken yet.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tracing::Level;

/// The length of the queue. When it is full, new records are dropped and counted.
const WAITING_MAX: usize = 1_024;

/// A log record: its level as a number of `logging`, its target and its text.
pub(super) type Record = (u8, String, String);

/// The queue of log records. A Python thread takes them, so that no thread of the runtime has to enter the interpreter.
#[derive(Default)]
pub(crate) struct Logs {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiting {
    records: VecDeque<Record>,
    lost: u64,
    stopped: bool,
}

impl Logs {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, record: Record) {
        let mut waiting = self.lock();
        if waiting.records.len() < WAITING_MAX {
            waiting.records.push_back(record);
        } else {
            waiting.lost += 1;
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    pub(crate) fn stop(&self) {
        self.lock().stopped = true;
        self.arrived.notify_all();
    }

    /// Waits for records; `None` once the interpreter ends.
    pub(super) fn next(&self) -> Option<Vec<Record>> {
        let mut waiting = self.lock();
        while waiting.records.is_empty() && !waiting.stopped {
            waiting = self
                .arrived
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let mut records: Vec<Record> = waiting.records.drain(..).collect();
        let lost = std::mem::take(&mut waiting.lost);
        if lost > 0 {
            let message =
                format!("{lost} records were lost: they came faster than they were taken");
            records.push((number(Level::WARN), "synod_client".to_owned(), message));
        }
        (!records.is_empty()).then_some(records)
    }
}

/// A level as a number of `logging`.
pub(super) fn number(level: Level) -> u8 {
    match level {
        Level::ERROR => 40,
        Level::WARN => 30,
        Level::INFO => 20,
        Level::DEBUG => 10,
        Level::TRACE => 5,
    }
}
