//! The ways to replicas: over TCP or what takes its place, behind transport security or not.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use synod_model::Violation;
use synod_tls::{ClientTls, FreshConnector, Part};
use tokio::time::timeout;
use tonic::transport::{Channel, Endpoint};
use tower::{Service, service_fn};

use crate::Error;
use crate::seams::{Connection, Dial};

/// The ways to replicas.
#[derive(Clone)]
pub(crate) struct Roads {
    /// `None`: TCP.
    dialer: Option<Arc<dyn Dial>>,
    tls: Option<FreshConnector>,
}

impl Roads {
    /// # Errors
    ///
    /// A certificate, a key or a CA bundle cannot be used.
    pub(crate) fn new(
        dialer: Option<Arc<dyn Dial>>,
        tls: Option<ClientTls>,
    ) -> Result<Self, Error> {
        let tls = tls.map(FreshConnector::load).transpose().map_err(|fault| {
            let rule = Violation::invalid(&fault.place, &fault.rule);
            Error::invalid(rule.at(&format!("tls.{}", field(fault.part))))
        })?;
        Ok(Self { dialer, tls })
    }

    /// Whether connections are behind transport security.
    pub(crate) fn are_secure(&self) -> bool {
        self.tls.is_some()
    }

    /// A channel to an endpoint, which connects when it is first used, and again whenever the connection is lost.
    pub(crate) fn channel(&self, endpoint: &Endpoint, connect_timeout: Duration) -> Channel {
        if self.dialer.is_none() && self.tls.is_none() {
            return endpoint.connect_lazy();
        }
        let roads = self.clone();
        // The channel's own timeout is told as if the request had been sent. So it must not come first.
        let endpoint = endpoint.clone().connect_timeout(2 * connect_timeout);
        endpoint.connect_with_connector_lazy(service_fn(move |uri: Uri| {
            let roads = roads.clone();
            async move {
                let connecting = roads.connect(&uri, connect_timeout);
                match timeout(connect_timeout, connecting).await {
                    Ok(connected) => connected.map(TokioIo::new),
                    Err(_) => {
                        let message = format!("not connected within {connect_timeout:?}");
                        Err(io::Error::new(io::ErrorKind::TimedOut, message))
                    }
                }
            }
        }))
    }

    async fn connect(&self, uri: &Uri, connect_timeout: Duration) -> io::Result<Connection> {
        let connection = self.dial(uri, connect_timeout).await?;
        let Some(tls) = &self.tls else {
            return Ok(connection);
        };
        let host = uri.host().unwrap_or_default();
        Ok(Connection::new(tls.connect(connection, host).await?))
    }

    async fn dial(&self, uri: &Uri, connect_timeout: Duration) -> io::Result<Connection> {
        if let Some(dialer) = &self.dialer {
            let address = uri.authority().map(ToString::to_string).unwrap_or_default();
            return dialer.dial(&address).await;
        }
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(connect_timeout));
        let connected = tcp.call(uri.clone()).await.map_err(io::Error::other)?;
        Ok(Connection::new(connected.into_inner()))
    }
}

/// The name of a setting in errors.
const fn field(part: Part) -> &'static str {
    match part {
        Part::Certificate => "certificate",
        Part::Key => "key",
        Part::TrustedCa => "ca",
        Part::ServerName => "serverName",
    }
}
