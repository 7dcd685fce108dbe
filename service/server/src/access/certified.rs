//! The caller at the other end of a connection, as its certificate names it.

use std::sync::{Arc, Mutex, PoisonError};

use synod_model::{ErrorKind, Identity, Refusal};
use synod_policy::{Caller, Policy};
use synod_tls::Subject;

use super::known::{COMMON_NAME, Known};

/// Who showed a certificate.
#[derive(Debug)]
pub struct Certified {
    /// Whom the certificate names; `None` if it cannot be read.
    subject: Option<Subject>,
    /// What it may do by the policy of this generation.
    known: Mutex<Option<(u64, Arc<Known>)>>,
}

impl Certified {
    pub(crate) fn new(subject: Option<Subject>) -> Self {
        Self {
            subject,
            known: Mutex::default(),
        }
    }

    /// What the caller may do by the policy of this generation.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED`, if the certificate does not say whose it is.
    pub(super) fn known(&self, generation: u64, policy: &Policy) -> Result<Arc<Known>, Refusal> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, known)) = &*known
            && *of == generation
        {
            return Ok(Arc::clone(known));
        }
        let caller = Caller {
            identity: self.identity(policy)?,
        };
        let until = self.subject.as_ref().map_or(0, |subject| subject.until);
        let found = Arc::new(Known::new(caller, policy, until));
        *known = Some((generation, Arc::clone(&found)));
        Ok(found)
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
            let message = format!("the name in the certificate cannot be used: {violation}");
            Refusal::new(ErrorKind::Unauthenticated, message)
        })
    }
}

pub(super) fn unauthenticated(why: &str) -> Refusal {
    Refusal::new(ErrorKind::Unauthenticated, why)
}
