//! The events of a watch in the form in which the book takes them.

use synod_model::{ApiVersion, Revision};

/// What a watch has shown of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Observation {
    pub(crate) revision: Revision,
    pub(crate) selected: Option<ApiVersion>,
    pub(crate) selected_revision: Revision,
    /// The member's own entry, if it changed: its encoding, and what it has adopted.
    pub(crate) own: Option<(Option<ApiVersion>, Option<Revision>)>,
    /// The version that all members agree on, if they do, and the revision at which that was so.
    pub(crate) agreed: Option<ApiVersion>,
    pub(crate) agreed_at: Revision,
}
