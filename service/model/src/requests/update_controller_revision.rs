//! The request that changes the number, labels or annotations of a snapshot.

use super::create_controller_revision::no_room_for_the_hash;
use crate::{
    Annotations, HASH_LABEL, Labels, NamespacedName, Preconditions, RevisionData, RevisionNumber,
    Violation, Violations,
};

/// Moves the number of a snapshot forward, or replaces its labels or annotations. Its data never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateControllerRevision {
    /// The snapshot.
    pub key: NamespacedName,
    /// The preconditions on the snapshot. The resource version is required, as in Kubernetes for ControllerRevisions.
    pub preconditions: Preconditions,
    /// Its new number; a lower one is refused.
    pub number: Option<RevisionNumber>,
    /// Its new labels; the label of the hash stays.
    pub labels: Option<Labels>,
    /// Its new annotations.
    pub annotations: Option<Annotations>,
    /// Its data, for callers that send whole objects; other data than it has is refused.
    pub data: Option<RevisionData>,
}

impl UpdateControllerRevision {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut found = Violations::new();
        let Self {
            key: _,
            preconditions,
            number,
            labels,
            annotations,
            data,
        } = self;
        if number.is_none() && labels.is_none() && annotations.is_none() && data.is_none() {
            found.push(Violation::required("must name something to change"));
        }
        if preconditions.resource_version.is_none() {
            let unsaid = Violation::invalid_number(0, "must be specified for an update");
            found.push(unsaid.at("metadata.resourceVersion"));
        }
        if let Some(labels) = labels
            && labels.get(HASH_LABEL).is_none()
        {
            found.extend_at("labels", no_room_for_the_hash(labels));
        }
        found
    }
}
