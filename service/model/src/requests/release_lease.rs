//! The request that gives up a lease, or the place in the queue for it.

use crate::{FencingToken, HolderIdentity, LeaseKey, Violations};

/// Gives up what a holder has: the lease, or its place in the queue. The next holder gets the lease in the same
/// command.
///
/// A holder that has neither gets no error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseLease {
    /// The lease.
    pub key: LeaseKey,
    /// The identity that gives it up.
    pub holder: HolderIdentity,
    /// Only a hold under this token. `None`: whatever the holder has.
    pub token: Option<FencingToken>,
}

impl ReleaseLease {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if let Some(token) = self.token {
            violations.parsed("token", token.check());
        }
        violations
    }
}
