//! Transport security towards an API server: whom to trust, and what to show.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::ring::default_provider;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use synod_tls::{KeyPair, Part, Pem};

/// What decides whether the certificate of a server is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The CAs of the system.
    System,
    /// These CAs, and no other.
    Ca(Pem),
    /// Any certificate is taken: `insecure-skip-tls-verify`. Whoever is in between reads and changes everything.
    Anybody,
}

impl Trust {
    /// How connections are secured now: files are read as they are at this moment.
    pub(crate) fn config(&self, own: Option<&KeyPair>) -> Result<ClientConfig, String> {
        let provider = Arc::new(default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let builder = builder
            .dangerous()
            .with_custom_certificate_verifier(self.judge(&provider)?);
        let mut config = match own {
            None => builder.with_no_client_auth(),
            Some(own) => {
                let (chain, key) = own.chain_and_key().map_err(|fault| fault.to_string())?;
                builder.with_client_auth_cert(chain, key).map_err(|error| {
                    let place = &own.certificate;
                    format!("{place} cannot be used with its private key: {error}")
                })?
            }
        };
        // A resumed session would go by a certificate that is not looked at again.
        config.resumption = Resumption::disabled();
        Ok(config)
    }

    fn judge(&self, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, String> {
        let roots = match self {
            Self::System => system()?,
            Self::Ca(pem) => {
                let found = pem
                    .certificates(Part::TrustedCa)
                    .map_err(|fault| fault.to_string())?;
                let mut roots = RootCertStore::empty();
                for certificate in found {
                    let added = roots.add(certificate);
                    added
                        .map_err(|error| format!("{pem} has a CA that cannot be used: {error}"))?;
                }
                Arc::new(roots)
            }
            Self::Anybody => return Ok(Arc::new(Gullible(Arc::clone(provider)))),
        };
        let judge =
            WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider)).build();
        Ok(judge.map_err(|error| error.to_string())?)
    }
}

/// The CAs of the system, read once.
fn system() -> Result<Arc<RootCertStore>, String> {
    static ROOTS: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    let roots = ROOTS.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        // Systems have certificates that nobody can use: what counts is whether one of them signs the server's.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Arc::new(roots)
    });
    if roots.is_empty() {
        return Err("no CA is named, and this system has none".to_owned());
    }
    Ok(Arc::clone(roots))
}

/// Takes any certificate, and still checks that the server has its key.
#[derive(Debug)]
struct Gullible(Arc<CryptoProvider>);

impl ServerCertVerifier for Gullible {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
