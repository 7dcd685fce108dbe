//! The way to a collector behind TLS. Its library could go it only by features that refuse our own connections behind TLS.

use std::io;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use synod_tls::{ClientTls, FreshConnector};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tonic::transport::{Channel, Endpoint, Uri};
use tower::service_fn;

use crate::failure::Failure;

/// The longest time for a connection, its handshake included.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// The port of a URL that names none.
const PORT: u16 = 443;

/// Whether a collector is behind TLS.
pub(super) fn is_secure(endpoint: &str) -> bool {
    let uri = endpoint.parse().ok();
    uri.is_some_and(|uri: Uri| uri.scheme_str() == Some("https"))
}

/// A channel to a collector behind TLS, which connects when it is first used, and again whenever the connection is lost. Files
/// that have changed are read before each connection.
///
/// # Errors
///
/// There is no CA to trust it by, or a file cannot be used.
pub(super) fn channel(endpoint: &str, tls: Option<ClientTls>) -> Result<Channel, Failure> {
    let tls = tls.ok_or_else(|| {
        Failure::local(
            format!("the collector {endpoint} is behind TLS, and no CA is named that its certificate must be signed by"),
            "give --otlp-trusted-ca-file or OTEL_EXPORTER_OTLP_CERTIFICATE",
        )
    })?;
    let connector = FreshConnector::load(tls).map_err(|fault| {
        Failure::local(
            format!("the collector {endpoint} cannot be called: {fault}"),
            "correct the file, or name another one",
        )
    })?;
    let endpoint = Endpoint::from_shared(endpoint.to_owned()).map_err(|error| {
        Failure::local(
            format!("the collector {endpoint} cannot be called: {error}"),
            "correct --otlp-endpoint",
        )
    })?;
    // Ours comes first, since it says what took so long.
    let endpoint = endpoint.connect_timeout(2 * CONNECT_MAX);
    Ok(
        endpoint.connect_with_connector_lazy(service_fn(move |uri: Uri| {
            let connector = connector.clone();
            async move {
                let connecting = async {
                    let host = uri.host().unwrap_or_default();
                    let address = host.trim_start_matches('[').trim_end_matches(']');
                    let stream =
                        TcpStream::connect((address, uri.port_u16().unwrap_or(PORT))).await?;
                    connector.connect(stream, host).await
                };
                match timeout(CONNECT_MAX, connecting).await {
                    Ok(connected) => connected.map(TokioIo::new),
                    Err(_) => {
                        let message = format!("not connected within {CONNECT_MAX:?}");
                        Err(io::Error::new(io::ErrorKind::TimedOut, message))
                    }
                }
            }
        })),
    )
}
