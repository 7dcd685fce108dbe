//! The answers about histories of controllers.

use std::fmt;

use synod_model::{ControllerRevision, ObjectName, RevisionNumber, Violations};
use synod_proto::wire::{Wire, required};
use synod_proto::{messages, v1, wire_enums};

use super::Header;

/// The result of recording what a controller wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionAnswer {
    /// The name of the ControllerRevision with that data.
    pub name: ObjectName,
    /// Its number.
    pub number: RevisionNumber,
    /// How this ControllerRevision became the newest.
    pub outcome: RevisionOutcome,
    /// The collisions of names that the owner must count from now on: give this number with the next create.
    pub collision_count: u32,
    /// What was done to the other ControllerRevisions.
    pub history: HistoryAnswer,
}

/// How a ControllerRevision became the newest of its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RevisionOutcome {
    /// It was the newest already.
    Unchanged,
    /// It is an older one, which now has the highest number.
    RolledBack,
    /// It is a new one.
    Created,
}

/// What was done to the ControllerRevisions of a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryAnswer {
    /// How many had no controller and were adopted.
    pub adopted: u32,
    /// How many were deleted.
    pub deleted: u32,
    /// How many are left to adopt or to delete, since the work of one call is limited: call again.
    pub left: u32,
}

impl RevisionOutcome {
    /// Its name in tables and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::RolledBack => "rolled back",
            Self::Created => "created",
        }
    }
}

impl fmt::Display for RevisionOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A ControllerRevision that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionView {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// The ControllerRevision.
    pub revision: ControllerRevision,
}

/// The answer to recording what a controller wants, or to a rollback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionAnswered {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// Whether anything was written.
    pub changed: bool,
    /// The ControllerRevision that holds the data, and how it became the newest.
    pub answer: RevisionAnswer,
    /// The ControllerRevision. `None` in the answer to a retry whose revision has left the window.
    pub revision: Option<ControllerRevision>,
}

/// The answer to a change of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryChanged {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// Whether anything was written.
    pub changed: bool,
    /// How many ControllerRevisions were adopted or deleted, and how many are left.
    pub answer: HistoryAnswer,
}

/// ControllerRevisions, all at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryPage {
    /// The replica that answered, and the revision of all items.
    pub header: Header,
    /// In a history: oldest first. In a list: by namespace and name.
    pub items: Vec<ControllerRevision>,
    /// Whether one of the pages is of a later revision than the one before it, which happens only in lists that
    /// continue at the present revision.
    pub inconsistent: bool,
}

/// What changed from one ControllerRevision to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionDiff {
    /// The replica that answered, and its revision.
    pub header: Header,
    /// Whether both are equal as JSON; if they are not JSON, whether their bytes are equal.
    pub equal: bool,
    /// The JSON patch (RFC 6902) that turns the first into the second. `None` unless both are JSON.
    pub json_patch: Option<String>,
    /// What changed, line by line, in the unified format. `None` if one of them is neither JSON nor text.
    pub unified: Option<String>,
}

wire_enums! {
    v1::ControllerRevisionOutcome = RevisionOutcome {
        Unchanged = Unchanged, RolledBack = RolledBack, Created = Created,
    }
}

messages! {
    v1::ControllerRevisionAnswer = RevisionAnswer: "every replica sets it" {
        name = name,
        number = revision,
        outcome = outcome,
        collision_count = collision_count,
        history = history,
    }
    v1::ControllerHistoryAnswer = HistoryAnswer, default {
        adopted = adopted,
        deleted = deleted,
        left = left,
    }
    v1::ControllerRevisionsGetResponse = RevisionView {
        header = header,
        revision = controller_revision,
    }
    v1::ControllerRevisionsDiffResponse = RevisionDiff {
        header = header,
        equal = equal,
        json_patch = json_patch,
        unified = unified,
    }
}

messages! {
    v1::ControllerRevisionsCreateResponse, v1::ControllerRevisionsRollbackResponse = RevisionAnswered {
        header = header,
        changed = changed,
        answer = answer,
        revision = controller_revision,
    }
}

messages! {
    v1::ControllerRevisionsListResponse, v1::ControllerRevisionsHistoryResponse = HistoryPage {
        header = header,
        items = items,
        inconsistent = inconsistent,
        ; ..Default::default()
    }
}

messages! {
    v1::ControllerRevisionsTruncateResponse, v1::ControllerRevisionsAdoptResponse,
    v1::ControllerRevisionsDeleteHistoryResponse = HistoryChanged {
        header = header,
        changed = changed,
        answer = answer by always,
    }
}

/// What was done to a history; refused if it is left out.
mod always {
    use super::*;

    pub(super) fn write(answer: &HistoryAnswer) -> Option<v1::ControllerHistoryAnswer> {
        answer.to_wire()
    }

    pub(super) fn read(
        pb: Option<v1::ControllerHistoryAnswer>,
    ) -> Result<HistoryAnswer, Violations> {
        Wire::of_wire(required(pb, "every replica sets it")?)
    }
}
