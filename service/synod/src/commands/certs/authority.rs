//! CAs for development.

use std::time::Duration;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use synod_client::WallTime;

use super::folder::{Folder, Made, Put};
use crate::failure::Failure;

/// How long a CA is valid.
const DAYS: u32 = 3_650;

/// Certificates are valid from a little earlier on, since clocks differ.
const BEFORE: Duration = Duration::from_mins(5);

const DAY: Duration = Duration::from_hours(24);

/// A CA with its key.
pub(super) struct Authority(Issuer<'static, KeyPair>);

impl Authority {
    /// The CA of this name: that of the folder, or a new one, which is written there.
    pub(super) fn open(folder: &Folder, name: &str, now: WallTime) -> Result<(Self, Put), Failure> {
        if let Some(Made { certificate, key }) = folder.get(name)? {
            let read =
                KeyPair::from_pem(&key).and_then(|key| Issuer::from_ca_cert_pem(&certificate, key));
            let issuer = read.map_err(|error| {
                let path = folder.path(&format!("{name}.pem"));
                let message = format!("the CA {} cannot be used: {error}", path.display());
                Failure::local(message, "remove it and its key to have another one made")
            })?;
            return Ok((Self(issuer), Put::Kept));
        }
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = subject(DnType::CommonName, &format!("synod {name}"));
        parameters.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        set_validity(&mut parameters, DAYS, now);
        let made = KeyPair::generate().and_then(|key| {
            let certificate = parameters.self_signed(&key)?;
            let made = Made {
                certificate: certificate.pem(),
                key: key.serialize_pem(),
            };
            Ok((Issuer::new(parameters, key), made))
        });
        let (issuer, made) = made.map_err(|error| not_made(&error))?;
        let put = folder.put(name, false, || Ok(made))?;
        Ok((Self(issuer), put))
    }

    /// What makes a certificate with a new key.
    pub(super) fn sign(
        &self,
        mut parameters: CertificateParams,
        days: u32,
        now: WallTime,
    ) -> impl FnOnce() -> Result<Made, Failure> {
        set_validity(&mut parameters, days, now);
        move || {
            let made = KeyPair::generate().and_then(|key| {
                Ok(Made {
                    certificate: parameters.signed_by(&key, &self.0)?.pem(),
                    key: key.serialize_pem(),
                })
            });
            made.map_err(|error| not_made(&error))
        }
    }
}

/// A subject that has this alone.
pub(super) fn subject(kind: DnType, text: &str) -> DistinguishedName {
    let mut subject = DistinguishedName::new();
    subject.push(kind, text);
    subject
}

fn set_validity(parameters: &mut CertificateParams, days: u32, now: WallTime) {
    let now = date_time_ymd(1970, 1, 1) + Duration::from_millis(now.as_millis());
    parameters.not_before = now - BEFORE;
    parameters.not_after = now + DAY * days;
}

fn not_made(error: &rcgen::Error) -> Failure {
    Failure::local(
        format!("the certificate cannot be made: {error}"),
        "look at the names that it should have",
    )
}
