//! A caller that is known.

use std::sync::{Arc, Mutex, PoisonError};

use synod_model::{Actor, Refusal};
use synod_policy::{Caller, Right, Rights};
use synod_tokens::ServiceAccount;

use super::in_use::InUse;

/// What stands before a common name in the name of a caller. No other name begins so.
pub(super) const COMMON_NAME: &str = "cn:";

/// A caller that is known, and what it may do by one policy.
#[derive(Debug)]
pub(crate) struct Known {
    pub(super) caller: Caller,
    pub(super) rights: Rights,
    pub(super) actor: Arc<Actor>,
    /// The last second in which its proof counts, since 1970-01-01 00:00:00 UTC.
    pub(super) until: i64,
    pub(super) proof: Proof,
}

/// What has proved who calls.
#[derive(Clone, Debug)]
pub(super) enum Proof {
    /// The certificate of its connection.
    Certificate,
    /// A front proxy that is believed, by the certificate of its connection.
    Proxy,
    /// A token of this service account.
    Token(Arc<ServiceAccount>),
}

impl Known {
    pub(super) fn new(caller: Caller, in_use: &InUse, until: i64, proof: Proof) -> Self {
        let rights = in_use.policy.rights(&caller);
        Self {
            actor: Arc::new(rights.actor().clone()),
            caller,
            rights,
            until,
            proof,
        }
    }

    /// Whether the caller may do the same by what counts now.
    pub(super) fn is_unchanged_by(&self, in_use: &InUse) -> bool {
        self.counts_by(in_use) && in_use.policy.rights(&self.caller) == self.rights
    }

    /// Whether what counts now grants anything to the caller.
    pub(super) fn has_anything_by(&self, in_use: &InUse) -> bool {
        let rights = || in_use.policy.rights(&self.caller);
        self.counts_by(in_use) && rights().allow(Right::Any).is_ok()
    }

    /// Whether the proof of the caller counts.
    fn counts_by(&self, in_use: &InUse) -> bool {
        match &self.proof {
            Proof::Certificate => {
                let name = self.caller.identity.as_str();
                in_use.policy.common_names || !name.starts_with(COMMON_NAME)
            }
            Proof::Proxy => true,
            Proof::Token(account) => in_use.takes(account),
        }
    }
}

/// What a caller may do, as it was found when it was asked for last.
#[derive(Debug, Default)]
pub(super) struct Remembered(Mutex<Option<(u64, Arc<Known>)>>);

impl Remembered {
    /// What was found by what counts now; `find` finds it for the first time.
    pub(super) fn or_find(
        &self,
        in_use: &InUse,
        find: impl FnOnce() -> Result<Known, Refusal>,
    ) -> Result<Arc<Known>, Refusal> {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((generation, known)) = &*remembered
            && *generation == in_use.generation
        {
            return Ok(Arc::clone(known));
        }
        let found = Arc::new(find()?);
        *remembered = Some((in_use.generation, Arc::clone(&found)));
        Ok(found)
    }
}
