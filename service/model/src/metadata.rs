//! The metadata that every object of the replicated state has.

use crate::{Revision, Uid, WallTime};

/// Identity and history of an object in the replicated state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Unique for ever: a later object of the same name has another uid.
    pub uid: Uid,
    /// The revision of the last change.
    pub resource_version: Revision,
    /// The revision of the creation.
    pub create_revision: Revision,
    /// The count of changes of the desired part, from 1.
    pub generation: u64,
    /// The wall time of the creation; only shown.
    pub created: WallTime,
}
