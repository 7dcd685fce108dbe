//! The request that deletes the oldest snapshots of a history.

use super::create_controller_revision::check_limit;
use crate::{ControllerHistory, Revision, Violations};

/// Deletes the oldest snapshots that are not live, until no more than `limit` of those are left. The newest is live, marked
/// or not: it is what the owner wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruncateControllerRevisions {
    /// The history.
    pub history: ControllerHistory,
    /// How many snapshots that are not live to keep.
    pub limit: u32,
    /// The resource version that the newest snapshot of the history must have.
    pub if_newest: Option<Revision>,
}

impl TruncateControllerRevisions {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut found = Violations::new();
        found.extend_at("limit", check_limit(self.limit));
        found
    }
}
