//! Forgetting what stays of a resource.

use crate::{GroupResource, Violations};

/// Removes what stays of a resource that nobody reports: its selected and persisted versions and its agreements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetResource {
    /// The resource.
    pub resource: GroupResource,
}

impl ForgetResource {
    /// What is wrong with its shape: nothing can be.
    #[must_use]
    pub fn check(&self) -> Violations {
        Violations::new()
    }
}
