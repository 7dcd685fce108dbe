//! The request by which a member leaves at once.

use crate::{Epoch, MemberId, Violations};

/// Removes a member and all that is tied to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leave {
    /// The member.
    pub member: MemberId,
    /// The epoch of the member.
    pub epoch: Epoch,
    /// Whether the member promises that none of its writes may still land.
    pub drained: bool,
}

impl Leave {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.parsed("member.epoch", self.epoch.check());
        violations
    }
}
