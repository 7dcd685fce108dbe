//! Going on to stand for a lease.

use crate::{HolderIdentity, LeaseKey};

/// Moves a candidate's deadline. Changes no object, so it moves no revision and wakes no watcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenewLeaseCandidate {
    /// Which lease.
    pub key: LeaseKey,
    /// Who stands for it.
    pub identity: HolderIdentity,
}
