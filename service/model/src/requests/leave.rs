//! Leaving at once.

use crate::{Epoch, MemberId, Violations};

/// Removes a member and all that hangs on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leave {
    /// The member.
    pub member: MemberId,
    /// The epoch that it speaks under.
    pub epoch: Epoch,
    /// Whether it promises that none of its writes is still on its way.
    pub drained: bool,
}

impl Leave {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.parsed("member.epoch", self.epoch.check());
        violations
    }
}
