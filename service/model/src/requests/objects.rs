//! Changing objects, one at a time.

use crate::limits::OBJECT_BYTES_MAX;
use crate::{
    Attributes, Content, Fences, MetadataPatch, ObjectKey, Patch, Preconditions, Ttl, TtlChange,
    Violation, Violations,
};

/// Stores a new object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateObject {
    /// Its key, which must be free.
    pub key: ObjectKey,
    /// What is said of it.
    pub attributes: Attributes,
    /// What is stored.
    pub content: Content,
    /// How long it lives; `None` is until it is deleted.
    pub ttl: Option<Ttl>,
    /// Who may do this.
    pub fences: Fences,
}

impl CreateObject {
    /// What is wrong with its shape.
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
    /// What is said of it from now on.
    pub attributes: Attributes,
    /// What is stored from now on.
    pub content: Content,
    /// How long it lives from now on.
    pub ttl: TtlChange,
    /// Which object it was made for.
    pub preconditions: Preconditions,
    /// Who may do this.
    pub fences: Fences,
}

impl UpdateObject {
    /// What is wrong with its shape.
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
    /// The change of its data, which must be a JSON object; `None` leaves it, in whatever form and encoding.
    pub data: Option<Patch>,
    /// The change of what is said of it; `None` leaves that.
    pub metadata: Option<MetadataPatch>,
    /// How long it lives from now on.
    pub ttl: TtlChange,
    /// Which object it was made for. Without a resource version a patch never conflicts.
    pub preconditions: Preconditions,
    /// Who may do this.
    pub fences: Fences,
}

impl PatchObject {
    /// What is wrong with its shape.
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

/// Deletes an object, or begins to while it has finalizers. One that is being deleted goes another way from now on if another
/// propagation is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteObject {
    /// The object.
    pub key: ObjectKey,
    /// What becomes of what it owns; `None` is what its finalizers say, else in the background. Of an object that is being
    /// deleted, `None` changes nothing.
    pub propagation: Option<Propagation>,
    /// Which object it was made for.
    pub preconditions: Preconditions,
    /// Who may do this.
    pub fences: Fences,
}

/// What becomes of the dependents of an object that is deleted: of those that have no other owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Propagation {
    /// They go after it.
    Background,
    /// They go before it: it waits for those that block its deletion.
    Foreground,
    /// They stay, and forget it.
    Orphan,
}

impl DeleteObject {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        violations.extend_at("preconditions", self.preconditions.check());
        violations.extend_at("fences", self.fences.check());
        violations
    }
}
