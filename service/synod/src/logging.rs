//! What the program logs: events to standard error, as text or JSON.

mod sparing;

use std::io::IsTerminal as _;

use tracing_subscriber::filter::FilterExt as _;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, fmt, registry};

use crate::failure::Failure;
use crate::settings::LogFormat;
pub(crate) use sparing::HeldBack;
use sparing::Sparing;

/// Whether a filter can be used.
///
/// # Errors
///
/// What is wrong with it.
pub(crate) fn check(filter: &str) -> Result<(), String> {
    parse(filter).map(drop)
}

/// From now on, events that pass the filter are logged. What is held back because it was said often enough is told by what
/// this answers.
///
/// # Errors
///
/// The filter cannot be used, or somebody else is logging already.
pub(crate) fn start(filter: &str, format: LogFormat) -> Result<HeldBack, Failure> {
    let fault =
        |fault: String| Failure::local(format!("logging cannot start: {fault}"), "correct --log");
    let sparing = Sparing::default();
    let held_back = sparing.held_back();
    let filter = parse(filter).map_err(fault)?.and(sparing);
    let log = fmt::layer().with_writer(std::io::stderr);
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
    Ok(held_back)
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
