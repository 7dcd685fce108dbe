//! Taking over what was selected.

use crate::{Epoch, GroupResource, MemberId, Revision, StatementNumber, Violation, Violations};

/// Says that a voting member now encodes what is selected, and that its permits for what it
/// encoded before are drained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopt {
    /// The member.
    pub member: MemberId,
    /// The epoch that it speaks under.
    pub epoch: Epoch,
    /// The place of this statement among all that the member says under the epoch.
    pub number: StatementNumber,
    /// The resource.
    pub resource: GroupResource,
    /// The revision at which what it adopts was selected: not what has been selected since.
    pub selected_revision: Revision,
}

impl Adopt {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.parsed("member.epoch", self.epoch.check());
        if self.selected_revision == Revision::ZERO {
            let rule = "must be the selected revision of the resource's StorageVersion";
            violations.push(Violation::required(rule).at("selectedRevision"));
        }
        violations
    }
}
