//! The serving end of connections.

use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
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
    /// The CAs of front proxies, which speak for their own callers: a certificate of theirs is good where proxies may connect.
    pub proxy_ca: Option<Pem>,
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
    /// It may, and one that is signed by a CA of front proxies is good, too: [`Acceptor::signer`] tells.
    OptionalOrProxy,
}

/// Whose CA has signed a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signer {
    /// That of clients.
    Client,
    /// That of front proxies.
    Proxy,
}

/// What is spoken within a connection, as it is agreed by ALPN (RFC 7301).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/2, which gRPC needs.
    Http2,
    /// HTTP/1.1.
    Http1,
    /// HTTP/2 or HTTP/1.1, as the caller likes.
    Either,
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
            Certificate::OptionalOrProxy => &configs.or_proxy,
        };
        let config = match protocol {
            Protocol::Http1 => &configs.http1,
            Protocol::Http2 => &configs.http2,
            Protocol::Either => &configs.either,
        };
        TlsAcceptor::from(Arc::clone(config)).accept(stream).await
    }
}

impl Acceptor {
    /// Whose CA has signed a certificate, the first of this chain, that was shown in a connection. `None`: nobody's that is
    /// trusted now, or that of both, since who shows it would be the one or the other as it likes.
    #[must_use]
    pub fn signer(&self, chain: &[CertificateDer<'_>]) -> Option<Signer> {
        let configs = self.reloaded.current();
        let (own, between) = chain.split_first()?;
        let has_signed = |verifier: &Option<Arc<dyn ClientCertVerifier>>| {
            verifier.as_ref().is_some_and(|verifier| {
                verifier
                    .verify_client_cert(own, between, UnixTime::now())
                    .is_ok()
            })
        };
        // Without front proxies the connection itself has found that out.
        if configs.of_proxies.is_none() {
            return Some(Signer::Client);
        }
        match (
            has_signed(&configs.of_clients),
            has_signed(&configs.of_proxies),
        ) {
            (true, false) => Some(Signer::Client),
            (false, true) => Some(Signer::Proxy),
            (true, true) | (false, false) => None,
        }
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
    or_proxy: OfProtocols,
    of_clients: Option<Arc<dyn ClientCertVerifier>>,
    of_proxies: Option<Arc<dyn ClientCertVerifier>>,
}

/// What rustls goes by, for each protocol that is spoken within.
struct OfProtocols {
    http1: Arc<ServerConfig>,
    http2: Arc<ServerConfig>,
    either: Arc<ServerConfig>,
}

/// The texts of a [`ServerTls`].
#[derive(PartialEq, Eq)]
pub(crate) struct ServerTexts {
    own: KeyPairTexts,
    trusted_ca: Option<Text>,
    proxy_ca: Option<Text>,
}

impl Recipe for ServerTls {
    type Texts = ServerTexts;
    type Made = Configs;

    fn read(&self) -> Result<ServerTexts, Fault> {
        let read = |pem: &Option<Pem>| {
            let read = pem.as_ref().map(|pem| pem.read(Part::TrustedCa));
            read.transpose()
        };
        Ok(ServerTexts {
            own: self.own.read()?,
            trusted_ca: read(&self.trusted_ca)?,
            proxy_ca: read(&self.proxy_ca)?,
        })
    }

    fn make(&self, texts: &ServerTexts) -> Result<Configs, Fault> {
        let all = |certificate| {
            Ok(OfProtocols {
                http1: self.config(texts, Protocol::Http1, certificate)?,
                http2: self.config(texts, Protocol::Http2, certificate)?,
                either: self.config(texts, Protocol::Either, certificate)?,
            })
        };
        let of = |text: &Option<Text>| {
            let verifier = text.as_ref();
            let verifier = verifier.map(|text| self::verifier(text, None, Certificate::Required));
            verifier.transpose()
        };
        Ok(Configs {
            required: all(Certificate::Required)?,
            optional: all(Certificate::Optional)?,
            or_proxy: all(Certificate::OptionalOrProxy)?,
            of_clients: of(&texts.trusted_ca)?,
            of_proxies: of(&texts.proxy_ca)?,
        })
    }

    fn validities(&self, texts: &ServerTexts) -> Result<Validities, Fault> {
        Ok(Validities {
            certificate: Some(first_of(&texts.own.certificate)?),
            trusted_ca: texts.trusted_ca.as_ref().map(last_of).transpose()?,
        })
    }
}

impl ServerTls {
    /// What rustls goes by for this protocol.
    fn config(
        &self,
        texts: &ServerTexts,
        protocol: Protocol,
        certificate: Certificate,
    ) -> Result<Arc<ServerConfig>, Fault> {
        let unusable = |error: rustls::Error| texts.own.unusable(&error);
        let (chain, key) = texts.own.parse()?;
        let builder = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(self.versions.list())
            .map_err(unusable)?;
        let builder = match &texts.trusted_ca {
            Some(text) => {
                let of_proxies = texts.proxy_ca.as_ref();
                let of_proxies = of_proxies.filter(|_| certificate == Certificate::OptionalOrProxy);
                builder.with_client_cert_verifier(verifier(text, of_proxies, certificate)?)
            }
            None => builder.with_no_client_auth(),
        };
        let mut config = builder.with_single_cert(chain, key).map_err(unusable)?;
        let names = protocol.names().iter();
        config.alpn_protocols = names.map(|name| name.to_vec()).collect();
        // A resumed session would go by a certificate that nobody looks at again.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Arc::new(config))
    }
}

/// Checks the certificates of callers against the CAs in a text, and in that of front proxies.
fn verifier(
    trusted_ca: &Text,
    proxy_ca: Option<&Text>,
    certificate: Certificate,
) -> Result<Arc<dyn ClientCertVerifier>, Fault> {
    let mut roots = RootCertStore::empty();
    for text in [trusted_ca].into_iter().chain(proxy_ca) {
        roots.roots.extend(text.roots()?.roots.iter().cloned());
    }
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider());
    let builder = match certificate {
        Certificate::Optional | Certificate::OptionalOrProxy => builder.allow_unauthenticated(),
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
    /// Its names by ALPN, the preferred one first.
    pub(crate) const fn names(self) -> &'static [&'static [u8]] {
        match self {
            Self::Http2 => &[b"h2"],
            Self::Http1 => &[b"http/1.1"],
            Self::Either => &[b"h2", b"http/1.1"],
        }
    }
}
