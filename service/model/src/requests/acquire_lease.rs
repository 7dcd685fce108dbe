//! Taking a lease, or a place in the queue for it.

use crate::{Epoch, HolderIdentity, LeaseKey, MemberId, Ttl, Violations};

/// Gives a free lease to its caller. One that another holds is refused, or waited for.
///
/// Who holds it already keeps it, with the token that it has; who waits already keeps its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcquireLease {
    /// Which lease. It need not exist.
    pub key: LeaseKey,
    /// Who wants it.
    pub holder: HolderIdentity,
    /// How long it is held without a renewal.
    pub ttl: Ttl,
    /// How long a place in the queue is kept if it cannot be had at once; `None`: not at all.
    pub wait: Option<Ttl>,
    /// Only while this member speaks under this epoch: the hold ends with it, if not before.
    pub if_member: Option<(MemberId, Epoch)>,
}

impl AcquireLease {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if let Some((_, epoch)) = &self.if_member {
            violations.parsed("ifMember.epoch", epoch.check());
        }
        violations
    }
}
