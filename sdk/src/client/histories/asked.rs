//! The arguments of calls about histories: [`Wanted`] and [`ListControllerRevisions`].

use synod_model::limits::HISTORY_LIMIT_DEFAULT;
use synod_model::{
    Annotations, Equality, Kind, Labels, MarkTie, NamePrefix, Namespace, ObjectName, Revision,
    RevisionData, RevisionNumber,
};

use crate::ReadOptions;

/// The data that a controller wants, and how it is added to the controller's history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wanted {
    /// The data.
    pub data: RevisionData,
    /// How `data` is compared with the data that the controller wanted before.
    pub equality: Equality,
    /// The prefix of a new name. `None`: the owner's name.
    pub prefix: Option<NamePrefix>,
    /// Labels of a new ControllerRevision, beside those of the selector.
    pub labels: Labels,
    /// Annotations of a new ControllerRevision.
    pub annotations: Annotations,
    /// The number of a new ControllerRevision, such as the owner's generation. It is used if it is ahead of all others.
    pub number: Option<RevisionNumber>,
    /// The collisions of names that the owner has counted: the count in the last answer, 0 at first.
    pub collision_count: u32,
    /// How many ControllerRevisions to keep beside the live ones, which are those with a mark and the newest. The
    /// previous newest stays in any case.
    pub history_limit: u32,
    /// The resource version of the newest ControllerRevision that the caller has seen; zero for none. `None`: any.
    pub if_newest: Option<Revision>,
    /// If set, the same command marks the ControllerRevision as what the controller is changing its objects to, and
    /// ties the mark to this. `None`: marks stay as they are.
    pub mark_update: Option<MarkTie>,
    /// Whether this is a dry run.
    pub dry_run: bool,
}

impl Wanted {
    /// This data, compared as JSON, with ten ControllerRevisions kept beside the live ones.
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

    /// Has the same command mark it as what the controller is changing its objects to, with the mark tied to `tie`.
    #[must_use]
    pub fn marking_update(mut self, tie: MarkTie) -> Self {
        self.mark_update = Some(tie);
        self
    }

    /// How many ControllerRevisions to keep beside the live ones.
    #[must_use]
    pub fn with_history_limit(mut self, limit: u32) -> Self {
        self.history_limit = limit;
        self
    }
}

/// Which ControllerRevisions to list: those that match every field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListControllerRevisions {
    /// Only ControllerRevisions of this namespace.
    pub namespace: Option<Namespace>,
    /// Only ControllerRevisions whose controller is of this kind.
    pub owner_kind: Option<Kind>,
    /// Only ControllerRevisions whose controller has this name.
    pub owner_name: Option<ObjectName>,
    /// Only ControllerRevisions that have all of these labels.
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

    /// Only those of the owner of this kind and name. Two owners may have had the name, one after the other.
    #[must_use]
    pub fn of_owner(mut self, namespace: Namespace, kind: Kind, name: ObjectName) -> Self {
        self.namespace = Some(namespace);
        self.owner_kind = Some(kind);
        self.owner_name = Some(name);
        self
    }
}
