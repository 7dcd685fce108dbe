//! Fences: conditions on the writer of a change, not on the object that it changes.

use crate::{Epoch, FencingToken, LeaseKey, MemberId, Violations};

/// The conditions that the writer must still meet when its write is applied. The default has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fences {
    /// The member still has exactly this epoch.
    pub if_member: Option<(MemberId, Epoch)>,
    /// The lease is still held under exactly this token.
    pub if_lease: Option<(LeaseKey, FencingToken)>,
}

impl Fences {
    /// The broken rules of the fences that do not depend on the state.
    #[must_use]
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if let Some((_, epoch)) = &self.if_member {
            violations.parsed("ifMember.epoch", epoch.check());
        }
        if let Some((_, token)) = &self.if_lease {
            violations.parsed("ifLease.token", token.check());
        }
        violations
    }
}
