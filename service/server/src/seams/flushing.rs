//! The seam for writing the log to the disk: a thread in production, a slow task in a simulation.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt;
use synod_store::{Log, LogWriter};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::random;

/// How enqueued batches of the log become durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flushing {
    /// By threads of the store: each batch as soon as the one before is durable.
    Thread,
    /// By a task that takes a random, seeded time for each batch, so that a simulated crash can fall between a write
    /// and its sync.
    Task {
        /// The shortest time that a write and sync take.
        shortest: Duration,
        /// The longest time that a write and sync take.
        longest: Duration,
    },
}

/// Flushes a log for as long as it lives. Dropping it flushes what is enqueued if it is a thread.
#[derive(Debug)]
pub(crate) enum Flusher {
    /// Flushes the rest and ends when dropped.
    Thread { _writer: LogWriter },
    /// Is aborted when dropped.
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
    /// Begins to flush `log`. `enqueued` is notified whenever there is something to flush.
    ///
    /// # Errors
    ///
    /// When the system cannot start another thread.
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
                // Every callback gets the error, and the log accepts nothing more.
                Err(_) => return,
            }
            tokio::time::sleep(rng.random_range(shortest..=longest)).await;
            if log.sync_written().is_err() {
                return;
            }
        }
        // A failed chore is tried again after a later flush.
        if let Err(error) = log.housekeep() {
            tracing::debug!(%error, "a chore of the log failed");
        }
    }
}
