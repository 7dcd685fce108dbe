//! Taking snapshots into a history, and letting them go.

use crate::{
    ControllerHistory, NamespacedName, ObjectName, Preconditions, Uid, Violation, Violations,
};

/// Makes an owner the controller of snapshots that have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdoptControllerRevisions {
    /// Who adopts.
    pub history: ControllerHistory,
    /// The one to adopt, whatever its labels. `None`: all that the history may adopt.
    pub name: Option<ObjectName>,
}

impl AdoptControllerRevisions {
    /// What is wrong with its shape.
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
    /// Which one.
    pub key: NamespacedName,
    /// The owner that lets it go. A snapshot that it does not control is left alone.
    pub owner: Uid,
    /// What must be true of it.
    pub preconditions: Preconditions,
}
