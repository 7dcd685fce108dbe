//! Beginning to serve.

use crate::{Epoch, MemberId, Violations};

/// Says that a member serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkReady {
    /// The member.
    pub member: MemberId,
    /// The epoch that it speaks under.
    pub epoch: Epoch,
}

impl MarkReady {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.parsed("member.epoch", self.epoch.check());
        violations
    }
}
