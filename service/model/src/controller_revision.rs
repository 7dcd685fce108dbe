//! ControllerRevisions: immutable snapshots of what a controller wanted.

mod data;
mod history;
mod marks;
mod name;
mod number;

pub use data::{Equality, RevisionData, RevisionIdentity};
pub use history::{ControllerHistory, RevisionPlace};
pub use marks::{LiveMark, LiveMarks, MarkTie, Marker};
pub use name::{HASH_LABEL, NamePrefix, RevisionHash, safe_encode};
pub use number::RevisionNumber;

use crate::{Annotations, Labels, Metadata, NamespacedName, ObjectName, OwnerReference, Uid};

/// A snapshot of the state that a controller wants its objects to have. The data never changes. The number moves only
/// forward, when the controller wants the same data again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerRevision {
    /// Its namespace and name.
    pub key: NamespacedName,
    /// Uid, revisions and times.
    pub metadata: Metadata,
    /// The labels by which its history is selected; one of them is the hash of the data.
    pub labels: Labels,
    /// Notes, such as why the snapshot was created.
    pub annotations: Annotations,
    /// The controller whose history it belongs to. `None`: it was released or never had a controller, and can be
    /// adopted.
    pub controller: Option<OwnerReference>,
    /// Its place in the history.
    pub number: RevisionNumber,
    /// The data that the controller wanted.
    pub data: RevisionData,
    /// The marks of those who still use it. The newest snapshot of a history is live without a mark.
    pub marks: LiveMarks,
}

impl ControllerRevision {
    /// The name of the resource in Kubernetes.
    pub const RESOURCE: &'static str = "controllerrevisions.apps";

    /// Its name without the namespace.
    #[must_use]
    pub fn name(&self) -> ObjectName {
        ObjectName::parse(self.key.name()).expect("the name of an object is an object's name")
    }

    /// Its place among the snapshots of a history.
    #[must_use]
    pub fn place(&self) -> RevisionPlace {
        RevisionPlace {
            number: self.number,
            create_revision: self.metadata.create_revision,
            name: self.name(),
        }
    }

    /// The uid of its controller.
    #[must_use]
    pub fn controller_uid(&self) -> Option<Uid> {
        self.controller.as_ref().map(|controller| controller.uid)
    }

    /// Whether it has all of these labels.
    #[must_use]
    pub fn has_labels(&self, wanted: &Labels) -> bool {
        wanted
            .iter()
            .all(|(key, value)| self.labels.get(key) == Some(value))
    }
}
