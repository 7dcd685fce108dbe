//! The request that deletes a lease, whoever holds it.

use crate::{LeaseKey, Preconditions, Violations};

/// The machine version that the deletion of leases comes with: an older replica does not know the command.
pub const DELETE_LEASE_SINCE: u32 = 2;

/// Deletes a lease. Its holder loses it at once. Who is next has a new lease of this name in the same command; without
/// anybody there is none any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteLease {
    /// The lease.
    pub key: LeaseKey,
    /// The lease that is meant.
    pub preconditions: Preconditions,
}

impl DeleteLease {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        self.preconditions.check()
    }
}
