//! The settings for reaching a cluster.

use std::time::Duration;

use clap::ArgMatches;

use super::{Layers, address};
use crate::args::ClientArgs;
use crate::duration;
use crate::failure::Failure;

/// The address where `synod dev` and a single `synod serve` serve clients by default.
const ENDPOINT: &str = "127.0.0.1:4600";

const TIMEOUT: Duration = Duration::from_secs(10);

/// The settings of every command that calls the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientSettings {
    /// The client addresses of replicas; at least one.
    pub(crate) endpoints: Vec<String>,
    /// How long a request may take, over all tries.
    pub(crate) timeout: Duration,
}

impl ClientSettings {
    /// # Errors
    ///
    /// Every setting that cannot be used.
    pub(crate) fn load(args: &ClientArgs, matches: &ArgMatches) -> Result<Self, Failure> {
        let mut layers = Layers::open(matches, args.config.as_deref())?;
        let endpoints = layers.given_or("endpoints", endpoints, vec![ENDPOINT.to_owned()]);
        let timeout = layers.given_or("timeout", duration::parse_some, TIMEOUT);
        layers.check()?;
        Ok(Self { endpoints, timeout })
    }
}

/// Parses addresses that are separated by commas. Each may have the scheme `http://`, since people copy URLs.
fn endpoints(text: &str) -> Result<Vec<String>, String> {
    let mut endpoints = Vec::new();
    for (number, item) in (1..).zip(text.split(',')) {
        let trimmed = item.trim();
        let address = trimmed
            .strip_prefix("http://")
            .unwrap_or(trimmed)
            .trim_end_matches('/');
        let address = address::reachable(address)
            .map_err(|rule| format!("item {number}, {item:?}: {rule}"))?;
        if !endpoints.contains(&address) {
            endpoints.push(address);
        }
    }
    Ok(endpoints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_addresses_with_or_without_a_scheme() {
        let found = endpoints("a:1, http://b:2/,a:1").unwrap();
        assert_eq!(found, ["a:1", "b:2"]);
    }

    #[test]
    fn a_faulty_endpoint_is_named() {
        let fault = endpoints("a:1,b").unwrap_err();
        assert_eq!(
            fault,
            "item 2, \"b\": must be host:port, as in 10.0.0.1:4610"
        );
        let fault = endpoints("https://a:1").unwrap_err();
        assert!(fault.contains("neither a host name"), "{fault}");
    }
}
