//! The serving end of connections.

use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::version::{TLS12, TLS13};
use rustls::{ServerConfig, SupportedProtocolVersion};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::crypto::provider;
use crate::fault::{Fault, Part};
use crate::pem::{KeyPair, KeyPairTexts, Pem, Text};
use crate::reloaded::{Recipe, Refreshed, Reloaded};
use crate::validity::{Validities, first_of, last_of};

/// How a port is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTls {
    /// What the port shows of itself.
    pub own: KeyPair,
    /// The CAs that a caller's certificate must be signed by. `None`: callers are asked for no certificate.
    pub trusted_ca: Option<Pem>,
    /// The versions of TLS that callers may use.
    pub versions: Versions,
}

/// The versions of TLS that callers may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Versions {
    /// TLS 1.3 alone.
    #[default]
    Tls13,
    /// TLS 1.2, too.
    Tls12And13,
}

/// Whether a caller that is asked for a certificate must show one. One that is shown must be good in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// It must.
    Required,
    /// It may.
    Optional,
}

/// What is spoken within a connection, as it is agreed by ALPN (RFC 7301).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/2, which gRPC needs.
    Http2,
    /// HTTP/1.1.
    Http1,
}

/// The serving end of connections. Clones share what was read.
#[derive(Clone)]
pub struct Acceptor {
    reloaded: Arc<Reloaded<ServerTls>>,
    asks: bool,
}

impl Acceptor {
    /// Reads the certificate, the key and the CAs.
    ///
    /// # Errors
    ///
    /// The [`Fault`] of the first one that cannot be used.
    pub fn load(tls: ServerTls) -> Result<Self, Fault> {
        Ok(Self {
            asks: tls.trusted_ca.is_some(),
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

    /// Whether callers are asked for a certificate.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.asks
    }

    /// Agrees with the caller at the other end of `stream` that `protocol` is spoken, and checks its certificate, if callers
    /// are asked for one. Waits for as long as the stream does: set a deadline.
    ///
    /// # Errors
    ///
    /// The stream's own, and `InvalidData` for a caller that speaks no TLS, or whose certificate is refused.
    pub async fn accept<S>(
        &self,
        stream: S,
        protocol: Protocol,
        certificate: Certificate,
    ) -> io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let configs = self.reloaded.current();
        let configs = match certificate {
            Certificate::Required => &configs.required,
            Certificate::Optional => &configs.optional,
        };
        let config = match protocol {
            Protocol::Http1 => &configs.http1,
            Protocol::Http2 => &configs.http2,
        };
        TlsAcceptor::from(Arc::clone(config)).accept(stream).await
    }
}

impl fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acceptor").finish_non_exhaustive()
    }
}

/// What rustls goes by, whether certificates are required or not.
pub(crate) struct Configs {
    required: OfProtocols,
    optional: OfProtocols,
}

/// What rustls goes by, for each protocol that is spoken within.
struct OfProtocols {
    http1: Arc<ServerConfig>,
    http2: Arc<ServerConfig>,
}

/// The texts of a [`ServerTls`].
#[derive(PartialEq, Eq)]
pub(crate) struct ServerTexts {
    own: KeyPairTexts,
    trusted_ca: Option<Text>,
}

impl Recipe for ServerTls {
    type Texts = ServerTexts;
    type Made = Configs;

    fn read(&self) -> Result<ServerTexts, Fault> {
        let trusted_ca = self
            .trusted_ca
            .as_ref()
            .map(|pem| pem.read(Part::TrustedCa));
        Ok(ServerTexts {
            own: self.own.read()?,
            trusted_ca: trusted_ca.transpose()?,
        })
    }

    fn make(&self, texts: &ServerTexts) -> Result<Configs, Fault> {
        let config = |protocol: Protocol, certificate: Certificate| {
            let unusable = |error: rustls::Error| texts.own.unusable(&error);
            let (chain, key) = texts.own.parse()?;
            let builder = ServerConfig::builder_with_provider(provider())
                .with_protocol_versions(self.versions.list())
                .map_err(unusable)?;
            let builder = match &texts.trusted_ca {
                Some(text) => builder.with_client_cert_verifier(verifier(text, certificate)?),
                None => builder.with_no_client_auth(),
            };
            let mut config = builder.with_single_cert(chain, key).map_err(unusable)?;
            config.alpn_protocols = vec![protocol.name().to_vec()];
            // A resumed session would go by a certificate that nobody looks at again.
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
            Ok(Arc::new(config))
        };
        let both = |certificate| {
            Ok(OfProtocols {
                http1: config(Protocol::Http1, certificate)?,
                http2: config(Protocol::Http2, certificate)?,
            })
        };
        Ok(Configs {
            required: both(Certificate::Required)?,
            optional: both(Certificate::Optional)?,
        })
    }

    fn validities(&self, texts: &ServerTexts) -> Result<Validities, Fault> {
        Ok(Validities {
            certificate: Some(first_of(&texts.own.certificate)?),
            trusted_ca: texts.trusted_ca.as_ref().map(last_of).transpose()?,
        })
    }
}

/// Checks the certificates of callers against the CAs in a text.
fn verifier(
    trusted_ca: &Text,
    certificate: Certificate,
) -> Result<Arc<dyn ClientCertVerifier>, Fault> {
    let builder = WebPkiClientVerifier::builder_with_provider(trusted_ca.roots()?, provider());
    let builder = match certificate {
        Certificate::Optional => builder.allow_unauthenticated(),
        Certificate::Required => builder,
    };
    builder
        .build()
        .map_err(|error| trusted_ca.fault(format!("cannot be used: {error}")))
}

impl Versions {
    const fn list(self) -> &'static [&'static SupportedProtocolVersion] {
        const NEW: &[&SupportedProtocolVersion] = &[&TLS13];
        const BOTH: &[&SupportedProtocolVersion] = &[&TLS13, &TLS12];
        match self {
            Self::Tls13 => NEW,
            Self::Tls12And13 => BOTH,
        }
    }
}

impl Protocol {
    pub(crate) const fn name(self) -> &'static [u8] {
        match self {
            Self::Http2 => b"h2",
            Self::Http1 => b"http/1.1",
        }
    }
}
