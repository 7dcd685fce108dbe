//! The request that deletes a snapshot, or a whole history.

use crate::{Namespace, NamespacedName, Preconditions, Uid};

/// Deletes snapshots, live ones too: the caller vouches that nothing needs them any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeleteControllerRevisions {
    /// One snapshot.
    One {
        /// The snapshot.
        key: NamespacedName,
        /// The preconditions on the snapshot.
        preconditions: Preconditions,
    },
    /// All snapshots that an owner controls. A history stays when its owner is deleted, unless it is deleted by this
    /// request.
    HistoryOf {
        /// The namespace of the owner.
        namespace: Namespace,
        /// The uid of the owner.
        owner: Uid,
    },
}
