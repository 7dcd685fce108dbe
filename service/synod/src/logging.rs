//! The program's log: events go to standard error, as text or JSON.
//!
//! Logging never blocks. Lines go through a bounded queue to a thread that writes them. A line that finds the queue
//! full is dropped and counted, so a pipe that nobody reads loses lines, but never holds up a replica.

mod dropped;
mod last_words;
#[cfg(test)]
mod lines;
mod sparing;
mod switch;

use std::io::IsTerminal as _;

use synod_server::limits::LOG_LINES_MAX;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::FilterExt as _;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, fmt, registry, reload};

use crate::failure::Failure;
use crate::settings::LogFormat;
pub(crate) use last_words::last_words;
use sparing::Sparing;
pub(crate) use sparing::{Ending, HeldBack};
pub(crate) use switch::Switch;

/// The running log. Dropping it writes the queued lines, unless that takes too long.
pub(crate) struct Logging {
    sparing: Sparing,
    switch: Switch,
    writer: Option<WorkerGuard>,
}

/// Checks a filter.
///
/// # Errors
///
/// The text says what is wrong with the filter.
pub(crate) fn check(filter: &str) -> Result<(), String> {
    parse(filter).map(drop)
}

/// Starts logging the events that pass the filter, and panics.
///
/// # Errors
///
/// The filter is invalid, or logging was started already.
pub(crate) fn start(filter: &str, format: LogFormat) -> Result<Logging, Failure> {
    let fault =
        |fault: String| Failure::local(format!("logging cannot start: {fault}"), "correct --log");
    let sparing = Sparing::default();
    let (reloaded, handle) = reload::Layer::new(parse(filter).map_err(fault)?);
    let switch = Switch::new(handle, filter);
    let (writer, guard) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(LOG_LINES_MAX)
        .thread_name("log")
        .finish(std::io::stderr());
    let dropped = writer.error_counter();
    let log = fmt::layer().with_writer(writer);
    let log = match format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).boxed(),
        LogFormat::Json => log
            .json()
            .flatten_event(true)
            .with_current_span(true)
            .boxed(),
    };
    let started = registry()
        .with(log.with_filter(reloaded.and(sparing.clone())))
        .try_init();
    started.map_err(|error| fault(error.to_string()))?;
    dropped::count_with(dropped);
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = std::backtrace::Backtrace::capture();
        tracing::error!(%panic, %backtrace, "a thread panicked");
    }));
    Ok(Logging {
        sparing,
        switch,
        writer: Some(guard),
    })
}

impl Logging {
    /// The task that reports how many events were held back.
    pub(crate) fn held_back(&self) -> HeldBack {
        self.sparing.held_back()
    }

    /// What changes which events are logged.
    pub(crate) fn switch(&self) -> Switch {
        self.switch.clone()
    }

    /// The switch to set when the replica is asked to end.
    pub(crate) fn ending(&self) -> Ending {
        self.sparing.ending()
    }
}

impl Drop for Logging {
    fn drop(&mut self) {
        let writer = self.writer.take();
        last_words::patiently(move || drop(writer));
    }
}

fn parse(filter: &str) -> Result<EnvFilter, String> {
    EnvFilter::builder()
        .parse(filter)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_names_levels_and_places() {
        assert_eq!(check("info"), Ok(()));
        assert_eq!(check("synod_server=debug,info"), Ok(()));
        assert!(check("synod_server=loud").is_err());
    }
}
