//! openraft's types with ours filled in, and conversions between the two. Only `consensus` names these types.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use openraft::alias;
use openraft::impls::leader_id_adv::LeaderId;

use super::{AppliedEntry, Position, ReplicaAddress, ReplicaId, SynodRuntime, Term};

openraft::declare_raft_types!(
    /// The types that Synod uses openraft with.
    pub(crate) TypeConfig:
        D = Payload,
        R = Arc<AppliedEntry>,
        NodeId = ReplicaId,
        Node = ReplicaAddress,
        AsyncRuntime = SynodRuntime,
);

pub(crate) type LogId = alias::LogIdOf<TypeConfig>;
pub(crate) type Vote = alias::VoteOf<TypeConfig>;
pub(crate) type Entry = alias::EntryOf<TypeConfig>;
pub(crate) type EntryPayload = alias::EntryPayloadOf<TypeConfig>;
pub(crate) type CommittedLeaderId = alias::CommittedLeaderIdOf<TypeConfig>;
pub(crate) type Membership = openraft::Membership<ReplicaId, ReplicaAddress>;
pub(crate) type StoredMembership = alias::StoredMembershipOf<TypeConfig>;
pub(crate) type SnapshotMeta = alias::SnapshotMetaOf<TypeConfig>;

/// Commands as they were proposed: a stored [`synod_machine::LogEntry`]. Only apply decodes it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Payload(pub(crate) Bytes);

// openraft prints entries when it traces; the bytes themselves would not be readable.
impl fmt::Debug for Payload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bytes", self.0.len())
    }
}

impl fmt::Display for Payload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, formatter)
    }
}

/// The id of the leader that leads, or led, in `term`.
pub(crate) fn leader_id(term: Term, leader: ReplicaId) -> CommittedLeaderId {
    LeaderId {
        term: term.get(),
        node_id: leader,
    }
}

/// A stored Raft vote as openraft's.
pub(crate) fn vote_of_store(vote: &synod_store::Vote) -> Vote {
    Vote {
        leader_id: leader_id(Term::new(vote.term), ReplicaId::new(vote.leader)),
        committed: vote.committed,
    }
}

/// An openraft vote in its stored form.
pub(crate) fn vote_to_store(vote: &Vote) -> synod_store::Vote {
    synod_store::Vote {
        term: vote.leader_id.term,
        leader: vote.leader_id.node_id.get(),
        committed: vote.committed,
    }
}

pub(crate) fn position_of(id: &LogId) -> Position {
    Position {
        term: Term::new(id.leader_id.term),
        leader: id.leader_id.node_id,
        index: id.index,
    }
}

pub(crate) fn log_id_of(position: &Position) -> LogId {
    LogId {
        leader_id: leader_id(position.term, position.leader),
        index: position.index,
    }
}
