//! ControllerRevisions: what a controller wanted at one point of its history, kept as it was.

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

/// A snapshot of what a controller wants of what it generates. Its data never changes; its number moves forward, and
/// only then when the same data is wanted again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerRevision {
    /// Its namespace and name.
    pub key: NamespacedName,
    /// Uid, revisions and times.
    pub metadata: Metadata,
    /// What its history is selected by; the hash of the data among them.
    pub labels: Labels,
    /// Notes, such as why it came to be.
    pub annotations: Annotations,
    /// The controller whose history it belongs to. `None`: it was released, or never had one, and can be adopted.
    pub controller: Option<OwnerReference>,
    /// Its place in the history.
    pub number: RevisionNumber,
    /// What was wanted.
    pub data: RevisionData,
    /// Who still uses it. The newest of a history is live without any.
    pub marks: LiveMarks,
}

impl ControllerRevision {
    /// How Kubernetes names their resource.
    pub const RESOURCE: &'static str = "controllerrevisions.apps";

    /// Its name without the namespace.
    #[must_use]
    pub fn name(&self) -> ObjectName {
        ObjectName::parse(self.key.name()).expect("the name of an object is an object's name")
    }

    /// Where it stands among the snapshots of a history.
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
