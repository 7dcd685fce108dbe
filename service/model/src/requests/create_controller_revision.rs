//! Adding what a controller wants now to its history.

use crate::limits::{COLLISION_COUNT_MAX, HISTORY_LIMIT_MAX, LABELS_MAX};
use crate::{
    Annotations, ControllerHistory, Equality, HASH_LABEL, Labels, MarkTie, NamePrefix, Revision,
    RevisionData, RevisionNumber, Violation, Violations,
};

/// Says what a controller wants now. Whether that is new is decided where the history is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateControllerRevision {
    /// Whose history.
    pub history: ControllerHistory,
    /// What it wants.
    pub data: RevisionData,
    /// How it is compared with what the controller wanted before.
    pub equality: Equality,
    /// What the snapshot's name begins with.
    pub prefix: NamePrefix,
    /// The labels of the snapshot; the hash is added to them.
    pub labels: Labels,
    /// The annotations of the snapshot.
    pub annotations: Annotations,
    /// The number for it, such as the owner's generation, which counts if it is greater than all in the history.
    pub number: Option<RevisionNumber>,
    /// How many collisions of names the owner has counted so far.
    pub collision_count: u32,
    /// How many snapshots to keep beside the live ones: those with a mark, and the newest. The one that was the newest until
    /// then is never deleted by the create that takes its place, since its owner has not yet been able to say what it
    /// still uses.
    pub history_limit: u32,
    /// The resource version that the newest snapshot of the history must have, zero for none.
    pub if_newest: Option<Revision>,
    /// Whether the mark of what the controller is changing its objects to moves to the answered snapshot, tied so, in the
    /// same command.
    pub mark_update: Option<MarkTie>,
}

impl CreateControllerRevision {
    /// What is wrong with its shape.
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

/// What is wrong with a limit of a history.
pub(super) fn check_limit(limit: u32) -> Violations {
    let mut found = Violations::new();
    if limit > HISTORY_LIMIT_MAX {
        let rule = format_args!("must be at most {HISTORY_LIMIT_MAX}");
        found.push(Violation::invalid_number(u64::from(limit), rule));
    }
    found
}

/// What is wrong with labels to which the store adds the hash.
pub(super) fn no_room_for_the_hash(labels: &Labels) -> Violations {
    let mut found = Violations::new();
    if labels.len() == LABELS_MAX {
        let rule = format_args!("must leave room for {HASH_LABEL}");
        found.push(Violation::invalid_number(LABELS_MAX as u64, rule));
    }
    found
}
