//! Objects: what API servers keep in the store.

use std::sync::Arc;

use bytes::Bytes;

use crate::limits::OBJECT_BYTES_MAX;
use crate::{
    Annotations, ApiVersion, Finalizers, Json, Labels, MediaType, Metadata, ObjectKey,
    OwnerReferences, Revision, Violation, Violations, WallTime,
};

/// An object. The same resource version is always the same object, byte for byte: what time moves, such as the
/// deadline of its TTL, is kept beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// What it is found by.
    pub key: ObjectKey,
    /// Identity and revisions.
    pub metadata: Metadata,
    /// What its writers say of it.
    pub attributes: Attributes,
    /// Set once it is being deleted and waits for its finalizers.
    pub deletion: Option<Arc<Deletion>>,
    /// What is stored.
    pub content: Content,
    /// The revision at which the content was last stored as a whole: by the create, or by the last update that changed it. A
    /// patch leaves it, and so does every change of what is said of the object: neither encodes the content anew, so who
    /// rotates a key may not take the object's resource version for it.
    pub content_revision: Revision,
}

/// What writers say of an object beside its data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// What it is selected by.
    pub labels: Labels,
    /// Notes.
    pub annotations: Annotations,
    /// What it goes with.
    pub owners: OwnerReferences,
    /// What must be done before it goes.
    pub finalizers: Finalizers,
}

/// What is stored of an object, and how it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The version that the data is encoded in.
    pub encoding: ApiVersion,
    /// The form of the data.
    pub media_type: MediaType,
    /// The data itself: shared, never copied for a reader.
    pub data: Bytes,
}

impl Content {
    /// What is wrong with its shape.
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
    /// When it was asked for, for people.
    pub at: WallTime,
    /// The revision at which it was, or at which it was asked to wait for its dependents instead of what it did before.
    pub revision: Revision,
    /// The place among the deletions of that revision.
    pub position: u32,
}
