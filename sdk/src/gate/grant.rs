//! The content of a permit.

use synod_model::{ApiVersion, Epoch, GroupResource, Revision};

/// What one permit allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) epoch: Epoch,
    pub(crate) resource: GroupResource,
    pub(crate) encoding: ApiVersion,
    /// At this revision the entry allowed the encoding.
    pub(crate) revision: Revision,
}
