//! Whose a certificate is.

use rustls::pki_types::CertificateDer;
use x509_parser::extensions::GeneralName;
use x509_parser::parse_x509_certificate;

/// The beginning of a SPIFFE id.
const SPIFFE: &str = "spiffe://";

/// Whom a certificate names, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its SPIFFE id: the one URI among its subject alternative names. `None` if there is none or another, or if there are
    /// several: the standard allows one (SPIFFE X.509-SVID, section 2).
    pub spiffe: Option<String>,
    /// The one common name of its subject; `None` also if there is a URI.
    pub common_name: Option<String>,
    /// The last second in which it is valid, since 1970-01-01 00:00:00 UTC.
    pub until: i64,
}

impl Subject {
    /// Whom a certificate names. `None` if it cannot be read.
    #[must_use]
    pub fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let (_, parsed) = parse_x509_certificate(certificate).ok()?;
        let alternatives = parsed.subject_alternative_name().ok()?;
        let alternatives = alternatives.iter().flat_map(|it| &it.value.general_names);
        // One that cannot be read may be a second URI.
        if alternatives
            .clone()
            .any(|name| matches!(name, GeneralName::Invalid(..)))
        {
            return None;
        }
        let uris = alternatives.filter_map(|name| match name {
            GeneralName::URI(uri) => Some(*uri),
            _ => None,
        });
        let uris: Vec<&str> = uris.collect();
        let spiffe = only(uris.iter()).filter(|uri| uri.starts_with(SPIFFE));
        let names = parsed.subject().iter_common_name();
        let names = names.map(|name| name.as_str().ok());
        let common_name = only(names).flatten().filter(|_| uris.is_empty());
        Some(Self {
            spiffe: spiffe.map(|uri| (*uri).to_owned()),
            common_name: common_name.map(str::to_owned),
            until: parsed.validity().not_after.timestamp(),
        })
    }
}

/// The item, if there is exactly one.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair, SanType};

    use super::*;

    fn subject(common_names: &[&str], uris: &[&str]) -> Subject {
        let mut params = CertificateParams::new(vec!["server-1.example".to_owned()]).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        for name in common_names {
            params.distinguished_name.push(DnType::CommonName, *name);
        }
        for uri in uris {
            let uri = (*uri).try_into().unwrap();
            params.subject_alt_names.push(SanType::URI(uri));
        }
        let made = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        Subject::of(made.der()).unwrap()
    }

    #[test]
    fn a_certificate_names_its_one_spiffe_id_and_its_common_name() {
        let found = subject(&["Server One"], &["spiffe://synod/member/server-1"]);
        assert_eq!(
            found.spiffe.as_deref(),
            Some("spiffe://synod/member/server-1")
        );
        assert_eq!(found.common_name, None, "the id alone counts");
        let found = subject(&["Server One"], &[]);
        assert_eq!(found.common_name.as_deref(), Some("Server One"));
    }

    #[test]
    fn several_uris_or_another_one_are_no_spiffe_id() {
        let ids = ["spiffe://synod/admin", "spiffe://synod/member/a"];
        let several = subject(&["admin"], &ids);
        assert_eq!((several.spiffe, several.common_name), (None, None));
        assert_eq!(subject(&[], &["https://synod/admin"]).spiffe, None);
        let with_another = ["spiffe://synod/admin", "https://synod/admin"];
        assert_eq!(subject(&[], &with_another).spiffe, None);
        assert_eq!(subject(&[], &[]).spiffe, None);
    }

    #[test]
    fn what_is_no_certificate_names_nobody() {
        assert_eq!(Subject::of(&CertificateDer::from(vec![1, 2, 3])), None);
    }
}
