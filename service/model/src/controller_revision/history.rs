//! The history of a controller: which snapshots belong to it, and in which order.

use crate::{
    ControllerRevision, Labels, Namespace, ObjectName, OwnerReference, Revision, RevisionNumber,
};

/// Names the history of a controller: the snapshots of one namespace that have the labels and that the owner controls.
/// Two owners never share a history, even under one name: their uids differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerHistory {
    /// The namespace of the owner and of its snapshots.
    pub namespace: Namespace,
    /// The owner, as the controller of its snapshots.
    pub owner: OwnerReference,
    /// The labels that its snapshots have. Snapshots with these labels and no controller can be adopted; an empty
    /// selector selects none for adoption.
    pub selector: Labels,
}

impl ControllerHistory {
    /// Whether the snapshot belongs to the history.
    #[must_use]
    pub fn holds(&self, revision: &ControllerRevision) -> bool {
        self.selects(revision) && revision.controller_uid() == Some(self.owner.uid)
    }

    /// Whether the snapshot has no controller and may come to belong to the history.
    #[must_use]
    pub fn may_adopt(&self, revision: &ControllerRevision) -> bool {
        !self.selector.is_empty() && self.selects(revision) && revision.controller.is_none()
    }

    fn selects(&self, revision: &ControllerRevision) -> bool {
        revision.key.namespace() == Some(self.namespace.as_str())
            && revision.has_labels(&self.selector)
    }
}

/// The place of a snapshot in a history: by its number, then by the revision of its creation, then by its name. No
/// clock is read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RevisionPlace {
    /// Its number.
    pub number: RevisionNumber,
    /// The revision that created it.
    pub create_revision: Revision,
    /// Its name.
    pub name: ObjectName,
}
