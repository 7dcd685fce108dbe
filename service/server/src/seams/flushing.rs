//! Who writes the log to the disk.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt;
use synod_store::{Log, LogWriter};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::random;

/// How what was enqueued to the log becomes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flushing {
    /// By threads of the store: a batch as soon as the one before is durable.
    Thread,
    /// By a task that takes a seeded while for each batch, so that a simulated crash can fall between a write and its
    /// sync.
    Task {
        /// The shortest time that a write and sync take.
        shortest: Duration,
        /// The longest.
        longest: Duration,
    },
}

/// Flushes a log for as long as it lives. Dropping it flushes what is enqueued, where there is a thread to do it.
#[derive(Debug)]
pub(crate) enum Flusher {
    /// Ends when it is dropped.
    Thread { _writer: LogWriter },
    /// Ends at once.
    Task(JoinHandle<()>),
}

impl Drop for Flusher {
    fn drop(&mut self) {
        if let Self::Task(task) = self {
            task.abort();
        }
    }
}

impl Flushing {
    /// Begins to flush `log`. `enqueued` is told whenever there is something to flush.
    ///
    /// # Errors
    ///
    /// When the system has no thread left.
    pub(crate) fn start(self, log: Log, enqueued: Arc<Notify>) -> io::Result<Flusher> {
        match self {
            Self::Thread => LogWriter::spawn(log).map(|writer| Flusher::Thread { _writer: writer }),
            Self::Task { shortest, longest } => Ok(Flusher::Task(tokio::spawn(flush_slowly(
                log, enqueued, shortest, longest,
            )))),
        }
    }
}

async fn flush_slowly(log: Log, enqueued: Arc<Notify>, shortest: Duration, longest: Duration) {
    let mut rng = random::rng();
    loop {
        enqueued.notified().await;
        loop {
            match log.write_gathered() {
                Ok(true) => {}
                Ok(false) => break,
                // Every callback has the error, and the log takes nothing more.
                Err(_) => return,
            }
            tokio::time::sleep(rng.random_range(shortest..=longest)).await;
            if log.sync_written().is_err() {
                return;
            }
        }
        // A chore that fails is tried again after a later flush.
        if let Err(error) = log.housekeep() {
            tracing::debug!(%error, "a chore of the log failed");
        }
    }
}
