//! What is answered about the histories of controllers.

use std::fmt;

use synod_model::{ObjectName, RevisionNumber, Violation, Violations};
use synod_proto::v1;

use super::FromWire;

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

impl FromWire<v1::ControllerRevisionAnswer> for RevisionAnswer {
    fn from_wire(pb: v1::ControllerRevisionAnswer) -> Result<Self, Violations> {
        let outcome = match pb.outcome() {
            v1::ControllerRevisionOutcome::Unchanged => RevisionOutcome::Unchanged,
            v1::ControllerRevisionOutcome::RolledBack => RevisionOutcome::RolledBack,
            v1::ControllerRevisionOutcome::Created => RevisionOutcome::Created,
            v1::ControllerRevisionOutcome::Unspecified => {
                let rule = "must be an outcome that is known here";
                return Err(Violation::required(rule).at("outcome").into());
            }
        };
        Ok(Self {
            name: ObjectName::parse(&pb.name).map_err(|fault| fault.at("name"))?,
            number: RevisionNumber::new(pb.revision).map_err(|fault| fault.at("revision"))?,
            outcome,
            collision_count: pb.collision_count,
            history: HistoryAnswer::from_wire(pb.history.unwrap_or_default())?,
        })
    }
}

impl FromWire<v1::ControllerHistoryAnswer> for HistoryAnswer {
    fn from_wire(pb: v1::ControllerHistoryAnswer) -> Result<Self, Violations> {
        let v1::ControllerHistoryAnswer {
            adopted,
            deleted,
            left,
        } = pb;
        Ok(Self {
            adopted,
            deleted,
            left,
        })
    }
}
