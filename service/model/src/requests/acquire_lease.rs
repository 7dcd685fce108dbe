//! The request for a lease, or for a place in the queue for it.

use crate::{Epoch, HolderIdentity, LeaseKey, MemberId, Ttl, Violations};

/// Gives a free lease to its caller. If another holder has it, the request is refused, or gets a
/// place in the queue.
///
/// A caller that holds the lease already keeps it with its token; a caller that waits already keeps
/// its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcquireLease {
    /// The lease. It need not exist.
    pub key: LeaseKey,
    /// The identity that wants it.
    pub holder: HolderIdentity,
    /// How long the hold lasts without a renewal.
    pub ttl: Ttl,
    /// How long a place in the queue is kept if the lease is not free; `None`: the caller does not
    /// wait.
    pub wait: Option<Ttl>,
    /// Only while this member has this epoch: the hold ends with the epoch, if not before.
    pub if_member: Option<(MemberId, Epoch)>,
}

impl AcquireLease {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if let Some((_, epoch)) = &self.if_member {
            violations.parsed("ifMember.epoch", epoch.check());
        }
        violations
    }
}
