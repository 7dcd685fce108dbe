//! Who may write: conditions on the writer, not on what is written.

use crate::{Epoch, MemberId, Violations};

/// What must still be true of the writer when its write is applied. The default asks nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fences {
    /// The member holds this very epoch.
    pub if_member: Option<(MemberId, Epoch)>,
}

impl Fences {
    /// What is wrong with its shape.
    #[must_use]
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if let Some((_, epoch)) = &self.if_member {
            violations.parsed("ifMember.epoch", epoch.check());
        }
        violations
    }
}
