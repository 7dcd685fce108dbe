//! Conversions of Raft's messages between their wire form and openraft's types.
//!
//! Incoming messages come from another replica, perhaps of another release, so they are fully checked.

use openraft::raft::{
    AppendEntriesRequest, StreamAppendError, StreamAppendResult, TransferLeaderError,
    TransferLeaderRequest, TransferLeaderResponse, VoteRequest, VoteResponse,
};

use super::record::{
    entry_of, of_store_id, payload_to_stored, some_of_store_id, some_to_store_id, to_store_id,
};
use super::types::{TypeConfig, vote_of_store, vote_to_store};
use crate::peer::messages;

/// A message that violates the protocol, with the part at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed: {0}")]
pub(crate) struct Malformed(pub(crate) &'static str);

pub(super) fn append_to_wire(request: AppendEntriesRequest<TypeConfig>) -> messages::AppendRequest {
    let entries = request.entries.into_iter();
    messages::AppendRequest {
        vote: vote_to_store(&request.vote),
        prev: some_to_store_id(request.prev_log_id.as_ref()),
        committed: some_to_store_id(request.leader_commit.as_ref()),
        entries: entries
            .map(|entry| (to_store_id(&entry.log_id), payload_to_stored(entry.payload)))
            .collect(),
        prev_checksum: None,
    }
}

pub(super) fn append_from_wire(
    request: messages::AppendRequest,
) -> Result<AppendEntriesRequest<TypeConfig>, Malformed> {
    let first = request.prev.map_or(0, |prev| prev.index + 1);
    // openraft assumes that entries are consecutive.
    let mut places = request.entries.iter().zip(first..);
    if places.any(|((id, _), place)| id.index != place) {
        return Err(Malformed("entries that do not follow each other"));
    }
    let entries = request.entries.into_iter();
    let entries = entries.map(|(id, payload)| entry_of(&id, payload));
    Ok(AppendEntriesRequest {
        vote: vote_of_store(&request.vote),
        prev_log_id: some_of_store_id(request.prev.as_ref()),
        entries: entries
            .collect::<Result<_, _>>()
            .map_err(|_| Malformed("a replica set with a voter that has no address"))?,
        leader_commit: some_of_store_id(request.committed.as_ref()),
    })
}

pub(super) fn appended_to_wire(result: StreamAppendResult<TypeConfig>) -> messages::AppendResponse {
    match result {
        Ok(matched) => messages::AppendResponse::Matched(some_to_store_id(matched.as_ref())),
        Err(StreamAppendError::Conflict(at)) => {
            messages::AppendResponse::Conflict(to_store_id(&at))
        }
        Err(StreamAppendError::HigherVote(vote)) => {
            messages::AppendResponse::HigherVote(vote_to_store(&vote))
        }
    }
}

pub(super) fn appended_from_wire(
    response: &messages::AppendResponse,
) -> StreamAppendResult<TypeConfig> {
    match response {
        messages::AppendResponse::Matched(last) => Ok(some_of_store_id(last.as_ref())),
        messages::AppendResponse::Conflict(at) => Err(StreamAppendError::Conflict(of_store_id(at))),
        messages::AppendResponse::HigherVote(vote) => {
            Err(StreamAppendError::HigherVote(vote_of_store(vote)))
        }
    }
}

pub(super) fn vote_request_to_wire(request: &VoteRequest<TypeConfig>) -> messages::VoteRequest {
    messages::VoteRequest {
        vote: vote_to_store(&request.vote),
        last: some_to_store_id(request.last_log_id.as_ref()),
        leadership_transfer: request.leadership_transfer,
    }
}

pub(super) fn vote_request_from_wire(request: &messages::VoteRequest) -> VoteRequest<TypeConfig> {
    VoteRequest {
        vote: vote_of_store(&request.vote),
        last_log_id: some_of_store_id(request.last.as_ref()),
        leadership_transfer: request.leadership_transfer,
    }
}

pub(super) fn vote_response_to_wire(response: &VoteResponse<TypeConfig>) -> messages::VoteResponse {
    messages::VoteResponse {
        vote: vote_to_store(&response.vote),
        last: some_to_store_id(response.last_log_id.as_ref()),
        granted: response.vote_granted,
    }
}

pub(super) fn vote_response_from_wire(
    response: &messages::VoteResponse,
) -> VoteResponse<TypeConfig> {
    VoteResponse {
        vote: vote_of_store(&response.vote),
        vote_granted: response.granted,
        last_log_id: some_of_store_id(response.last.as_ref()),
    }
}

pub(super) fn transfer_to_wire(
    request: &TransferLeaderRequest<TypeConfig>,
) -> messages::TransferRequest {
    messages::TransferRequest {
        from: vote_to_store(request.from_leader()),
        to: *request.to_node_id(),
        last: some_to_store_id(request.last_log_id()),
    }
}

pub(super) fn transfer_from_wire(
    request: &messages::TransferRequest,
) -> TransferLeaderRequest<TypeConfig> {
    TransferLeaderRequest::new(
        vote_of_store(&request.from),
        request.to,
        some_of_store_id(request.last.as_ref()),
    )
}

pub(super) fn transferred_to_wire(
    response: TransferLeaderResponse<TypeConfig>,
) -> messages::TransferResponse {
    match response {
        Ok(()) => messages::TransferResponse::Accepted,
        Err(TransferLeaderError::VoteChanged { expected, actual }) => {
            messages::TransferResponse::VoteChanged {
                expected: vote_to_store(&expected),
                actual: vote_to_store(&actual),
            }
        }
        Err(TransferLeaderError::LogNotFlushed { expected, actual }) => {
            messages::TransferResponse::LogNotFlushed {
                expected: some_to_store_id(expected.as_ref()),
                actual: some_to_store_id(actual.as_ref()),
            }
        }
    }
}

pub(super) fn transferred_from_wire(
    response: &messages::TransferResponse,
) -> TransferLeaderResponse<TypeConfig> {
    match response {
        messages::TransferResponse::Accepted => Ok(()),
        messages::TransferResponse::VoteChanged { expected, actual } => {
            Err(TransferLeaderError::VoteChanged {
                expected: vote_of_store(expected),
                actual: vote_of_store(actual),
            })
        }
        messages::TransferResponse::LogNotFlushed { expected, actual } => {
            Err(TransferLeaderError::LogNotFlushed {
                expected: some_of_store_id(expected.as_ref()),
                actual: some_of_store_id(actual.as_ref()),
            })
        }
    }
}

#[cfg(test)]
mod tests;
