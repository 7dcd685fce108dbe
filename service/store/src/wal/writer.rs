//! The threads that flush a log and do its housekeeping in production.

use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use super::Log;
use super::shared::LogParts;

/// Flushes a log on one thread and does its housekeeping on another, until it is dropped.
///
/// Dropping it flushes what is enqueued, seals the log and waits for both threads.
#[derive(Debug)]
pub struct LogWriter {
    log: Log,
    threads: Vec<JoinHandle<()>>,
}

impl LogWriter {
    /// Starts the threads. One log has one writer.
    ///
    /// # Errors
    /// When the operating system refuses a thread.
    pub fn spawn(log: Log) -> io::Result<Self> {
        let mut writer = Self {
            log: log.clone(),
            threads: Vec::new(),
        };
        let shared = Arc::clone(&log.shared);
        writer.threads.push(
            Builder::new()
                .name("wal-chores".into())
                .spawn(move || do_chores(&shared))?,
        );
        writer.threads.push(
            Builder::new()
                .name("wal-writer".into())
                .spawn(move || write(&log))?,
        );
        Ok(writer)
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        self.log.shared.lock().stopping = true;
        self.log.shared.work.notify_all();
        self.log.shared.chores.notify_all();
        for thread in self.threads.drain(..) {
            // The panic of a thread was reported already; dropping must not panic again.
            drop(thread.join());
        }
    }
}

fn write(log: &Log) {
    loop {
        let stopping = {
            let mut state = log.shared.lock();
            while state.queue.is_empty() && !state.stopping && state.poison.is_none() {
                state = log
                    .shared
                    .work
                    .wait(state)
                    .expect("nothing panics while it holds the state");
            }
            state.stopping
        };
        // Every callback got the error, and the log is poisoned: no one else has to be told.
        let flushed = if stopping { log.seal() } else { flush(log) };
        if stopping || flushed.is_err() {
            return;
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the simulator has no such thread, and nothing is decided by it"
)]
fn flush(log: &Log) -> io::Result<()> {
    let began = std::time::Instant::now();
    let wrote = log.flush()?;
    if let Some(told) = log.shared.flushed.0.get().filter(|_| wrote) {
        told(began.elapsed());
    }
    Ok(())
}

fn do_chores(shared: &LogParts) {
    loop {
        {
            let mut state = shared.lock();
            while state.purge_due.is_none()
                && !state.spare_due
                && !state.stopping
                && state.poison.is_none()
            {
                state = shared
                    .chores
                    .wait(state)
                    .expect("nothing panics while it holds the state");
            }
            if state.stopping || state.poison.is_some() {
                return;
            }
        }
        // A failure shows in the status, and the next housekeeping tries again. Until then a flush that needs a segment
        // allocates it, and fails for good if it cannot.
        drop(shared.housekeep());
    }
}
