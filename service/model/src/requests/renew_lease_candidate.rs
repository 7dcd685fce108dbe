//! The request that renews a candidate for a lease.

use crate::{HolderIdentity, LeaseKey};

/// Moves a candidate's deadline. Changes no object, so it moves no revision and wakes no watcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenewLeaseCandidate {
    /// The lease.
    pub key: LeaseKey,
    /// The identity of the candidate.
    pub identity: HolderIdentity,
}
