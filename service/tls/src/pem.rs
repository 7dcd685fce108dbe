//! PEM texts: where they stand, and how they are read.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use x509_parser::certificate::X509Certificate;
use x509_parser::parse_x509_certificate;

use crate::fault::{Fault, Part};

/// The size in bytes of the largest PEM text: a bundle of all public CAs has a quarter of it.
const TEXT_BYTES_MAX: u64 = 1 << 20;

/// A PEM text: one or several certificates, or a private key.
#[derive(Clone, PartialEq, Eq)]
pub enum Pem {
    /// In a file, which is read again when it changes.
    File(PathBuf),
    /// Given as it is.
    Bytes(Arc<[u8]>),
}

/// A certificate and its private key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPair {
    /// The certificate, followed by those of the CAs between it and the one that the other end trusts.
    pub certificate: Pem,
    /// Its private key: PKCS#8, PKCS#1 (RSA) or SEC1 (elliptic curves), not encrypted.
    pub key: Pem,
}

impl Pem {
    /// Reads the certificates of a text; at least one.
    ///
    /// # Errors
    ///
    /// The [`Fault`] of what cannot be read, as of this part of transport security.
    pub fn certificates(&self, part: Part) -> Result<Vec<CertificateDer<'static>>, Fault> {
        self.read(part)?.certificates()
    }

    /// Reads the text.
    pub(crate) fn read(&self, part: Part) -> Result<Text, Fault> {
        let bytes = match self {
            Self::Bytes(bytes) => bytes.to_vec(),
            Self::File(path) => {
                let mut bytes = Vec::new();
                File::open(path)
                    .and_then(|file| file.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes))
                    .map_err(|error| self.fault(part, format!("cannot be read: {error}")))?;
                bytes
            }
        };
        if bytes.len() as u64 > TEXT_BYTES_MAX {
            return Err(self.fault(part, format!("is longer than {TEXT_BYTES_MAX} bytes")));
        }
        Ok(Text {
            part,
            pem: self.clone(),
            bytes,
        })
    }

    fn fault(&self, part: Part, rule: impl Into<String>) -> Fault {
        Fault {
            part,
            place: self.to_string(),
            rule: rule.into(),
        }
    }
}

impl fmt::Display for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Bytes(_) => f.write_str("given as bytes"),
        }
    }
}

/// Shows no byte: it may be a private key.
impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pem({self})")
    }
}

/// Whether two CA bundles have a CA in common: the same key, in whatever certificate, or one that a CA of the other bundle has
/// signed. What such a CA signs can be good by both bundles.
///
/// # Errors
///
/// The fault of a bundle that cannot be read.
pub fn have_common_ca(one: &Pem, other: &Pem) -> Result<bool, Fault> {
    let (one, other) = (one.read(Part::TrustedCa)?, other.read(Part::TrustedCa)?);
    let (ones, others) = (one.certificates()?, other.certificates()?);
    let (ones, others) = (one.parsed(&ones)?, other.parsed(&others)?);
    let have_in_common = |one: &X509Certificate<'_>, other: &X509Certificate<'_>| {
        one.public_key().raw == other.public_key().raw
            || has_signed(one, other)
            || has_signed(other, one)
    };
    Ok(ones
        .iter()
        .any(|one| others.iter().any(|other| have_in_common(one, other))))
}

/// Whether a CA has signed a certificate.
fn has_signed(authority: &X509Certificate<'_>, certificate: &X509Certificate<'_>) -> bool {
    certificate.issuer().as_raw() == authority.subject().as_raw()
        && certificate
            .verify_signature(Some(authority.public_key()))
            .is_ok()
}

impl KeyPair {
    /// Reads the certificate, with those of the CAs above it, and its private key.
    ///
    /// # Errors
    ///
    /// The [`Fault`] of the first one that cannot be read.
    pub fn chain_and_key(&self) -> Result<ChainAndKey, Fault> {
        self.read()?.parse()
    }

    pub(crate) fn read(&self) -> Result<KeyPairTexts, Fault> {
        Ok(KeyPairTexts {
            certificate: self.certificate.read(Part::Certificate)?,
            key: self.key.read(Part::Key)?,
        })
    }
}

/// The texts of a [`KeyPair`].
#[derive(PartialEq, Eq)]
pub(crate) struct KeyPairTexts {
    pub(crate) certificate: Text,
    key: Text,
}

/// A certificate with those of the CAs above it, and its private key.
pub type ChainAndKey = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

impl KeyPairTexts {
    pub(crate) fn parse(&self) -> Result<ChainAndKey, Fault> {
        Ok((self.certificate.certificates()?, self.key.key()?))
    }

    /// The fault of a pair that rustls does not take.
    pub(crate) fn unusable(&self, error: &rustls::Error) -> Fault {
        self.certificate
            .fault(format!("cannot be used with its private key: {error}"))
    }
}

/// A PEM text as it was read.
#[derive(PartialEq, Eq)]
pub(crate) struct Text {
    part: Part,
    pem: Pem,
    bytes: Vec<u8>,
}

impl Text {
    /// The certificates; at least one.
    pub(crate) fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, Fault> {
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.bytes).collect();
        let found = found.map_err(|error| self.fault(format!("is no PEM: {}", plainly(&error))))?;
        if found.is_empty() {
            return Err(self.fault("has no certificate: no line says BEGIN CERTIFICATE"));
        }
        Ok(found)
    }

    /// What the certificates of this text say.
    fn parsed<'a>(
        &self,
        certificates: &'a [CertificateDer<'_>],
    ) -> Result<Vec<X509Certificate<'a>>, Fault> {
        let parsed = certificates.iter().map(|certificate| {
            let parsed = parse_x509_certificate(certificate).map(|(_, parsed)| parsed);
            parsed.map_err(|_| self.fault("has one that is no X.509 certificate"))
        });
        parsed.collect()
    }

    /// The private key.
    pub(crate) fn key(&self) -> Result<PrivateKeyDer<'static>, Fault> {
        PrivateKeyDer::from_pem_slice(&self.bytes).map_err(|error| {
            let error = plainly(&error);
            self.fault(format!(
                "has no private key that can be read without a password: {error}"
            ))
        })
    }

    /// The certificates as those of trusted CAs.
    pub(crate) fn roots(&self) -> Result<Arc<RootCertStore>, Fault> {
        let mut roots = RootCertStore::empty();
        for certificate in self.certificates()? {
            let added = roots.add(certificate);
            added.map_err(|error| self.fault(format!("has one that cannot be used: {error}")))?;
        }
        Ok(Arc::new(roots))
    }

    pub(crate) fn fault(&self, rule: impl Into<String>) -> Fault {
        self.pem.fault(self.part, rule)
    }
}

/// What is wrong with a PEM text. The library's own words repeat lines of it, and a line may be a whole private key.
fn plainly(error: &pem::Error) -> &'static str {
    match error {
        pem::Error::MissingSectionEnd { .. } => "no line ends what a BEGIN line begins",
        pem::Error::IllegalSectionStart { .. } => "a BEGIN line does not stand alone on its line",
        pem::Error::Base64Decode(_) => "what stands between the lines is no base64",
        pem::Error::NoItemsFound => "there is none",
        _ => "it cannot be read",
    }
}
