//! The request by which a member says that it serves.

use crate::{Epoch, MemberId, Violations};

/// Says that a member serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkReady {
    /// The member.
    pub member: MemberId,
    /// The epoch of the member.
    pub epoch: Epoch,
}

impl MarkReady {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.parsed("member.epoch", self.epoch.check());
        violations
    }
}
