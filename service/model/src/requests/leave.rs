//! The request by which a member leaves at once.

use crate::{Epoch, InstanceId, MemberId, Violation, Violations};

/// Removes a member and all that is tied to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leave {
    /// The member.
    pub member: MemberId,
    /// The epoch of the member.
    pub epoch: Epoch,
    /// Whether the member promises that none of its writes may still land.
    pub drained: bool,
    /// The instance that leaves by itself. `None`: somebody else evicts the member, whose process may not know of it, so that
    /// `drained` counts for nothing.
    pub instance: Option<InstanceId>,
    /// Whether somebody vouches that the process of an evicted member has stopped.
    pub stopped: bool,
}

impl Leave {
    /// Whether somebody else than the member's instance puts it out.
    #[must_use]
    pub const fn evicts(&self) -> bool {
        self.instance.is_none()
    }
}

impl Leave {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.parsed("member.epoch", self.epoch.check());
        if self.stopped && (!self.evicts() || self.drained) {
            let rule = "is said of a member that somebody else evicts: leave out the instance and `drained`";
            violations.push(Violation::invalid("true", rule).at("stopped"));
        }
        violations
    }
}
