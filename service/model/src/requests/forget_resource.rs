//! Forgetting what stays of a resource.

use crate::{GroupResource, Revision, Violations};

/// Removes what stays of a resource that nobody reports: its selected and persisted versions and its agreements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetResource {
    /// The resource.
    pub resource: GroupResource,
    /// Only if what stays of it was last changed at this revision.
    pub if_revision: Option<Revision>,
}

impl ForgetResource {
    /// What is wrong with its shape: nothing can be.
    #[must_use]
    pub fn check(&self) -> Violations {
        Violations::new()
    }
}
