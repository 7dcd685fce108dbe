//! How long certificates are valid.

use rustls::pki_types::CertificateDer;
use x509_parser::parse_x509_certificate;

use crate::fault::Fault;
use crate::pem::Text;

/// A certificate ends soon when less than this is left of it, or less than a sixth of its whole time: whoever renews
/// certificates by a program does so earlier.
const SOON_SECONDS: i64 = 14 * 24 * 60 * 60;

/// From when until when a certificate is valid, in seconds since 1970-01-01 00:00:00 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// The first second.
    pub from: i64,
    /// The last second.
    pub until: i64,
}

/// How long what an end of a connection uses is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validities {
    /// Of its own certificate and those of the CAs given with it, the one that ends first; `None`: it shows none.
    pub certificate: Option<Validity>,
    /// Of the CAs that it trusts, the one that ends last: an old one stands beside its successor for a while. `None`: it
    /// asks for no certificate.
    pub trusted_ca: Option<Validity>,
}

impl Validity {
    /// Whether somebody should have renewed the certificate by `now`.
    #[must_use]
    pub fn is_ending(self, now: i64) -> bool {
        let whole = self.until.saturating_sub(self.from);
        self.until.saturating_sub(now) < SOON_SECONDS.min(whole / 6)
    }
}

/// Of the certificates in a text, the validity of the one that ends first.
pub(crate) fn first_of(text: &Text) -> Result<Validity, Fault> {
    let first = each(text)?
        .into_iter()
        .min_by_key(|validity| validity.until);
    first.ok_or_else(|| text.fault("has no certificate"))
}

/// Of the certificates in a text, the validity of the one that ends last.
pub(crate) fn last_of(text: &Text) -> Result<Validity, Fault> {
    let last = each(text)?
        .into_iter()
        .max_by_key(|validity| validity.until);
    last.ok_or_else(|| text.fault("has no certificate"))
}

fn each(text: &Text) -> Result<Vec<Validity>, Fault> {
    let certificates = text.certificates()?;
    let each = certificates.iter().map(|certificate| of(text, certificate));
    each.collect()
}

fn of(text: &Text, certificate: &CertificateDer<'_>) -> Result<Validity, Fault> {
    match parse_x509_certificate(certificate) {
        Ok((_, parsed)) => Ok(Validity {
            from: parsed.validity().not_before.timestamp(),
            until: parsed.validity().not_after.timestamp(),
        }),
        Err(error) => Err(text.fault(format!("has one that is no X.509 certificate: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_ends_soon_by_its_own_measure() {
        let of_days = |days: i64| Validity {
            from: 0,
            until: days * 86_400,
        };
        let year = of_days(365);
        assert!(!year.is_ending(350 * 86_400));
        assert!(year.is_ending(352 * 86_400));
        let day = of_days(1);
        assert!(!day.is_ending(19 * 3_600));
        assert!(day.is_ending(21 * 3_600));
        assert!(day.is_ending(2 * 86_400), "it has ended");
    }
}
