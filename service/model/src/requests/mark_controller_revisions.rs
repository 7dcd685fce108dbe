//! The request that marks snapshots as in use.

use std::collections::BTreeSet;

use crate::limits::IN_USE_NAMES_MAX;
use crate::{ControllerHistory, MarkTie, Marker, ObjectName, Violation, Violations};

/// Sets or renews marks on the snapshots of a history. Marks that it does not name stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkControllerRevisions {
    /// The history.
    pub history: ControllerHistory,
    /// The snapshot from which the controller's objects were last made.
    pub current: Option<Mark>,
    /// The snapshot that the controller is changing its objects to.
    pub update: Option<Mark>,
    /// The snapshots that another user needs.
    pub in_use: Option<InUse>,
    /// The tie of the marks that it sets.
    pub tie: MarkTie,
}

/// The only place of a mark in the history from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// On no snapshot: a nil revision, as of an owner that has no history yet.
    Nowhere,
    /// On this snapshot.
    On(ObjectName),
}

/// All that one marker uses: its marks are on these snapshots and on no others of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InUse {
    /// The name of the user.
    pub marker: Marker,
    /// The snapshots that it uses; an empty set clears its marks.
    pub names: BTreeSet<ObjectName>,
}

impl MarkControllerRevisions {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut found = Violations::new();
        if self.current.is_none() && self.update.is_none() && self.in_use.is_none() {
            found.push(Violation::required(
                "must say something of current, update or inUse",
            ));
        }
        let used = self.in_use.as_ref().map_or(0, |in_use| in_use.names.len());
        if used > IN_USE_NAMES_MAX {
            let violation = Violation::too_many(used, IN_USE_NAMES_MAX);
            found.push(violation.at("inUse.names"));
        }
        found
    }
}
