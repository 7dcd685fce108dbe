//! The requests that change one object.

use crate::limits::OBJECT_BYTES_MAX;
use crate::{
    Attributes, Content, Fences, MetadataPatch, ObjectKey, Patch, Preconditions, Ttl, TtlChange,
    Violation, Violations,
};

/// Stores a new object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateObject {
    /// Its key, which no object must have yet.
    pub key: ObjectKey,
    /// Its attributes.
    pub attributes: Attributes,
    /// Its content.
    pub content: Content,
    /// How long it lives; `None`: until it is deleted.
    pub ttl: Option<Ttl>,
    /// The conditions on the writer.
    pub fences: Fences,
}

impl CreateObject {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.extend_at("content", self.content.check());
        violations.extend_at("fences", self.fences.check());
        violations
    }
}

/// Replaces an object (`PUT`). An update that changes nothing is no write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateObject {
    /// The object. If it does not exist, it is created where its collection allows that.
    pub key: ObjectKey,
    /// Its new attributes.
    pub attributes: Attributes,
    /// Its new content.
    pub content: Content,
    /// The change of its TTL.
    pub ttl: TtlChange,
    /// The object that the change was made for.
    pub preconditions: Preconditions,
    /// The conditions on the writer.
    pub fences: Fences,
}

impl UpdateObject {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.extend_at("content", self.content.check());
        violations.extend_at("preconditions", self.preconditions.check());
        violations.extend_at("fences", self.fences.check());
        violations
    }
}

/// Changes a part of an object, whatever the rest of it is. A patch that changes nothing is no write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchObject {
    /// The object, which must exist.
    pub key: ObjectKey,
    /// The change of its data, which must be a JSON object; `None` leaves the data as it is, whatever its media type
    /// and encoding.
    pub data: Option<Patch>,
    /// The change of its metadata; `None` leaves the metadata as it is.
    pub metadata: Option<MetadataPatch>,
    /// The change of its TTL.
    pub ttl: TtlChange,
    /// The object that the patch was made for. Without a resource version, a change by another writer alone is no
    /// conflict.
    pub preconditions: Preconditions,
    /// The conditions on the writer.
    pub fences: Fences,
}

impl PatchObject {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if (&self.data, &self.metadata, self.ttl) == (&None, &None, TtlChange::Keep) {
            let rule = "must change the data (patch), the metadata (metadataPatch) or the TTL";
            violations.push(Violation::required(rule).at("patch"));
        }
        let data = self.data.as_ref().map(|data| &data.document);
        let metadata = self.metadata.as_ref().map(|metadata| &metadata.document);
        for (field, document) in [("patch", data), ("metadataPatch", metadata)] {
            if document.is_some_and(|document| document.len() > OBJECT_BYTES_MAX) {
                let violation = Violation::too_long(OBJECT_BYTES_MAX).at("document");
                violations.push(violation.at(field));
            }
        }
        violations.extend_at("preconditions", self.preconditions.check());
        violations.extend_at("fences", self.fences.check());
        violations
    }
}

/// Deletes an object, or begins its deletion if it has finalizers. If the object is being deleted already, another
/// propagation replaces the earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteObject {
    /// The object.
    pub key: ObjectKey,
    /// What happens to its dependents; `None`: what its finalizers say, else `Background`. If it is being deleted
    /// already, `None` changes nothing.
    pub propagation: Option<Propagation>,
    /// The object that the change was made for.
    pub preconditions: Preconditions,
    /// The conditions on the writer.
    pub fences: Fences,
}

/// What happens to the dependents of a deleted object that have no other owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// They are removed after the object.
    Background,
    /// They are removed before the object, which waits for those that block its deletion.
    Foreground,
    /// They stay, without the reference to the object.
    Orphan,
}

impl DeleteObject {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.extend_at("preconditions", self.preconditions.check());
        violations.extend_at("fences", self.fences.check());
        violations
    }
}
