//! Saying which snapshots are in use.

use std::collections::BTreeSet;

use crate::limits::IN_USE_NAMES_MAX;
use crate::{ControllerHistory, MarkTie, Marker, ObjectName, Violation, Violations};

/// Says which snapshots of a history are live, or says so again. What it does not mention stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkControllerRevisions {
    /// Whose history.
    pub history: ControllerHistory,
    /// What the controller's objects were made from last.
    pub current: Option<Mark>,
    /// What the controller is changing them to.
    pub update: Option<Mark>,
    /// What somebody else uses.
    pub in_use: Option<InUse>,
    /// What the marks that it sets go with, from now on.
    pub tie: MarkTie,
}

/// Where a mark is from now on; nowhere else in the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Nowhere: a nil revision, as of an owner whose history was never begun.
    Nowhere,
    /// On this snapshot.
    On(ObjectName),
}

/// All that one marker uses: its marks are on these and on no others of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InUse {
    /// Who uses them.
    pub marker: Marker,
    /// Which it uses; none clears its marks.
    pub names: BTreeSet<ObjectName>,
}

impl MarkControllerRevisions {
    /// What is wrong with its shape.
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
