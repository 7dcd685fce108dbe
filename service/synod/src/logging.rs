//! What the program logs: events to standard error, as text or JSON.
//!
//! Nothing waits for whoever reads them. Lines go through a bounded queue to a thread that writes them; what finds no room
//! there is dropped and counted, so a pipe that nobody reads costs lines and never a replica.

mod dropped;
mod last_words;
mod sparing;

use std::io::IsTerminal as _;

use synod_server::limits::LOG_LINES_MAX;
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::FilterExt as _;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, fmt, registry};

use crate::failure::Failure;
use crate::settings::LogFormat;
pub(crate) use dropped::dropped_lines;
pub(crate) use last_words::last_words;
use sparing::Sparing;
pub(crate) use sparing::{Ending, HeldBack};

/// What is logged, until this is dropped: then what waits is written, if somebody reads it soon.
pub(crate) struct Logging {
    sparing: Sparing,
    writer: Option<WorkerGuard>,
}

/// Whether a filter can be used.
///
/// # Errors
///
/// What is wrong with it.
pub(crate) fn check(filter: &str) -> Result<(), String> {
    parse(filter).map(drop)
}

/// From now on, events that pass the filter are logged, panics too.
///
/// # Errors
///
/// The filter cannot be used, or somebody else is logging already.
pub(crate) fn start(filter: &str, format: LogFormat) -> Result<Logging, Failure> {
    let fault =
        |fault: String| Failure::local(format!("logging cannot start: {fault}"), "correct --log");
    let sparing = Sparing::default();
    let filter = parse(filter).map_err(fault)?.and(sparing.clone());
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
    let started = registry().with(log.with_filter(filter)).try_init();
    started.map_err(|error| fault(error.to_string()))?;
    dropped::count_with(dropped);
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = std::backtrace::Backtrace::capture();
        tracing::error!(%panic, %backtrace, "a thread panicked");
    }));
    Ok(Logging {
        sparing,
        writer: Some(guard),
    })
}

impl Logging {
    /// What tells of the events that are held back because they were said often enough.
    pub(crate) fn held_back(&self) -> HeldBack {
        self.sparing.held_back()
    }

    /// What is told when the replica is asked to end.
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
