//! How one server is reached, and as whom.

use std::path::Path;

use http::Uri;
use http::uri::Scheme;
use synod_tls::Pem;

use crate::fault::Misconfigured;
use crate::identity::{Identity, Login};
use crate::impersonation::Impersonation;
use crate::trust::Trust;

/// Where Kubernetes puts what a pod needs to call its API server.
const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// How one server is reached, and as whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Where it serves.
    pub address: Address,
    /// What decides whether its certificate is trusted.
    pub trust: Trust,
    /// The name that its certificate must be for. `None`: the host of its address.
    pub server_name: Option<String>,
    /// Who calls.
    pub identity: Identity,
    /// As whom the caller acts, if not as itself.
    pub impersonation: Impersonation,
    /// Through which proxy.
    pub proxy: Proxy,
}

/// The URL of a server: its scheme, its authority, and the path before `/api` and `/apis`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    is_secure: bool,
    authority: String,
    /// Without a slash at its end.
    prefix: String,
}

/// Which proxy stands between the caller and the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Proxy {
    /// What `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` say, in capitals or not. None to loopback.
    #[default]
    Environment,
    /// This one, whatever the environment says: `http`, `https`, `socks5` or `socks5h`.
    At(Uri),
}

impl Access {
    /// An access to this URL as nobody, trusting the system's CAs.
    ///
    /// # Errors
    ///
    /// The URL cannot be used.
    pub fn to(url: &str) -> Result<Self, Misconfigured> {
        Ok(Self {
            address: Address::parse(url)?,
            trust: Trust::System,
            server_name: None,
            identity: Identity::default(),
            impersonation: Impersonation::default(),
            proxy: Proxy::Environment,
        })
    }

    /// The access of a pod to the API server of its cluster, by the token of its service account. `None`: this process
    /// is in no pod, or in one without a service account.
    ///
    /// # Errors
    ///
    /// What the pod was given cannot be used.
    pub fn of_pod(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, Misconfigured> {
        let (host, port) = (
            variable("KUBERNETES_SERVICE_HOST"),
            variable("KUBERNETES_SERVICE_PORT"),
        );
        let folder = Path::new(SERVICE_ACCOUNT);
        let (Some(host), Some(port), true) = (host, port, folder.join("token").is_file()) else {
            return Ok(None);
        };
        let host = if host.contains(':') {
            format!("[{host}]")
        } else {
            host
        };
        Ok(Some(Self {
            trust: Trust::Ca(Pem::File(folder.join("ca.crt"))),
            identity: Identity {
                own: None,
                login: Login::TokenFile(folder.join("token")),
            },
            ..Self::to(&format!("https://{host}:{port}"))?
        }))
    }

    /// The same access to another server of the same cluster: as the same caller, with the same CAs. A balancer that
    /// only a name in the certificate stands for keeps that name.
    ///
    /// # Errors
    ///
    /// The URL cannot be used.
    pub fn at(&self, url: &str) -> Result<Self, Misconfigured> {
        Ok(Self {
            address: Address::parse(url)?,
            ..self.clone()
        })
    }
}

impl Address {
    /// Parses the URL of a server.
    ///
    /// # Errors
    ///
    /// It is no URL of a server; the text does not repeat what may be a password.
    pub fn parse(url: &str) -> Result<Self, Misconfigured> {
        let fault = |rule: &str| Err(Misconfigured(rule.to_owned()));
        let Ok(parsed) = url.parse::<Uri>() else {
            return fault("must be a URL, as in https://10.0.0.1:6443");
        };
        let is_secure = match parsed.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return fault("must begin with https:// or http://"),
        };
        let authority = parsed.authority().map_or("", |one| one.as_str());
        if parsed.host().is_none_or(str::is_empty) {
            return fault("must name a host, as in https://10.0.0.1:6443");
        }
        if authority.contains('@') || parsed.query().is_some() {
            return fault("must have neither a user nor a query: nothing of it is sent");
        }
        Ok(Self {
            is_secure,
            authority: authority.to_owned(),
            prefix: parsed.path().trim_end_matches('/').to_owned(),
        })
    }

    /// The URL, without a slash at its end.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.is_secure { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority, self.prefix)
    }

    /// The URL of a path of the server, with its query if it has one.
    pub(crate) fn uri(&self, path: &str) -> Result<Uri, http::uri::InvalidUri> {
        format!("{}{path}", self.url()).parse()
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.is_secure
    }
}

impl Proxy {
    /// Parses the URL of a proxy.
    ///
    /// # Errors
    ///
    /// It cannot be used; the text does not repeat what may be a password.
    pub(crate) fn parse(url: &str) -> Result<Self, Misconfigured> {
        let parsed: Option<Uri> = url.parse().ok();
        let known = ["http", "https", "socks5", "socks5h"];
        let usable = parsed.filter(|uri| {
            let is_known = uri
                .scheme_str()
                .is_some_and(|scheme| known.contains(&scheme));
            is_known && uri.host().is_some_and(|host| !host.is_empty())
        });
        let rule = "a proxy must be a URL that begins with http://, https:// or socks5://";
        usable
            .map(Self::At)
            .ok_or_else(|| Misconfigured(rule.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_server() {
        let url = |text: &str| Address::parse(text).map(|address| address.url());
        assert_eq!(url("https://a:6443/").unwrap(), "https://a:6443");
        assert_eq!(url("http://a/k8s/one/").unwrap(), "http://a/k8s/one");
        assert_eq!(url("https://[::1]:1").unwrap(), "https://[::1]:1");
        for (text, part) in [
            ("a:8080", "https://"),
            ("ftp://a", "https://"),
            ("https://me:hunter2@a:1", "neither a user"),
            ("http://a:1/?b=c", "neither a user"),
            ("http:// a", "must be a URL"),
        ] {
            let fault = url(text).unwrap_err().to_string();
            assert!(
                fault.contains(part) && !fault.contains("hunter2"),
                "{text}: {fault}"
            );
        }
    }

    #[test]
    fn a_process_that_is_in_no_pod_has_no_access_of_one() {
        assert_eq!(Access::of_pod(|_| None), Ok(None));
    }

    #[test]
    fn a_proxy_is_reached_in_a_known_way() {
        assert!(Proxy::parse("socks5://a:1080").is_ok());
        assert!(Proxy::parse("http://me:word@a:3128").is_ok());
        for text in ["a:3128", "quic://a:1", "http://"] {
            assert!(Proxy::parse(text).is_err(), "{text}");
        }
    }
}
