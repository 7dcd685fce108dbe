//! The settings for reaching a cluster.

use std::path::Path;
use std::time::Duration;

use clap::ArgMatches;
use synod_client::{Client, ClientTls, Token};

use super::{Layers, address, own_path, security};
use crate::args::ClientArgs;
use crate::duration;
use crate::failure::Failure;

/// The address where `synod dev` and a single `synod serve` serve clients by default.
const ENDPOINT: &str = "127.0.0.1:4600";

/// What an endpoint may begin with.
const SCHEMES: [&str; 2] = ["http://", "https://"];

const TIMEOUT: Duration = Duration::from_secs(10);

/// The settings of every command that calls the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClientSettings {
    /// The client addresses of replicas; at least one.
    pub(crate) endpoints: Vec<String>,
    /// Transport security; `None`: connections are not encrypted.
    pub(crate) tls: Option<ClientTls>,
    /// What proves who calls in place of a certificate.
    pub(crate) token: Option<Token>,
    /// How long a request may take, over all tries.
    pub(crate) timeout: Duration,
}

impl ClientSettings {
    /// # Errors
    ///
    /// Every setting that cannot be used.
    pub(crate) fn load(args: &ClientArgs, matches: &ArgMatches) -> Result<Self, Failure> {
        let own = || own_path().filter(|path| path.is_file());
        let file = args.config.clone().or_else(own);
        Self::read(file.as_deref(), matches)
    }

    /// # Errors
    ///
    /// As for [`ClientSettings::load`], with this file and no other.
    pub(super) fn read(file: Option<&Path>, matches: &ArgMatches) -> Result<Self, Failure> {
        let mut layers = Layers::open(matches, file)?;
        layers.select_context();
        let endpoints = layers.given_or("endpoints", endpoints, vec![ENDPOINT.to_owned()]);
        let tls = security::of_client(&mut layers);
        let token = layers.given("token_file", security::path).map(Token::File);
        let timeout = layers.given_or("timeout", duration::parse_some, TIMEOUT);
        layers.check()?;
        Ok(Self {
            endpoints,
            tls,
            token,
            timeout,
        })
    }

    /// A client with these settings.
    ///
    /// # Errors
    ///
    /// An endpoint, a certificate, a key, a CA bundle or a token cannot be used.
    pub(crate) async fn connect(self) -> Result<Client, Failure> {
        let mut builder = Client::builder()
            .endpoints(self.endpoints)
            .request_timeout(self.timeout);
        if let Some(tls) = self.tls {
            builder = builder.tls(tls);
        }
        if let Some(token) = self.token {
            builder = builder.token(token);
        }
        Ok(builder.connect().await?)
    }
}

/// The settings of one context, as texts that were typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContextValues {
    /// By their names in the file.
    pub(crate) given: Vec<(&'static str, String)>,
}

impl ContextValues {
    /// Checks each value, and makes paths absolute: the file is read wherever a command is given.
    ///
    /// # Errors
    ///
    /// The first value that cannot be used.
    pub(crate) fn checked(mut self) -> Result<Self, Failure> {
        for (key, text) in &mut self.given {
            let checked = match *key {
                "endpoints" => endpoints(text).map(|list| *text = list.join(",")),
                "timeout" => duration::parse_some(text).map(drop),
                "cacert" | "cert" | "key" => std::path::absolute(&*text)
                    .map(|path| *text = path.display().to_string())
                    .map_err(|error| error.to_string()),
                _ => Ok(()),
            };
            checked.map_err(|rule| {
                let message = format!("{} {text:?} cannot be used: {rule}", super::flag(key));
                Failure::local(message, "correct it; nothing was changed").in_usage()
            })?;
        }
        Ok(self)
    }
}

/// Parses addresses that are separated by commas. Each may be a URL: its scheme says whether connections must be encrypted.
fn endpoints(text: &str) -> Result<Vec<String>, String> {
    let mut endpoints = Vec::new();
    for (number, item) in (1..).zip(text.split(',')) {
        let trimmed = item.trim().trim_end_matches('/');
        let scheme = SCHEMES
            .into_iter()
            .find(|scheme| trimmed.starts_with(scheme));
        let address = &trimmed[scheme.unwrap_or_default().len()..];
        // What stands before an `@` may be a password, which no message may repeat.
        if address.contains('@') {
            let rule =
                "must have no user and no password: callers prove who they are by --cert and --key";
            return Err(format!("item {number}: {rule}"));
        }
        let address = address::reachable(address)
            .map_err(|rule| format!("item {number}, {item:?}: {rule}"))?;
        let endpoint = format!("{}{address}", scheme.unwrap_or_default());
        if !endpoints.contains(&endpoint) {
            endpoints.push(endpoint);
        }
    }
    Ok(endpoints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_addresses_with_or_without_a_scheme() {
        let found = endpoints("a:1, http://b:2/,a:1,https://c:3").unwrap();
        assert_eq!(found, ["a:1", "http://b:2", "https://c:3"]);
    }

    #[test]
    fn a_faulty_endpoint_is_named() {
        let fault = endpoints("a:1,b").unwrap_err();
        assert_eq!(
            fault,
            "item 2, \"b\": must be host:port, as in 10.0.0.1:4610"
        );
        let fault = endpoints("b:1,https://me:hunter2@a:1").unwrap_err();
        assert!(fault.starts_with("item 2: must have no user"), "{fault}");
        assert!(!fault.contains("hunter2"), "{fault}");
        let fault = endpoints("ftp://a:1").unwrap_err();
        assert!(fault.contains("neither a host name"), "{fault}");
    }
}
