//! The calling end of connections.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::pki_types::ServerName;
use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, BufReader};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::acceptor::Protocol;
use crate::crypto::provider;
use crate::fault::{Fault, Part};
use crate::pem::{KeyPair, KeyPairTexts, Pem, Text};
use crate::reloaded::{Recipe, Refreshed, Reloaded};
use crate::validity::{Validities, first_of, last_of};

/// How long a server is waited for that says nothing by itself.
const GREETING_MAX: Duration = Duration::from_millis(500);

/// How servers are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientTls {
    /// The CAs that a server's certificate must be signed by.
    pub trusted_ca: Pem,
    /// What is shown to a server that asks who calls.
    pub own: Option<KeyPair>,
    /// The name that a server's certificate must be for. `None`: the host of its address.
    pub server_name: Option<String>,
}

/// The calling end of connections. Clones share what was read.
#[derive(Clone)]
pub struct Connector {
    reloaded: Arc<Reloaded<ClientTls>>,
    server_name: Option<String>,
}

impl Connector {
    /// Reads the CAs, the certificate and the key.
    ///
    /// # Errors
    ///
    /// The [`Fault`] of the first one that cannot be used.
    pub fn load(tls: ClientTls) -> Result<Self, Fault> {
        if let Some(name) = &tls.server_name
            && parse_name(name).is_none()
        {
            return Err(Fault {
                part: Part::ServerName,
                place: name.clone(),
                rule: "is neither a host name nor an IP address".to_owned(),
            });
        }
        Ok(Self {
            server_name: tls.server_name.clone(),
            reloaded: Arc::new(Reloaded::load(tls)?),
        })
    }

    /// Reads the files again. Connections from now on use what they hold; open ones stay.
    ///
    /// # Errors
    ///
    /// The [`Fault`] of the first one that cannot be used: what was read before stays in use.
    pub fn refresh(&self) -> Result<Refreshed, Fault> {
        self.reloaded.refresh()
    }

    /// How long what is in use is valid.
    #[must_use]
    pub fn validities(&self) -> Validities {
        self.reloaded.validities()
    }

    /// Agrees with the server at the other end of `stream`, which was reached at `host` (a name or an IP address), checks its
    /// certificate, and waits a while for its first byte, which most servers of HTTP/2 send by themselves. Waits for as long
    /// as the stream does: set a deadline.
    ///
    /// By TLS 1.3 a client learns only from that byte, or from its absence, whether its own certificate was taken. Who did
    /// not wait for it would not know whether a first request was executed.
    ///
    /// # Errors
    ///
    /// The stream's own; `InvalidInput` if `host` is neither a name nor an IP address; `InvalidData` for a server that
    /// speaks no TLS, or where one end refuses the other's certificate.
    pub async fn connect<S>(&self, stream: S, host: &str) -> io::Result<BufReader<TlsStream<S>>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        agree(
            self.reloaded.current(),
            stream,
            self.server_name.as_deref().unwrap_or(host),
        )
        .await
    }
}

/// Agrees with the server of this name or address, and waits a while for its first byte.
pub(crate) async fn agree<S>(
    config: Arc<ClientConfig>,
    stream: S,
    name: &str,
) -> io::Result<BufReader<TlsStream<S>>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let Some(name) = parse_name(name) else {
        let message = format!("{name} is neither a host name nor an IP address");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    };
    let mut stream = BufReader::new(TlsConnector::from(config).connect(name, stream).await?);
    // Some proxies say nothing before the client does.
    if let Ok(greeting) = timeout(GREETING_MAX, stream.fill_buf()).await
        && greeting?.is_empty()
    {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(stream)
}

impl ClientTls {
    /// What decides whether a server's certificate is trusted.
    pub(crate) fn judge(&self, texts: &ClientTexts) -> Result<Arc<WebPkiServerVerifier>, Fault> {
        let roots = texts.trusted_ca.roots()?;
        let judge = WebPkiServerVerifier::builder_with_provider(roots, provider()).build();
        judge.map_err(|error| texts.trusted_ca.fault(format!("cannot be used: {error}")))
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").finish_non_exhaustive()
    }
}

/// The texts of a [`ClientTls`].
#[derive(PartialEq, Eq)]
pub(crate) struct ClientTexts {
    own: Option<KeyPairTexts>,
    trusted_ca: Text,
}

impl Recipe for ClientTls {
    type Texts = ClientTexts;
    type Made = ClientConfig;

    fn read(&self) -> Result<ClientTexts, Fault> {
        Ok(ClientTexts {
            own: self.own.as_ref().map(KeyPair::read).transpose()?,
            trusted_ca: self.trusted_ca.read(Part::TrustedCa)?,
        })
    }

    fn make(&self, texts: &ClientTexts) -> Result<ClientConfig, Fault> {
        let ClientTexts { own, trusted_ca } = texts;
        let builder = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&TLS13, &TLS12])
            .map_err(|error| trusted_ca.fault(format!("cannot be used: {error}")))?
            .with_root_certificates(trusted_ca.roots()?);
        let mut config = match own {
            Some(own) => {
                let (chain, key) = own.parse()?;
                let config = builder.with_client_auth_cert(chain, key);
                config.map_err(|error| own.unusable(&error))?
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = Protocol::Http2
            .names()
            .iter()
            .map(|name| name.to_vec())
            .collect();
        config.resumption = Resumption::disabled();
        Ok(config)
    }

    fn validities(&self, texts: &ClientTexts) -> Result<Validities, Fault> {
        let own = texts.own.as_ref().map(|own| first_of(&own.certificate));
        Ok(Validities {
            certificate: own.transpose()?,
            trusted_ca: Some(last_of(&texts.trusted_ca)?),
        })
    }
}

/// `host` as certificates name it. An IPv6 address may have brackets, as it has in a URL.
fn parse_name(host: &str) -> Option<ServerName<'static>> {
    let inner = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    ServerName::try_from(inner.unwrap_or(host).to_owned()).ok()
}
