//! The check of a token.

use std::fmt;
use std::sync::Arc;

use crate::TOKEN_BYTES_MAX;
use crate::claims::Claims;
use crate::fault::Refused;
use crate::jws::Jws;
use crate::keys::{Key, Keys};

/// Checks the tokens of one issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verifier {
    /// Who makes the tokens: `iss` must be equal.
    pub issuer: String,
    /// Whom a token may be for: one of its `aud` must be among them.
    pub audiences: Vec<String>,
    /// The keys of the issuer.
    pub keys: Keys,
}

/// Whom a token that was taken names.
#[derive(Clone)]
pub struct ServiceAccount {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The pod that the token was made for, if it was for one.
    pub pod: Option<String>,
    /// The last second in which the token counts, since 1970-01-01 00:00:00 UTC.
    pub until: i64,
    issuer: String,
    audiences: Vec<String>,
    key_id: String,
    key: Arc<Key>,
}

impl Verifier {
    /// Whom a token names, if it is taken in this second since 1970-01-01 00:00:00 UTC.
    ///
    /// # Errors
    ///
    /// The first reason why it is not.
    pub fn verify(&self, token: &str, now: i64) -> Result<ServiceAccount, Refused> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(Refused::TooLong);
        }
        let jws = Jws::split(token)?;
        let key = self.keys.get(&jws.key_id).ok_or(Refused::UnknownKey)?;
        if !key.has_signed(jws.algorithm, jws.message.as_bytes(), &jws.signature) {
            return Err(Refused::Signature);
        }
        let claims: Claims = jws.claims()?;
        if !claims.is_of(&self.issuer) {
            return Err(Refused::Issuer);
        }
        let audiences = claims.audiences().to_vec();
        if !self.is_among(&audiences) {
            return Err(Refused::Audience);
        }
        let until = claims.until(now)?;
        let subject = claims.subject()?;
        Ok(ServiceAccount {
            namespace: subject.namespace,
            name: subject.name,
            pod: subject.pod,
            until,
            issuer: self.issuer.clone(),
            audiences,
            key_id: jws.key_id,
            key: Arc::clone(key),
        })
    }

    /// Whether the token that this was read from is taken by this verifier, too, as long as it has not expired.
    #[must_use]
    pub fn takes(&self, account: &ServiceAccount) -> bool {
        let key = self.keys.get(&account.key_id);
        account.issuer == self.issuer
            && key.is_some_and(|key| *key == account.key)
            && self.is_among(&account.audiences)
    }

    fn is_among(&self, audiences: &[String]) -> bool {
        audiences.iter().any(|one| self.audiences.contains(one))
    }
}

impl ServiceAccount {
    /// The name that Kubernetes' API servers know it by: `system:serviceaccount:<namespace>:<name>`.
    #[must_use]
    pub fn identity(&self) -> String {
        format!("system:serviceaccount:{}:{}", self.namespace, self.name)
    }
}

/// Shows the name alone.
impl fmt::Debug for ServiceAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceAccount")
            .field("namespace", &self.namespace)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
