//! A caller that is known.

use std::sync::Arc;

use synod_model::Actor;
use synod_policy::{Caller, Policy, Right, Rights};

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
}

impl Known {
    pub(super) fn new(caller: Caller, policy: &Policy, until: i64) -> Self {
        let rights = policy.rights(&caller);
        Self {
            actor: Arc::new(rights.actor().clone()),
            caller,
            rights,
            until,
        }
    }

    /// Whether the caller may do the same by this policy.
    pub(super) fn is_unchanged_by(&self, policy: &Policy) -> bool {
        self.counts_by(policy) && policy.rights(&self.caller) == self.rights
    }

    /// Whether this policy grants anything to the caller.
    pub(super) fn has_anything_by(&self, policy: &Policy) -> bool {
        self.counts_by(policy) && policy.rights(&self.caller).allow(Right::Any).is_ok()
    }

    /// Whether this policy lets the name of the caller count.
    fn counts_by(&self, policy: &Policy) -> bool {
        policy.common_names || !self.caller.identity.as_str().starts_with(COMMON_NAME)
    }
}
