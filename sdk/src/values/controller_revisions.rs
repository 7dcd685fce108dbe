//! What is answered about the histories of controllers.

use std::fmt;

use synod_model::{ControllerRevision, ObjectName, RevisionNumber, Violations};
use synod_proto::wire::{Wire, required};
use synod_proto::{messages, v1, wire_enums};

use super::{FromWire, Header};

/// What became of what a controller wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionAnswer {
    /// The name of the ControllerRevision that holds it.
    pub name: ObjectName,
    /// Its number.
    pub number: RevisionNumber,
    /// How it came to be the newest.
    pub outcome: RevisionOutcome,
    /// The collisions of names that the owner has to count from now on: give it with the next create.
    pub collision_count: u32,
    /// What was done to the others.
    pub history: HistoryAnswer,
}

/// How a ControllerRevision came to be the newest of its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RevisionOutcome {
    /// It was already.
    Unchanged,
    /// It is an older one, whose number is now the highest.
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
    /// How many are left to adopt or to delete, since one call does only so much: call again.
    pub left: u32,
}

impl RevisionOutcome {
    /// The word for it in tables and JSON.
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
    /// Who answered, and at which revision.
    pub header: Header,
    /// The ControllerRevision.
    pub revision: ControllerRevision,
}

/// What a controller wants stands in its history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionAnswered {
    /// Who answered, and at which revision.
    pub header: Header,
    /// Whether anything was written.
    pub changed: bool,
    /// What became of it.
    pub answer: RevisionAnswer,
    /// The ControllerRevision. `None` in the answer to a retry whose revision has left the window.
    pub revision: Option<ControllerRevision>,
}

/// What was done to a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryChanged {
    /// Who answered, and at which revision.
    pub header: Header,
    /// Whether anything was written.
    pub changed: bool,
    /// What was done.
    pub answer: HistoryAnswer,
}

/// ControllerRevisions, all at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryPage {
    /// Who answered, and the revision of all of them.
    pub header: Header,
    /// Of a history: oldest first. Of a list: by namespace and name.
    pub items: Vec<ControllerRevision>,
    /// Whether one of the pages is of a later revision than the one before it, which only lists that go on at the present
    /// have.
    pub inconsistent: bool,
}

/// What changed from one ControllerRevision to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevisionDiff {
    /// Who answered, and at which revision.
    pub header: Header,
    /// Whether the two say the same as JSON; if they are no JSON, whether they are the same bytes.
    pub equal: bool,
    /// The JSON patch (RFC 6902) that makes the one of the other. `None` unless both are JSON.
    pub json_patch: Option<String>,
    /// What changed, line by line, in the unified format. `None` if one of them is neither JSON nor text.
    pub unified: Option<String>,
}

wire_enums! {
    v1::ControllerRevisionOutcome = RevisionOutcome {
        Unchanged = Unchanged, RolledBack = RolledBack, Created = Created,
    } "must be an outcome that is known here"
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
    v1::ControllerRevisionsCreateResponse = RevisionAnswered {
        header = header,
        changed = changed,
        answer = answer,
        revision = controller_revision,
    }
    v1::ControllerRevisionsRollbackResponse = RevisionAnswered {
        header = header,
        changed = changed,
        answer = answer,
        revision = controller_revision,
    }
    v1::ControllerRevisionsListResponse = HistoryPage {
        header = header,
        items = items,
        inconsistent = inconsistent,
        ; ..Default::default()
    }
    v1::ControllerRevisionsHistoryResponse = HistoryPage {
        header = header,
        items = items,
        inconsistent = inconsistent,
        ; ..Default::default()
    }
    v1::ControllerRevisionsDiffResponse = RevisionDiff {
        header = header,
        equal = equal,
        json_patch = json_patch,
        unified = unified,
    }
}

impl
    FromWire<(
        Option<v1::ResponseHeader>,
        bool,
        Option<v1::ControllerHistoryAnswer>,
    )> for HistoryChanged
{
    fn from_wire(
        (header, changed, answer): (
            Option<v1::ResponseHeader>,
            bool,
            Option<v1::ControllerHistoryAnswer>,
        ),
    ) -> Result<Self, Violations> {
        Ok(Self {
            header: Wire::of_wire(header)?,
            changed,
            answer: Wire::of_wire(required(answer, "every replica sets it")?)?,
        })
    }
}
