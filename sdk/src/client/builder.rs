use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use synod_model::{MemberId, Violation};
use synod_tls::ClientTls;

use super::{Client, ClientParts};
use crate::Error;
use crate::seams::Seams;
use crate::session::Sessions;
use crate::traces::Traces;
use crate::transport::{Credential, Endpoints, Keepalive, Roads, Token, Wiring};

/// The settings of a [`Client`] to be made.
#[derive(Clone)]
pub struct ClientBuilder {
    endpoints: Vec<String>,
    request_timeout: Duration,
    wiring: Wiring,
    sessions: bool,
    tls: Option<ClientTls>,
    token: Option<Token>,
    name: Option<MemberId>,
    traces: Option<Arc<dyn Traces>>,
    seams: Seams,
}

impl Default for ClientBuilder {
    fn default() -> Self {
        Self {
            endpoints: Vec::new(),
            request_timeout: Duration::from_secs(10),
            wiring: Wiring {
                connect_timeout: Duration::from_secs(2),
                keepalive: Keepalive {
                    interval: Duration::from_secs(10),
                    timeout: Duration::from_secs(5),
                },
            },
            sessions: true,
            tls: None,
            token: None,
            name: None,
            traces: None,
            seams: Seams::real(),
        }
    }
}

impl ClientBuilder {
    /// Where the replicas serve clients, each as `host:port`, `http://host:port` or `https://host:port`. Give all of them: one
    /// must answer before the client knows of others. Replicas that are added later it learns from the cluster.
    #[must_use]
    pub fn endpoints(mut self, endpoints: Vec<String>) -> Self {
        self.endpoints = endpoints;
        self
    }

    /// The deadline of a call, over all its tries; 10 seconds if not set. See also [`Client::with_timeout`].
    #[must_use]
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = timeout;
        self
    }

    /// How long one attempt to connect may take; 2 seconds if not set.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.wiring.connect_timeout = timeout;
        self
    }

    /// How often each connection is probed, and how long the probe may take to be answered; 10 and 5 seconds if not
    /// set.
    #[must_use]
    pub fn keepalive(mut self, interval: Duration, timeout: Duration) -> Self {
        self.wiring.keepalive = Keepalive { interval, timeout };
        self
    }

    /// Whether changing calls are made in a session, so that they can be repeated safely; `true` if not set.
    #[must_use]
    pub fn sessions(mut self, sessions: bool) -> Self {
        self.sessions = sessions;
        self
    }

    /// Connects behind transport security: replicas must show a certificate of one of these CAs, and this client shows
    /// its own if one is given. Files are read again at each new connection; one that cannot be used then is logged, and
    /// what was read before stays in use. Without this, connections are not encrypted.
    #[must_use]
    pub fn tls(mut self, tls: ClientTls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Proves who this client is by a token of a Kubernetes service account, in place of a certificate. It is sent over
    /// encrypted connections, or to this host. A file is read again when it has changed, and a call that is refused for a
    /// token that has another one by then is made again.
    #[must_use]
    pub fn token(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    /// Who this client is, by the policy of the replicas. Leases are held under names that begin with it where no holder is
    /// named. Without it those names are random, and replicas that know their callers refuse them to all but admins.
    #[must_use]
    pub fn name(mut self, name: MemberId) -> Self {
        self.name = Some(name);
        self
    }

    /// Follows the calls of this client in the traces of the application. Without it nothing is followed, and nothing costs
    /// anything. With the feature `opentelemetry`, `traces::OpenTelemetry` follows them there.
    #[must_use]
    pub fn traces(mut self, traces: impl Traces) -> Self {
        self.traces = Some(Arc::new(traces));
        self
    }

    /// What to use in place of the machine's clock, random numbers and network.
    #[must_use]
    pub fn seams(mut self, seams: Seams) -> Self {
        self.seams = seams;
        self
    }

    /// Makes the client. Call this within a tokio runtime: the connections live in that runtime. This waits for no
    /// replica.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: no endpoint was given, an endpoint is no address or says another scheme than is used, the request
    /// timeout is zero, or a certificate, key, CA bundle or token cannot be used, or not here.
    pub async fn connect(self) -> Result<Client, Error> {
        if self.request_timeout.is_zero() {
            let rule = "must be greater than zero";
            let fault = Violation::invalid("0", rule).at("requestTimeout");
            return Err(Error::invalid(fault));
        }
        let has_certificate = self.tls.as_ref().is_some_and(|tls| tls.own.is_some());
        let roads = Roads::new(self.seams.dialer.clone(), self.tls)?;
        let credential = match &self.token {
            Some(token) if has_certificate => {
                let rule = "goes with no certificate of the client: replicas refuse who shows both";
                let fault = Violation::invalid(&token.to_string(), rule);
                return Err(Error::invalid(fault.at("token")));
            }
            Some(token) => {
                let loaded = Credential::load(token);
                Some(loaded.map_err(|fault| Error::invalid(fault.at("token")))?)
            }
            None => None,
        };
        let endpoints =
            Endpoints::new(&self.endpoints, self.wiring, roads, credential, &self.seams)?;
        Ok(Client {
            shared: Arc::new(ClientParts {
                endpoints: Arc::new(endpoints),
                seams: self.seams,
                sessions: self.sessions.then(Sessions::default),
                name: self.name,
                traces: self.traces,
            }),
            timeout: self.request_timeout,
        })
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("endpoints", &self.endpoints)
            .field("request_timeout", &self.request_timeout)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Token;

    /// Why a client with a token is not made for this endpoint.
    async fn fault(endpoint: &str, token: Token) -> Option<String> {
        let builder = Client::builder().endpoints(vec![endpoint.to_owned()]);
        let made = builder.token(token).connect().await;
        made.err().map(|error| error.to_string())
    }

    #[tokio::test]
    async fn a_token_is_sent_unencrypted_to_this_host_alone() {
        let token = || Token::Text("secret".into());
        for near in ["127.0.0.1:4600", "[::1]:4600", "http://localhost:4600"] {
            assert_eq!(fault(near, token()).await, None, "{near}");
        }
        for far in [
            "10.0.0.1:4600",
            "http://replica:4600",
            "127.0.0.1.example:4600",
        ] {
            let fault = fault(far, token()).await.unwrap();
            assert!(fault.contains("endpoints[0]"), "{fault}");
            assert!(
                fault.contains("unencrypted") && !fault.contains("secret"),
                "{fault}"
            );
        }
        let missing = fault("127.0.0.1:4600", Token::File("/nowhere/token".into())).await;
        let missing = missing.unwrap();
        assert!(
            missing.contains("token") && missing.contains("/nowhere/token"),
            "{missing}"
        );
    }
}
