//! Looks at what a server shows, whether or not it is trusted: for those who find out why a connection fails.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite};
use x509_parser::extensions::GeneralName;
use x509_parser::parse_x509_certificate;

use crate::connector::{ClientTls, agree};
use crate::fault::Fault;
use crate::reloaded::Recipe as _;
use crate::validity::Validity;

/// What a look at a server has found.
#[derive(Debug)]
pub struct Look {
    /// The certificate that the server showed; `None`: it showed none, or one that cannot be read.
    pub certificate: Option<ShownCertificate>,
    /// Whether the two ends agreed; else why not. It is decided as for any other connection.
    pub agreed: io::Result<()>,
}

/// A certificate that a server showed. Nothing of it is to be trusted unless the two ends agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownCertificate {
    /// Whom it is of.
    pub subject: String,
    /// Who signed it.
    pub issuer: String,
    /// The names, addresses and URIs that it is for.
    pub names: Vec<String>,
    /// From when until when it is valid.
    pub validity: Validity,
}

/// Agrees with the server at the other end of `stream`, which was reached at `host`, as [`crate::Connector::connect`] does, and
/// tells which certificate it showed even if it is refused. Waits for as long as the stream does: set a deadline.
///
/// # Errors
///
/// The [`Fault`] of the first PEM text that cannot be used.
pub async fn look<S>(tls: &ClientTls, stream: S, host: &str) -> Result<Look, Fault>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (config, witness) = witnessed(tls)?;
    let name = tls.server_name.as_deref().unwrap_or(host);
    let agreed = agree(Arc::new(config), stream, name).await.map(drop);
    let certificate = witness
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    Ok(Look {
        certificate: certificate.as_ref().and_then(read),
        agreed,
    })
}

/// The certificate that a server showed last.
type Seen = Arc<Mutex<Option<CertificateDer<'static>>>>;

/// How servers are called, and where the certificate that one shows is put.
fn witnessed(tls: &ClientTls) -> Result<(ClientConfig, Seen), Fault> {
    let texts = tls.read()?;
    let mut config = tls.make(&texts)?;
    let seen = Seen::default();
    let witness = Witness {
        judge: tls.judge(&texts)?,
        seen: Arc::clone(&seen),
    };
    config
        .dangerous()
        .set_certificate_verifier(Arc::new(witness));
    Ok((config, seen))
}

/// Notes a certificate and leaves the decision to the judge that all connections have.
#[derive(Debug)]
struct Witness {
    judge: Arc<WebPkiServerVerifier>,
    seen: Seen,
}

impl ServerCertVerifier for Witness {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let seen = certificate.clone().into_owned();
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
        self.judge
            .verify_server_cert(certificate, intermediates, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.judge
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.judge
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.judge.supported_verify_schemes()
    }
}

/// What a certificate says of itself.
fn read(certificate: &CertificateDer<'_>) -> Option<ShownCertificate> {
    let (_, parsed) = parse_x509_certificate(certificate).ok()?;
    let alternatives = parsed.subject_alternative_name().ok().flatten();
    let names = alternatives.iter().flat_map(|it| &it.value.general_names);
    Some(ShownCertificate {
        subject: parsed.subject().to_string(),
        issuer: parsed.issuer().to_string(),
        names: names.filter_map(name).collect(),
        validity: Validity {
            from: parsed.validity().not_before.timestamp(),
            until: parsed.validity().not_after.timestamp(),
        },
    })
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::URI(uri) => Some((*uri).to_owned()),
        GeneralName::IPAddress(bytes) => {
            let four = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
            let sixteen = || <[u8; 16]>::try_from(*bytes).map(IpAddr::from);
            let address = four.or_else(|_| sixteen()).ok()?;
            Some(address.to_string())
        }
        _ => None,
    }
}
