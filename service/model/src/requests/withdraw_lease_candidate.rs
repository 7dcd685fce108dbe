//! Standing for a lease no longer.

use crate::{HolderIdentity, LeaseKey};

/// Removes a candidate. What it holds it keeps, until it releases that too or does not renew it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithdrawLeaseCandidate {
    /// Which lease.
    pub key: LeaseKey,
    /// Who stood for it.
    pub identity: HolderIdentity,
}
