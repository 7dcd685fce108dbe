//! The request by which an API server joins as a member.

use crate::{BinaryVersion, Endpoint, Epoch, InstanceId, Labels, MemberId, Ttl, Violations};

/// Makes an API server a member, and answers its epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The server's id, the same over its restarts.
    pub id: MemberId,
    /// The process that joins. The same instance gets its epoch back; another one replaces the
    /// member.
    pub instance: InstanceId,
    /// How long the member lives without a renewal.
    pub ttl: Ttl,
    /// The labels that it gives itself, for selectors.
    pub labels: Labels,
    /// The release that it runs.
    pub version: BinaryVersion,
    /// The address that it gives for itself.
    pub endpoint: Endpoint,
    /// The epoch that this instance has lost, if it joins again. The join is refused if another
    /// instance has joined since.
    pub lost_epoch: Option<Epoch>,
    /// Whether it writes through a gate alone: no write of it begins without a proof of its membership, or in a version
    /// that it has not reported.
    pub gated: bool,
}

impl Join {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if let Some(epoch) = self.lost_epoch {
            violations.parsed("lostEpoch", epoch.check());
        }
        violations
    }
}
