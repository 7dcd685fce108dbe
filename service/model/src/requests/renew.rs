//! The request that renews a member.

use crate::{Epoch, MemberId, Violations};

/// Moves a member's deadline. Changes no object, so it moves no revision and wakes no watcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renew {
    /// The member.
    pub member: MemberId,
    /// The epoch of the member.
    pub epoch: Epoch,
}

impl Renew {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.parsed("member.epoch", self.epoch.check());
        violations
    }
}
