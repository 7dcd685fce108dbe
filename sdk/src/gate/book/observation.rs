//! What the watch shows the book.

use synod_model::{ApiVersion, Revision};

/// What a watcher saw of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Observation {
    pub(crate) revision: Revision,
    pub(crate) selected: Option<ApiVersion>,
    pub(crate) selected_revision: Revision,
    /// The member's own entry, if it changed: its encoding, and what it has adopted.
    pub(crate) own: Option<(Option<ApiVersion>, Option<Revision>)>,
}
