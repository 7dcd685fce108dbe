//! Connections to a server: directly or through a proxy, encrypted or not.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use synod_tls::KeyPair;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tower::{Service as _, ServiceExt as _, service_fn};

use crate::access::{Access, Proxy};
use crate::fault::innermost;
use crate::trust::Trust;

/// How long a connection may take: to the proxy, to the server, and to agree on encryption.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection, of whatever layers.
pub(crate) struct Stream(Pin<Box<dyn Bytes>>);

trait Bytes: AsyncRead + AsyncWrite + Send {}
impl<T: AsyncRead + AsyncWrite + Send> Bytes for T {}

/// Connects to the server, and agrees with it on encryption.
pub(crate) async fn connected(
    access: Arc<Access>,
    own: Option<KeyPair>,
    uri: Uri,
) -> io::Result<TokioIo<Stream>> {
    let host = uri.host().unwrap_or_default().to_owned();
    let connecting = async {
        let stream = match interceptor(&access.proxy, &uri) {
            None => tcp(uri.clone()).await?,
            Some(proxy) => through(&proxy, with_port(&uri)?).await?,
        };
        if uri.scheme() != Some(&Scheme::HTTPS) {
            return Ok(stream);
        }
        let config = access
            .trust
            .config(own.as_ref())
            .map_err(io::Error::other)?;
        let name = access.server_name.as_deref().unwrap_or(&host);
        encrypted(config, stream, name).await
    };
    match timeout(PATIENCE, connecting).await {
        Ok(connected) => connected.map(TokioIo::new),
        Err(_) => {
            let message = format!("no connection to {host} within {PATIENCE:?}");
            Err(io::Error::new(io::ErrorKind::TimedOut, message))
        }
    }
}

/// The proxy between here and the server, if there is one.
fn interceptor(proxy: &Proxy, uri: &Uri) -> Option<Intercept> {
    match proxy {
        Proxy::At(proxy) => Matcher::builder()
            .all(proxy.to_string())
            .build()
            .intercept(uri),
        Proxy::Environment if is_loopback(uri.host()?) => None,
        Proxy::Environment => Matcher::from_env().intercept(uri),
    }
}

/// Whether it is this machine, which no proxy reaches. So decide Kubernetes' own clients.
pub(crate) fn is_loopback(host: &str) -> bool {
    let inner = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let address = inner.unwrap_or(host).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

async fn tcp(uri: Uri) -> io::Result<Stream> {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.enforce_http(false);
    let stream = connector.call(uri).await.map_err(io::Error::other)?;
    Ok(Stream(Box::pin(stream.into_inner())))
}

/// The URI with its port, which what asks proxies takes for that of https otherwise.
fn with_port(uri: &Uri) -> io::Result<Uri> {
    if uri.port().is_some() || uri.scheme() != Some(&Scheme::HTTP) {
        return Ok(uri.clone());
    }
    let host = uri.host().unwrap_or_default();
    let named = Uri::builder()
        .scheme(Scheme::HTTP)
        .authority(format!("{host}:80"))
        .path_and_query("/")
        .build();
    named.map_err(io::Error::other)
}

/// Has a proxy connect to the server.
async fn through(proxy: &Intercept, uri: Uri) -> io::Result<Stream> {
    let at = proxy.uri().clone();
    let is_socks = at
        .scheme_str()
        .is_some_and(|scheme| scheme.starts_with("socks5"));
    let connector = service_fn(to_proxy);
    let fault = |error: Box<dyn std::error::Error + Send + Sync>| {
        io::Error::other(format!(
            "the proxy does not connect: {}",
            innermost(&*error)
        ))
    };
    let stream = if is_socks {
        let mut socks = SocksV5::new(at, connector);
        if let Some((user, password)) = proxy.raw_auth() {
            socks = socks.with_auth(user.to_owned(), password.to_owned());
        }
        socks
            .oneshot(uri)
            .await
            .map_err(|error| fault(Box::new(error)))?
    } else {
        let mut tunnel = Tunnel::new(at, connector);
        if let Some(proved) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(proved.clone());
        }
        tunnel
            .oneshot(uri)
            .await
            .map_err(|error| fault(Box::new(error)))?
    };
    Ok(stream.into_inner())
}

/// Connects to a proxy: its certificate, if it has one, must be signed by a CA of the system.
async fn to_proxy(uri: Uri) -> io::Result<TokioIo<Stream>> {
    let host = uri.host().unwrap_or_default().to_owned();
    let is_secure = uri.scheme() == Some(&Scheme::HTTPS);
    let stream = tcp(uri).await?;
    if !is_secure {
        return Ok(TokioIo::new(stream));
    }
    let config = Trust::System.config(None).map_err(io::Error::other)?;
    encrypted(config, stream, &host).await.map(TokioIo::new)
}

async fn encrypted(config: ClientConfig, stream: Stream, name: &str) -> io::Result<Stream> {
    let inner = name.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let name = ServerName::try_from(inner.unwrap_or(name).to_owned());
    let name = name.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let connector = TlsConnector::from(Arc::new(config));
    let stream = connector.connect(name, stream).await?;
    Ok(Stream(Box::pin(stream)))
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.as_mut().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_of_a_kubeconfig_counts_for_every_server_and_one_of_the_environment_never_for_loopback()
     {
        let server: Uri = "https://127.0.0.1:6443".parse().unwrap();
        let named = Proxy::parse("http://me:word@proxy:3128").unwrap();
        let found = interceptor(&named, &server).unwrap();
        assert_eq!(found.uri().host(), Some("proxy"));
        assert!(found.basic_auth().is_some());
        assert!(interceptor(&Proxy::Environment, &server).is_none());
        assert!(is_loopback("[::1]") && is_loopback("localhost") && !is_loopback("10.0.0.1"));
    }

    #[test]
    fn a_proxy_is_told_the_port_of_a_server_that_is_not_encrypted() {
        for (url, port) in [
            ("http://a/path", Some(80)),
            ("http://[::1]", Some(80)),
            ("http://a:8080", Some(8080)),
            ("https://a", None),
        ] {
            let uri = with_port(&url.parse().unwrap()).unwrap();
            assert_eq!(uri.port_u16(), port, "{url}");
        }
    }
}
