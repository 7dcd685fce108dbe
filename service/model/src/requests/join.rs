//! Joining as a member.

use crate::{BinaryVersion, Endpoint, Epoch, InstanceId, Labels, MemberId, Ttl, Violations};

/// Lets an API server in, and answers its epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The server's id, the same over its restarts.
    pub id: MemberId,
    /// The process that joins. The same instance gets its epoch back; another one replaces the
    /// member.
    pub instance: InstanceId,
    /// How long the member lives without a renewal.
    pub ttl: Ttl,
    /// What it says of itself, to be selected by.
    pub labels: Labels,
    /// The release that it runs.
    pub version: BinaryVersion,
    /// Where it says it can be reached.
    pub endpoint: Endpoint,
    /// The epoch that this instance has lost, if it joins again. It is refused if another
    /// instance has joined since.
    pub lost_epoch: Option<Epoch>,
}

impl Join {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if let Some(epoch) = self.lost_epoch {
            violations.parsed("lostEpoch", epoch.check());
        }
        violations
    }
}
