//! What the program logs: events to standard error, as text or JSON.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use crate::failure::Failure;
use crate::settings::LogFormat;

/// Whether a filter can be used.
///
/// # Errors
///
/// What is wrong with it.
pub(crate) fn check(filter: &str) -> Result<(), String> {
    parse(filter).map(drop)
}

/// From now on, events that pass the filter are logged.
///
/// # Errors
///
/// The filter cannot be used, or somebody else is logging already.
pub(crate) fn start(filter: &str, format: LogFormat) -> Result<(), Failure> {
    let fault =
        |fault: String| Failure::local(format!("logging cannot start: {fault}"), "correct --log");
    let filter = parse(filter).map_err(fault)?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).try_init(),
        LogFormat::Json => log
            .json()
            .flatten_event(true)
            .with_current_span(true)
            .try_init(),
    };
    started.map_err(|error| fault(error.to_string()))
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
