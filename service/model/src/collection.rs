//! Collections: the declared resources, of which the store holds objects.

use crate::{GroupResource, Kind, Metadata};

/// A declared resource, whose objects the store holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collection {
    /// The resource, which is the key of the collection.
    pub resource: GroupResource,
    /// Identity and revisions.
    pub metadata: Metadata,
    /// The kind of its objects; no other collection of the group has it. Never changes.
    pub kind: Kind,
    /// Whether its objects live in namespaces. Never changes.
    pub namespaced: bool,
    /// The rules for its writes.
    pub rules: CollectionRules,
}

/// The machine version that the status subresource comes with: an older replica does not know the rule.
pub const STATUS_SUBRESOURCE_SINCE: u32 = 2;

/// The rules for the writes of a collection.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each rule is there or not, whatever the others are"
)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CollectionRules {
    /// Whether every write must be encoded in the version that is selected at its revision.
    pub strict_storage_version: bool,
    /// Whether an update of an object that does not exist creates it.
    pub create_on_update: bool,
    /// Whether an update may leave out the resource version that it was made for.
    pub unconditional_update: bool,
    /// Whether the top-level member `status` of an object is what is observed of it, and not what is desired: its
    /// generation does not move with it.
    pub status_subresource: bool,
}
