//! Deleting a snapshot, or a whole history.

use crate::{Namespace, NamespacedName, Preconditions, Uid};

/// Deletes snapshots, live ones too: whoever asks says that nothing needs them any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeleteControllerRevisions {
    /// One snapshot.
    One {
        /// Which one.
        key: NamespacedName,
        /// What must be true of it.
        preconditions: Preconditions,
    },
    /// All that an owner controls. A history stays when its owner goes; this is how it is asked otherwise.
    HistoryOf {
        /// The namespace of the owner.
        namespace: Namespace,
        /// The uid of the owner.
        owner: Uid,
    },
}
