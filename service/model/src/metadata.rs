//! What every object has beside its own fields.

use crate::{Revision, Uid, WallTime};

/// Identity and history of an object in the replicated state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Never the same for two objects, also not for two of one name one after the other.
    pub uid: Uid,
    /// The revision of the last change.
    pub resource_version: Revision,
    /// The revision of the creation.
    pub create_revision: Revision,
    /// How often the desired part has changed, from 1.
    pub generation: u64,
    /// When it was created, for people.
    pub created: WallTime,
}
