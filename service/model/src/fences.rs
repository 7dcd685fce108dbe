//! Who may write: conditions on the writer, not on what is written.

use crate::{Epoch, FencingToken, LeaseKey, MemberId, Violations};

/// What must still be true of the writer when its write is applied. The default asks nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fences {
    /// The member holds this very epoch.
    pub if_member: Option<(MemberId, Epoch)>,
    /// The lease is held by this very token.
    pub if_lease: Option<(LeaseKey, FencingToken)>,
}

impl Fences {
    /// What is wrong with its shape.
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
