//! What apply answers.

use std::sync::Arc;

use synod_model::{ApiVersion, Epoch, GroupResource, Refusal, Revision, SessionId, Ttl};

use crate::RevisionEvents;

/// All that one log entry did.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// One for each command, in order.
    pub outcomes: Vec<Outcome>,
    /// The events of each revision made, in order. They are in the state's history already.
    pub events: Vec<Arc<RevisionEvents>>,
}

/// What became of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The store's revision right after the command.
    pub revision: Revision,
    /// Whether the command changed anything, and so made `revision`.
    pub changed: bool,
    /// Its answer, or which rule refused it. A refused command changed nothing.
    pub result: Result<Answer, Refusal>,
}

/// The answer to a command that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done, and there is nothing more to say.
    Done,
    /// The session that was opened.
    SessionOpened(SessionId),
    /// The member is in.
    Joined {
        /// Its fencing token.
        epoch: Epoch,
        /// The TTL that counts.
        ttl: Ttl,
    },
    /// The report was taken; what each voting entry is told, and what each fixed one said.
    Reported(Vec<Told>),
    /// What was past its deadline and is gone.
    Expired {
        /// How many members went.
        members: u32,
        /// How many sessions went.
        sessions: u32,
        /// How many members lost the entries of a replaced epoch.
        unreported: u32,
    },
}

/// What a member is told of one resource that it reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The resource.
    pub resource: GroupResource,
    /// The version that the member's entry encodes now; `None` for a voter before anything is selected, whose gate
    /// stays closed.
    pub encoding: Option<ApiVersion>,
    /// The version selected for the resource, if one is.
    pub selected: Option<ApiVersion>,
    /// When selected last changed; zero if nothing was ever selected.
    pub selected_revision: Revision,
}
