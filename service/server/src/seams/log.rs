//! The seam to the log of the process, whose filter a replica can change for a while.

use std::time::Duration;

/// The log of the process that a replica runs in.
pub trait ProcessLog: Send + Sync + 'static {
    /// How many lines were dropped so far.
    fn dropped_lines(&self) -> u64;

    /// Which events are logged.
    fn filter(&self) -> LogFilter;

    /// Logs what another filter lets through until the time has passed, or `None`: what the process was configured with, from
    /// now on. Returns the filter from now on.
    ///
    /// # Errors
    ///
    /// What is wrong with the filter. Then nothing has changed.
    fn set_filter(&self, other: Option<(&str, Duration)>) -> Result<LogFilter, String>;
}

/// Which events are logged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFilter {
    /// The filter in force.
    pub filter: String,
    /// The filter that the process was configured with.
    pub configured: String,
    /// After this time the configured filter returns; `None`: it is in force.
    pub remaining: Option<Duration>,
}

/// No log: of a process that logs nothing, or whose log is not ours.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLog;

impl ProcessLog for NoLog {
    fn dropped_lines(&self) -> u64 {
        0
    }

    fn filter(&self) -> LogFilter {
        LogFilter::default()
    }

    fn set_filter(&self, _: Option<(&str, Duration)>) -> Result<LogFilter, String> {
        Err("cannot be set: this process has no log of its own".to_owned())
    }
}
