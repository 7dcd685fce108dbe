//! The requests that take snapshots into a history, and release them.

use crate::{
    ControllerHistory, NamespacedName, ObjectName, Preconditions, Uid, Violation, Violations,
};

/// Makes an owner the controller of snapshots that have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdoptControllerRevisions {
    /// The history that adopts.
    pub history: ControllerHistory,
    /// The snapshot to adopt, whatever its labels. `None`: all that the history may adopt.
    pub name: Option<ObjectName>,
}

impl AdoptControllerRevisions {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut found = Violations::new();
        if self.name.is_none() && self.history.selector.is_empty() {
            let rule = "must select what to adopt, unless one is named";
            found.push(Violation::required(rule).at("history.selector"));
        }
        found
    }
}

/// Ends an owner's control of a snapshot, which stays and can be adopted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseControllerRevision {
    /// The snapshot.
    pub key: NamespacedName,
    /// The owner that releases it. A snapshot that this owner does not control stays as it is.
    pub owner: Uid,
    /// The preconditions on the snapshot.
    pub preconditions: Preconditions,
}
