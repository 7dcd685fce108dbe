//! What is asked of a history.

use synod_model::limits::HISTORY_LIMIT_DEFAULT;
use synod_model::{
    Annotations, Equality, Kind, Labels, MarkTie, NamePrefix, Namespace, ObjectName, Revision,
    RevisionData, RevisionNumber,
};

use crate::ReadOptions;

/// What a controller wants, and how it is added to its history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wanted {
    /// What it wants.
    pub data: RevisionData,
    /// How it is compared with what it wanted before.
    pub equality: Equality,
    /// What a new name begins with. `None`: the owner's name.
    pub prefix: Option<NamePrefix>,
    /// Labels of a new ControllerRevision, beside those of the selector.
    pub labels: Labels,
    /// Annotations of a new ControllerRevision.
    pub annotations: Annotations,
    /// The number of a new ControllerRevision, such as the owner's generation. It counts if it is ahead of all.
    pub number: Option<RevisionNumber>,
    /// The collisions of names that the owner has counted: what the last answer said, 0 at first.
    pub collision_count: u32,
    /// How many to keep beside the live ones: those with a mark, and the newest. The one that was the newest before stays in
    /// any case.
    pub history_limit: u32,
    /// The resource version of the newest that the caller has seen; zero for none. `None`: any.
    pub if_newest: Option<Revision>,
    /// Whether it is marked in the same command as what the controller is changing its objects to, and what that mark goes
    /// with. `None`: marks stay as they are.
    pub mark_update: Option<MarkTie>,
    /// Whether only to find out what would be.
    pub dry_run: bool,
}

impl Wanted {
    /// This data, compared as JSON, with ten snapshots kept beside the live ones.
    #[must_use]
    pub fn new(data: RevisionData) -> Self {
        Self {
            data,
            equality: Equality::Json,
            prefix: None,
            labels: Labels::default(),
            annotations: Annotations::default(),
            number: None,
            collision_count: 0,
            history_limit: HISTORY_LIMIT_DEFAULT,
            if_newest: None,
            mark_update: None,
            dry_run: false,
        }
    }

    /// The collisions of names that the owner has counted.
    #[must_use]
    pub fn with_collision_count(mut self, count: u32) -> Self {
        self.collision_count = count;
        self
    }

    /// Marked in the same command as what the controller is changing its objects to, by a mark that goes with `tie`.
    #[must_use]
    pub fn marking_update(mut self, tie: MarkTie) -> Self {
        self.mark_update = Some(tie);
        self
    }

    /// How many that are not live to keep.
    #[must_use]
    pub fn with_history_limit(mut self, limit: u32) -> Self {
        self.history_limit = limit;
        self
    }
}

/// Which ControllerRevisions to list: those that pass every field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListControllerRevisions {
    /// Only those of this namespace.
    pub namespace: Option<Namespace>,
    /// Only those whose controller is of this kind.
    pub owner_kind: Option<Kind>,
    /// Only those whose controller has this name.
    pub owner_name: Option<ObjectName>,
    /// Only those that have all of these labels.
    pub labels: Labels,
    /// How to read.
    pub read: ReadOptions,
}

impl ListControllerRevisions {
    /// All, linearizable.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only those of this owner, by what people call it. Two owners may have been called so, one after the other.
    #[must_use]
    pub fn of_owner(mut self, namespace: Namespace, kind: Kind, name: ObjectName) -> Self {
        self.namespace = Some(namespace);
        self.owner_kind = Some(kind);
        self.owner_name = Some(name);
        self
    }
}
