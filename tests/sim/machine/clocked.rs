//! A tokio runtime whose clock is advanced by the simulation, at a rate of its own.

use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::watchdog::watched;

/// A paused runtime, whose clock runs faster or slower than the world's, as real clocks do.
pub(crate) struct Clocked {
    runtime: Option<Runtime>,
    /// The rate of its clock, in thousandths of the world's.
    rate: u64,
    /// Thousandths of a millisecond that are still to run: tokio's timers count whole ones only.
    owed: u64,
}

impl Clocked {
    /// A runtime that is not started yet.
    pub(crate) fn new(rate: u64) -> Self {
        Self {
            runtime: None,
            rate,
            owed: 0,
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.runtime.is_some()
    }

    /// Starts the runtime, without tasks.
    pub(crate) fn start(&mut self) {
        let mut builder = Builder::new_current_thread();
        self.runtime = Some(builder.enable_time().start_paused(true).build().unwrap());
    }

    /// Drops all tasks, wherever they are.
    pub(crate) fn stop(&mut self) {
        self.runtime = None;
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            runtime.spawn(task);
        }
    }

    /// Runs for `millis` of the world's time.
    pub(crate) fn advance(&mut self, millis: u64) {
        self.owed += millis * self.rate;
        let (own, rest) = (self.owed / 1_000, self.owed % 1_000);
        self.owed = rest;
        if let Some(runtime) = &self.runtime {
            runtime
                .block_on(async { watched(tokio::time::sleep(Duration::from_millis(own))).await });
        }
    }
}
