//! The caller at the other end of a connection, as its certificate names it.

use std::sync::Arc;

use synod_model::{Identity, Refusal};
use synod_policy::{Caller, Policy};
use synod_tls::Subject;

use super::in_use::InUse;
use super::known::{COMMON_NAME, Known, Proof, Remembered};
use super::unproved::unauthenticated;

/// Who showed a certificate.
#[derive(Debug)]
pub struct Certified {
    /// Whom the certificate names; `None` if it cannot be read.
    subject: Option<Subject>,
    known: Remembered,
}

impl Certified {
    pub(crate) fn new(subject: Option<Subject>) -> Self {
        Self {
            subject,
            known: Remembered::default(),
        }
    }

    /// What the caller may do by the policy in use.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED`, if the certificate does not say whose it is.
    pub(super) fn known(&self, in_use: &InUse) -> Result<Arc<Known>, Refusal> {
        self.known.or_find(in_use, || {
            let caller = Caller {
                identity: self.identity(&in_use.policy)?,
                pod: None,
                groups: Vec::new(),
            };
            let until = self.subject.as_ref().map_or(0, |subject| subject.until);
            Ok(Known::new(caller, in_use, until, Proof::Certificate))
        })
    }

    fn identity(&self, policy: &Policy) -> Result<Identity, Refusal> {
        let subject = self.subject.as_ref();
        let subject = subject.ok_or_else(|| unauthenticated("the certificate cannot be read"))?;
        let name = subject.spiffe.clone().or_else(|| {
            let common_name = subject.common_name.as_ref();
            let common_name = common_name.filter(|_| policy.common_names)?;
            Some(format!("{COMMON_NAME}{common_name}"))
        });
        let name = name.ok_or_else(|| {
            unauthenticated(
                "the certificate does not say whose it is: it needs exactly one URI among its subject alternative names, a \
                 SPIFFE id, or its common name must count by the policy",
            )
        })?;
        Identity::parse(&name).map_err(|violation| {
            unauthenticated(&format!(
                "the name in the certificate cannot be used: {violation}"
            ))
        })
    }
}
