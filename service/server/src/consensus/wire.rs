//! Raft's messages as they travel (`synod.peer.v1`) and as openraft has them.
//!
//! What comes in was written by another replica, perhaps of another release: nothing is taken for granted, and a
//! message that lacks something is refused by the name of what it lacks.

use std::collections::{BTreeMap, BTreeSet};

use openraft::raft::{
    AppendEntriesRequest, StreamAppendError, StreamAppendResult, TransferLeaderError,
    TransferLeaderRequest, TransferLeaderResponse, VoteRequest, VoteResponse,
};
use synod_proto::peer::v1 as pb;

use super::types::leader_id;
use super::types::{
    Entry, EntryPayload, LogId, Membership, Payload, SnapshotMeta, StoredMembership, TypeConfig,
    Vote,
};
use super::{DirectoryId, ReplicaAddress, ReplicaId, Term};

/// A message that is not what the protocol says: which part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed: {0}")]
pub(crate) struct Malformed(pub(crate) &'static str);

/// Takes a part that the protocol requires.
pub(crate) fn required<T>(part: Option<T>, name: &'static str) -> Result<T, Malformed> {
    part.ok_or(Malformed(name))
}

pub(crate) fn vote_to_wire(vote: &Vote) -> pb::Vote {
    pb::Vote {
        term: vote.leader_id.term,
        leader: vote.leader_id.node_id.get(),
        committed: vote.committed,
    }
}

pub(crate) fn vote_from_wire(vote: &pb::Vote) -> Result<Vote, Malformed> {
    Ok(Vote {
        leader_id: leader_id(term_from_wire(vote.term)?, ReplicaId::new(vote.leader)),
        committed: vote.committed,
    })
}

fn required_vote(vote: Option<&pb::Vote>, name: &'static str) -> Result<Vote, Malformed> {
    vote_from_wire(required(vote, name)?)
}

pub(crate) fn log_id_to_wire(id: &LogId) -> pb::LogId {
    pb::LogId {
        term: id.leader_id.term,
        leader: id.leader_id.node_id.get(),
        index: id.index,
    }
}

pub(crate) fn log_id_from_wire(id: &pb::LogId) -> Result<LogId, Malformed> {
    if id.index > synod_store::LogId::INDEX_MAX {
        return Err(Malformed("a log index that no log can have"));
    }
    Ok(LogId {
        leader_id: leader_id(term_from_wire(id.term)?, ReplicaId::new(id.leader)),
        index: id.index,
    })
}

/// A position that may be missing.
fn some_log_id_from_wire(id: Option<&pb::LogId>) -> Result<Option<LogId>, Malformed> {
    id.map(log_id_from_wire).transpose()
}

/// Terms are counted up by one with every election: none comes near the end of its type.
fn term_from_wire(term: u64) -> Result<Term, Malformed> {
    if term > u64::MAX / 2 {
        return Err(Malformed("a term that no election can have"));
    }
    Ok(Term::new(term))
}

pub(crate) fn membership_to_wire(membership: &Membership) -> pb::Membership {
    pb::Membership {
        configs: membership
            .get_joint_config()
            .iter()
            .map(|voters| pb::VoterSet {
                replica_ids: voters.iter().map(|id| id.get()).collect(),
            })
            .collect(),
        replicas: membership
            .nodes()
            .map(|(id, address)| (id.get(), address_to_wire(address)))
            .collect(),
    }
}

pub(crate) fn membership_from_wire(membership: &pb::Membership) -> Result<Membership, Malformed> {
    let configs: Vec<BTreeSet<ReplicaId>> = membership
        .configs
        .iter()
        .map(|voters| {
            voters
                .replica_ids
                .iter()
                .copied()
                .map(ReplicaId::new)
                .collect()
        })
        .collect();
    let replicas = membership
        .replicas
        .iter()
        .map(|(id, address)| Ok((ReplicaId::new(*id), address_from_wire(address)?)))
        .collect::<Result<BTreeMap<_, _>, Malformed>>()?;
    Membership::new(configs, replicas)
        .map_err(|_| Malformed("membership: a voter without an address"))
}

fn address_to_wire(address: &ReplicaAddress) -> pb::ReplicaAddress {
    pb::ReplicaAddress {
        peer_address: address.peer.clone(),
        directory_id: address.directory.as_bytes().to_vec().into(),
    }
}

fn address_from_wire(address: &pb::ReplicaAddress) -> Result<ReplicaAddress, Malformed> {
    let directory = <[u8; 16]>::try_from(&address.directory_id[..])
        .map_err(|_| Malformed("directory_id: not 16 bytes"))?;
    Ok(ReplicaAddress {
        peer: address.peer_address.clone(),
        directory: DirectoryId::from_bytes(directory),
    })
}

fn entry_to_wire(entry: Entry) -> pb::Entry {
    let payload = match entry.payload {
        EntryPayload::Blank => pb::entry::Payload::Blank(pb::BlankPayload {}),
        EntryPayload::Normal(Payload(commands)) => pb::entry::Payload::Commands(commands),
        EntryPayload::Membership(membership) => {
            pb::entry::Payload::Membership(membership_to_wire(&membership))
        }
    };
    pb::Entry {
        log_id: Some(log_id_to_wire(&entry.log_id)),
        payload: Some(payload),
    }
}

fn entry_from_wire(entry: pb::Entry) -> Result<Entry, Malformed> {
    let log_id = log_id_from_wire(&required(entry.log_id, "entry without a log id")?)?;
    let payload = match required(entry.payload, "entry without a payload")? {
        pb::entry::Payload::Blank(pb::BlankPayload {}) => EntryPayload::Blank,
        pb::entry::Payload::Commands(commands) => EntryPayload::Normal(Payload(commands)),
        pb::entry::Payload::Membership(membership) => {
            EntryPayload::Membership(membership_from_wire(&membership)?)
        }
    };
    Ok(Entry { log_id, payload })
}

pub(crate) fn append_to_wire(request: AppendEntriesRequest<TypeConfig>) -> pb::AppendRequest {
    pb::AppendRequest {
        prev_checksum: None,
        vote: Some(vote_to_wire(&request.vote)),
        prev_log_id: request.prev_log_id.as_ref().map(log_id_to_wire),
        entries: request.entries.into_iter().map(entry_to_wire).collect(),
        leader_commit: request.leader_commit.as_ref().map(log_id_to_wire),
    }
}

pub(crate) fn append_from_wire(
    request: pb::AppendRequest,
) -> Result<AppendEntriesRequest<TypeConfig>, Malformed> {
    let prev_log_id = some_log_id_from_wire(request.prev_log_id.as_ref())?;
    let entries = request
        .entries
        .into_iter()
        .map(entry_from_wire)
        .collect::<Result<Vec<_>, _>>()?;
    // openraft takes consecutive entries for granted.
    let first = prev_log_id.as_ref().map_or(0, |id| id.index + 1);
    if entries
        .iter()
        .zip(first..)
        .any(|(entry, index)| entry.log_id.index != index)
    {
        return Err(Malformed("entries that do not follow each other"));
    }
    Ok(AppendEntriesRequest {
        vote: required_vote(request.vote.as_ref(), "append without a vote")?,
        prev_log_id,
        entries,
        leader_commit: some_log_id_from_wire(request.leader_commit.as_ref())?,
    })
}

pub(crate) fn appended_to_wire(result: StreamAppendResult<TypeConfig>) -> pb::AppendResponse {
    let result = match result {
        Ok(matched) => pb::append_response::Result::Matched(pb::AppendMatched {
            log_id: matched.as_ref().map(log_id_to_wire),
        }),
        Err(StreamAppendError::Conflict(at)) => {
            pb::append_response::Result::Conflict(log_id_to_wire(&at))
        }
        Err(StreamAppendError::HigherVote(vote)) => {
            pb::append_response::Result::HigherVote(vote_to_wire(&vote))
        }
    };
    pb::AppendResponse {
        result: Some(result),
    }
}

pub(crate) fn appended_from_wire(
    response: &pb::AppendResponse,
) -> Result<StreamAppendResult<TypeConfig>, Malformed> {
    Ok(
        match required(response.result.as_ref(), "append response without a result")? {
            pb::append_response::Result::Matched(matched) => {
                Ok(some_log_id_from_wire(matched.log_id.as_ref())?)
            }
            pb::append_response::Result::Conflict(at) => {
                Err(StreamAppendError::Conflict(log_id_from_wire(at)?))
            }
            pb::append_response::Result::HigherVote(vote) => {
                Err(StreamAppendError::HigherVote(vote_from_wire(vote)?))
            }
        },
    )
}

pub(crate) fn vote_request_to_wire(request: &VoteRequest<TypeConfig>) -> pb::VoteRequest {
    pb::VoteRequest {
        vote: Some(vote_to_wire(&request.vote)),
        last_log_id: request.last_log_id.as_ref().map(log_id_to_wire),
        leadership_transfer: request.leadership_transfer,
    }
}

pub(crate) fn vote_request_from_wire(
    request: &pb::VoteRequest,
) -> Result<VoteRequest<TypeConfig>, Malformed> {
    Ok(VoteRequest {
        vote: required_vote(request.vote.as_ref(), "vote request without a vote")?,
        last_log_id: some_log_id_from_wire(request.last_log_id.as_ref())?,
        leadership_transfer: request.leadership_transfer,
    })
}

pub(crate) fn vote_response_to_wire(response: &VoteResponse<TypeConfig>) -> pb::VoteResponse {
    pb::VoteResponse {
        vote: Some(vote_to_wire(&response.vote)),
        granted: response.vote_granted,
        last_log_id: response.last_log_id.as_ref().map(log_id_to_wire),
    }
}

pub(crate) fn vote_response_from_wire(
    response: &pb::VoteResponse,
) -> Result<VoteResponse<TypeConfig>, Malformed> {
    Ok(VoteResponse {
        vote: required_vote(response.vote.as_ref(), "vote response without a vote")?,
        vote_granted: response.granted,
        last_log_id: some_log_id_from_wire(response.last_log_id.as_ref())?,
    })
}

/// A pre-vote is a vote in all but its name on the wire.
pub(crate) fn pre_vote_request(request: pb::VoteRequest) -> pb::PreVoteRequest {
    let pb::VoteRequest {
        vote,
        last_log_id,
        leadership_transfer,
    } = request;
    pb::PreVoteRequest {
        vote,
        last_log_id,
        leadership_transfer,
    }
}

/// The reverse of [`pre_vote_request`].
pub(crate) fn of_pre_vote_request(request: pb::PreVoteRequest) -> pb::VoteRequest {
    let pb::PreVoteRequest {
        vote,
        last_log_id,
        leadership_transfer,
    } = request;
    pb::VoteRequest {
        vote,
        last_log_id,
        leadership_transfer,
    }
}

/// As [`pre_vote_request`], for the response.
pub(crate) fn pre_vote_response(response: pb::VoteResponse) -> pb::PreVoteResponse {
    let pb::VoteResponse {
        vote,
        granted,
        last_log_id,
    } = response;
    pb::PreVoteResponse {
        vote,
        granted,
        last_log_id,
    }
}

/// The reverse of [`pre_vote_response`].
pub(crate) fn of_pre_vote_response(response: pb::PreVoteResponse) -> pb::VoteResponse {
    let pb::PreVoteResponse {
        vote,
        granted,
        last_log_id,
    } = response;
    pb::VoteResponse {
        vote,
        granted,
        last_log_id,
    }
}

pub(crate) fn transfer_to_wire(
    request: &TransferLeaderRequest<TypeConfig>,
) -> pb::TransferLeaderRequest {
    pb::TransferLeaderRequest {
        from_leader: Some(vote_to_wire(request.from_leader())),
        to_replica_id: request.to_node_id().get(),
        last_log_id: request.last_log_id().map(log_id_to_wire),
    }
}

pub(crate) fn transfer_from_wire(
    request: &pb::TransferLeaderRequest,
) -> Result<TransferLeaderRequest<TypeConfig>, Malformed> {
    Ok(TransferLeaderRequest::new(
        required_vote(request.from_leader.as_ref(), "transfer without a vote")?,
        ReplicaId::new(request.to_replica_id),
        some_log_id_from_wire(request.last_log_id.as_ref())?,
    ))
}

pub(crate) fn transferred_to_wire(
    response: TransferLeaderResponse<TypeConfig>,
) -> pb::TransferLeaderResponse {
    let result = match response {
        Ok(()) => pb::transfer_leader_response::Result::Accepted(pb::TransferAccepted {}),
        Err(TransferLeaderError::VoteChanged { expected, actual }) => {
            pb::transfer_leader_response::Result::VoteChanged(pb::TransferVoteChanged {
                expected: Some(vote_to_wire(&expected)),
                actual: Some(vote_to_wire(&actual)),
            })
        }
        Err(TransferLeaderError::LogNotFlushed { expected, actual }) => {
            pb::transfer_leader_response::Result::LogNotFlushed(pb::TransferLogNotFlushed {
                expected: expected.as_ref().map(log_id_to_wire),
                actual: actual.as_ref().map(log_id_to_wire),
            })
        }
    };
    pb::TransferLeaderResponse {
        result: Some(result),
    }
}

pub(crate) fn transferred_from_wire(
    response: &pb::TransferLeaderResponse,
) -> Result<TransferLeaderResponse<TypeConfig>, Malformed> {
    let vote =
        |vote: &Option<pb::Vote>| required_vote(vote.as_ref(), "transfer response without a vote");
    Ok(
        match required(
            response.result.as_ref(),
            "transfer response without a result",
        )? {
            pb::transfer_leader_response::Result::Accepted(pb::TransferAccepted {}) => Ok(()),
            pb::transfer_leader_response::Result::VoteChanged(changed) => {
                Err(TransferLeaderError::VoteChanged {
                    expected: vote(&changed.expected)?,
                    actual: vote(&changed.actual)?,
                })
            }
            pb::transfer_leader_response::Result::LogNotFlushed(behind) => {
                Err(TransferLeaderError::LogNotFlushed {
                    expected: some_log_id_from_wire(behind.expected.as_ref())?,
                    actual: some_log_id_from_wire(behind.actual.as_ref())?,
                })
            }
        },
    )
}

/// The first part of a checkpoint on its way.
pub(crate) fn checkpoint_begin(
    vote: &Vote,
    meta: &SnapshotMeta,
    cluster_id: [u8; 16],
) -> pb::CheckpointBegin {
    pb::CheckpointBegin {
        vote: Some(vote_to_wire(vote)),
        last_log_id: meta.last_log_id.as_ref().map(log_id_to_wire),
        membership_log_id: meta.last_membership.log_id().as_ref().map(log_id_to_wire),
        membership: Some(membership_to_wire(meta.last_membership.membership())),
        cluster_id: cluster_id.to_vec().into(),
    }
}

/// Who sends a checkpoint, what it holds, and of which cluster.
pub(crate) fn checkpoint_begun(
    begin: &pb::CheckpointBegin,
) -> Result<(Vote, SnapshotMeta, [u8; 16]), Malformed> {
    let vote = required_vote(begin.vote.as_ref(), "checkpoint without a vote")?;
    let membership = membership_from_wire(required(
        begin.membership.as_ref(),
        "checkpoint without a membership",
    )?)?;
    let meta = SnapshotMeta {
        last_log_id: some_log_id_from_wire(begin.last_log_id.as_ref())?,
        last_membership: StoredMembership::new(
            some_log_id_from_wire(begin.membership_log_id.as_ref())?,
            membership,
        ),
    };
    let cluster = <[u8; 16]>::try_from(&begin.cluster_id[..])
        .map_err(|_| Malformed("cluster_id: not 16 bytes"))?;
    Ok((vote, meta, cluster))
}

#[cfg(test)]
mod tests;
