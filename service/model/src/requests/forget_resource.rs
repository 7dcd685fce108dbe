//! The request that forgets a resource that no member reports.

use crate::{GroupResource, Revision, Violations};

/// Removes the StorageState of a resource that no member reports: its selected and persisted versions and its
/// agreements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetResource {
    /// The resource.
    pub resource: GroupResource,
    /// Only if the StorageState was last changed at this revision.
    pub if_revision: Option<Revision>,
}

impl ForgetResource {
    /// No broken rules: the types of the fields express all of them.
    #[must_use]
    pub fn check(&self) -> Violations {
        Violations::new()
    }
}
