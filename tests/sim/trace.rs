//! The trace of a run: its events, in order. Two runs of one seed have equal traces.

use std::fmt;
use std::sync::{Arc, Mutex};

/// The trace of one run. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Trace(Arc<Mutex<Lines>>);

#[derive(Default)]
struct Lines {
    now: u64,
    failure: Option<String>,
    lines: Vec<String>,
}

impl Trace {
    /// Sets the clock that stamps the lines, in simulated milliseconds.
    pub(crate) fn advance(&self, now: u64) {
        self.0.lock().unwrap().now = now;
    }

    /// Adds a line. It must not contain real time, addresses in memory or ids of tasks.
    pub(crate) fn add(&self, what: impl fmt::Display) {
        let mut lines = self.0.lock().unwrap();
        let line = format!("{:>8} {what}", lines.now);
        lines.lines.push(line);
    }

    /// Adds a line about something that must never happen, and makes the run fail.
    pub(crate) fn fail(&self, what: impl fmt::Display) {
        self.add(&what);
        self.0.lock().unwrap().failure = Some(what.to_string());
    }

    /// The reason for which the run fails, if there is one.
    pub(crate) fn failure(&self) -> Option<String> {
        self.0.lock().unwrap().failure.clone()
    }

    /// The whole trace.
    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap().lines.join("\n")
    }
}
