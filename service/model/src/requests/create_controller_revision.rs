//! The request that adds what a controller wants now to its history.

use crate::limits::{COLLISION_COUNT_MAX, HISTORY_LIMIT_MAX, LABELS_MAX};
use crate::{
    Annotations, ControllerHistory, Equality, HASH_LABEL, Labels, MarkTie, NamePrefix, ObjectName,
    Revision, RevisionData, RevisionNumber, Violation, Violations,
};

/// The machine version that snapshots under given names come with: an older replica does not know the field.
pub const NAMED_SNAPSHOTS_SINCE: u32 = 2;

/// Says what a controller wants now. Apply compares it with the history and decides whether it is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateControllerRevision {
    /// The history.
    pub history: ControllerHistory,
    /// The data that the controller wants.
    pub data: RevisionData,
    /// How the data is compared with what the controller wanted before.
    pub equality: Equality,
    /// What the snapshot's name begins with.
    pub prefix: NamePrefix,
    /// The labels of the snapshot; the hash is added to them.
    pub labels: Labels,
    /// The annotations of the snapshot.
    pub annotations: Annotations,
    /// The number of the snapshot, such as the owner's generation. It is used if it is greater than all numbers in the
    /// history.
    pub number: Option<RevisionNumber>,
    /// How many collisions of names the owner has counted so far.
    pub collision_count: u32,
    /// How many snapshots to keep beside the live ones: those with a mark, and the newest. The previous newest snapshot
    /// is never deleted by the create that replaces it, since its owner could not yet mark what it still uses.
    pub history_limit: u32,
    /// The resource version that the newest snapshot of the history must have, zero if there must be none.
    pub if_newest: Option<Revision>,
    /// If set, the mark `Update` moves to the answered snapshot with this tie, in the same command.
    pub mark_update: Option<MarkTie>,
    /// If set, a snapshot is created under this name whatever the history holds, with the number that is given, and none
    /// is adopted or deleted: for whoever compares and counts itself, as controllers of Kubernetes do. No mark is set. Its
    /// owner controls at most [`HISTORY_LIMIT_MAX`] snapshots then.
    pub name: Option<ObjectName>,
}

impl CreateControllerRevision {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut found = Violations::new();
        if self.collision_count > COLLISION_COUNT_MAX {
            let rule = format_args!("must be at most {COLLISION_COUNT_MAX}");
            let violation = Violation::invalid_number(u64::from(self.collision_count), rule);
            found.push(violation.at("collisionCount"));
        }
        found.extend_at("historyLimit", check_limit(self.history_limit));
        if self.labels.get(HASH_LABEL).is_some() {
            let rule = format_args!("{HASH_LABEL} is set by the store");
            found.push(Violation::invalid(HASH_LABEL, rule).at("labels"));
        } else {
            found.extend_at("labels", no_room_for_the_hash(&self.labels));
        }
        if let Some(name) = self.name.as_ref().filter(|_| self.mark_update.is_some()) {
            let rule = "must be left out where the update is marked: mark it afterwards";
            found.push(Violation::invalid(name.as_str(), rule).at("name"));
        }
        let unselected = self
            .history
            .selector
            .iter()
            .find(|(key, value)| self.labels.get(key) != Some(value));
        if let Some((key, _)) = unselected {
            let rule = "must be among the labels, or the history would not hold what is created";
            found.push(Violation::invalid(key, rule).at("selector"));
        }
        found
    }
}

/// The broken rules of the limit of a history.
pub(super) fn check_limit(limit: u32) -> Violations {
    let mut found = Violations::new();
    if limit > HISTORY_LIMIT_MAX {
        let rule = format_args!("must be at most {HISTORY_LIMIT_MAX}");
        found.push(Violation::invalid_number(u64::from(limit), rule));
    }
    found
}

/// The broken rules of labels to which the store adds the hash.
pub(super) fn no_room_for_the_hash(labels: &Labels) -> Violations {
    let mut found = Violations::new();
    if labels.len() == LABELS_MAX {
        let rule = format_args!("must leave room for {HASH_LABEL}");
        found.push(Violation::invalid_number(LABELS_MAX as u64, rule));
    }
    found
}
