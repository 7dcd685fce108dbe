//! The request that renews a lease.

use crate::{FencingToken, LeaseKey, Violations};

/// Moves a lease's deadline. Changes no object, so it moves no revision and wakes no watcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenewLease {
    /// The lease.
    pub key: LeaseKey,
    /// The token that its holder was given.
    pub token: FencingToken,
}

impl RenewLease {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.parsed("lease.token", self.token.check());
        violations
    }
}
