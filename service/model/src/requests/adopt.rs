//! The request by which a voting member adopts the selected version.

use crate::{Epoch, GroupResource, MemberId, Revision, StatementNumber, Violation, Violations};

/// Says that a voting member now encodes the selected version, and that its permits for the version
/// that it encoded before are drained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopt {
    /// The member.
    pub member: MemberId,
    /// The epoch of the member.
    pub epoch: Epoch,
    /// The number of this statement among all statements of the member under the epoch.
    pub number: StatementNumber,
    /// The resource.
    pub resource: GroupResource,
    /// The revision at which the adopted version was selected: a version that was selected later is
    /// not adopted.
    pub selected_revision: Revision,
}

impl Adopt {
    /// The broken rules of the request that do not depend on the state.
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
