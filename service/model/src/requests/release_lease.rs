//! Giving up a lease, or the place in the queue for it.

use crate::{FencingToken, HolderIdentity, LeaseKey, Violations};

/// Gives up what a holder has: the lease, or its place in the queue. Whoever is next has the lease in the same command.
///
/// Who has neither has nothing to give up, and that is no fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseLease {
    /// Which lease.
    pub key: LeaseKey,
    /// Who gives it up.
    pub holder: HolderIdentity,
    /// Only a hold by this token. `None`: whatever the holder has.
    pub token: Option<FencingToken>,
}

impl ReleaseLease {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if let Some(token) = self.token {
            violations.parsed("token", token.check());
        }
        violations
    }
}
