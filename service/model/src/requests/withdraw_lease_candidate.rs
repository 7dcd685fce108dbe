//! The request that removes a candidate for a lease.

use crate::{HolderIdentity, LeaseKey};

/// Removes a candidate. If it holds the lease, it keeps it until it releases the lease or does not
/// renew it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithdrawLeaseCandidate {
    /// The lease.
    pub key: LeaseKey,
    /// The identity of the candidate.
    pub identity: HolderIdentity,
}
