//! Keeping a lease.

use crate::{FencingToken, LeaseKey, Violations};

/// Moves a lease's deadline. Changes no object, so it moves no revision and wakes no watcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenewLease {
    /// Which lease.
    pub key: LeaseKey,
    /// The token that its holder was given.
    pub token: FencingToken,
}

impl RenewLease {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.parsed("lease.token", self.token.check());
        violations
    }
}
