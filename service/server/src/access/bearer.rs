//! The sender of a token.

use std::sync::Arc;

use synod_model::{Identity, Refusal};
use synod_policy::Caller;
use synod_tokens::ServiceAccount;

use super::in_use::InUse;
use super::known::{Known, Proof, Remembered};
use super::unproved::unauthenticated;

/// Who sent a token that was taken. Nothing of the token itself is kept.
#[derive(Debug)]
pub struct Bearer {
    account: Arc<ServiceAccount>,
    known: Remembered,
}

impl Bearer {
    pub(super) fn new(account: ServiceAccount) -> Self {
        Self {
            account: Arc::new(account),
            known: Remembered::default(),
        }
    }

    /// What the caller may do by what counts now.
    ///
    /// # Errors
    ///
    /// `UNAUTHENTICATED`, if the token would not be taken any more.
    pub(super) fn known(&self, in_use: &InUse) -> Result<Arc<Known>, Refusal> {
        self.known.or_find(in_use, || {
            if !in_use.takes(&self.account) {
                return Err(unauthenticated(
                    "the token is not taken any more: the keys of its issuer have changed, or the policy takes others",
                ));
            }
            let identity = Identity::parse(&self.account.identity()).map_err(|violation| {
                unauthenticated(&format!("the name in the token cannot be used: {violation}"))
            })?;
            let caller = Caller {
                identity,
                pod: self.account.pod.clone(),
                groups: Vec::new(),
            };
            let proof = Proof::Token(Arc::clone(&self.account));
            Ok(Known::new(caller, in_use, self.account.until, proof))
        })
    }

    /// Whether the token would be taken now.
    pub(super) fn counts(&self, in_use: &InUse, now: i64) -> bool {
        self.account.until >= now && in_use.takes(&self.account)
    }
}
