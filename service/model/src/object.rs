//! Objects: what API servers keep in the store.

use std::sync::Arc;

use bytes::Bytes;

use crate::limits::OBJECT_BYTES_MAX;
use crate::{
    Annotations, ApiVersion, Finalizers, Json, Labels, MediaType, Metadata, ObjectKey,
    OwnerReferences, Revision, Violation, Violations, WallTime,
};

/// An object. The same resource version is always the same object, byte for byte: what changes with time, such as the
/// deadline of its TTL, is kept outside of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The key of the object.
    pub key: ObjectKey,
    /// Identity and revisions.
    pub metadata: Metadata,
    /// Labels, annotations, owners and finalizers.
    pub attributes: Attributes,
    /// Set while it is being deleted and waits for its finalizers.
    pub deletion: Option<Arc<Deletion>>,
    /// The stored data.
    pub content: Content,
    /// The revision at which the content was last stored as a whole: by the create, or by the last update that changed
    /// it. A patch and a change of the attributes leave it as it is, since neither encodes the content anew. So the
    /// rotation of a key must not use the object's resource version instead.
    pub content_revision: Revision,
}

/// What the writers of an object set beside its data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The labels, for selectors.
    pub labels: Labels,
    /// Notes, which selectors do not read.
    pub annotations: Annotations,
    /// The objects that own it.
    pub owners: OwnerReferences,
    /// The tasks that must be done before it is removed.
    pub finalizers: Finalizers,
}

impl Attributes {
    /// No labels, annotations, owners or finalizers.
    pub(crate) const NONE: Self = Self {
        labels: Labels::NONE,
        annotations: Annotations::NONE,
        owners: OwnerReferences::NONE,
        finalizers: Finalizers::NONE,
    };
}

/// The stored data of an object, and how it is encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The version that the data is encoded in.
    pub encoding: ApiVersion,
    /// The media type of the data.
    pub media_type: MediaType,
    /// The data itself: shared, never copied for a reader.
    pub data: Bytes,
}

impl Content {
    /// The broken rules of the content that do not depend on the state.
    #[must_use]
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if self.data.len() > OBJECT_BYTES_MAX {
            violations.push(Violation::too_long(OBJECT_BYTES_MAX).at("data"));
        } else if self.media_type.is_json() {
            violations.parsed("data", Json::parse(&self.data));
        }
        violations
    }
}

/// An object's deletion while it waits for finalizers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// The wall time of the request; only shown.
    pub at: WallTime,
    /// The revision of the request, or of a later one that made the deletion wait for its dependents instead.
    pub revision: Revision,
    /// The place among the deletions of that revision.
    pub position: u32,
}
