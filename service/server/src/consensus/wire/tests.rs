use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use synod_store::payload::LogPayload;

use super::*;
use crate::consensus::types::{Entry, EntryPayload, LogId, Membership, Payload, Vote, leader_id};
use crate::consensus::{DirectoryId, ReplicaAddress, ReplicaId, Term};

fn log_id(term: u64, index: u64) -> LogId {
    LogId {
        leader_id: leader_id(Term::new(term), ReplicaId::new(2)),
        index,
    }
}

fn vote() -> Vote {
    Vote {
        leader_id: leader_id(Term::new(3), ReplicaId::new(2)),
        committed: true,
    }
}

fn two_replicas() -> Membership {
    let address = |directory| ReplicaAddress {
        peer: "127.0.0.1:1".to_owned(),
        directory: DirectoryId::from_bytes([directory; 16]),
    };
    let ids = BTreeSet::from([ReplicaId::new(1), ReplicaId::new(2)]);
    let replicas = BTreeMap::from([
        (ReplicaId::new(1), address(0xAA)),
        (ReplicaId::new(2), address(0xBB)),
    ]);
    Membership::new(vec![ids], replicas).unwrap()
}

fn append() -> AppendEntriesRequest<TypeConfig> {
    let payloads = [
        EntryPayload::Blank,
        EntryPayload::Normal(Payload(Bytes::from_static(b"commands"))),
        EntryPayload::Membership(two_replicas()),
    ];
    let entries = (5..).zip(payloads).map(|(index, payload)| Entry {
        log_id: log_id(3, index),
        payload,
    });
    AppendEntriesRequest {
        vote: vote(),
        prev_log_id: Some(log_id(2, 4)),
        entries: entries.collect(),
        leader_commit: None,
    }
}

#[test]
fn an_append_survives_the_wire() {
    let sent = append();
    let received = append_from_wire(append_to_wire(sent.clone())).unwrap();
    assert_eq!(
        (received.vote, received.prev_log_id),
        (sent.vote, sent.prev_log_id)
    );
    assert_eq!(received.leader_commit, sent.leader_commit);
    assert!(
        received.entries == sent.entries,
        "{:?} became {:?}",
        sent.entries,
        received.entries
    );
}

#[test]
fn every_answer_to_an_append_survives_the_wire() {
    let answers = [
        Ok(None),
        Ok(Some(log_id(1, 7))),
        Err(StreamAppendError::Conflict(log_id(1, 7))),
        Err(StreamAppendError::HigherVote(vote())),
    ];
    for answer in answers {
        assert_eq!(
            appended_from_wire(&appended_to_wire(answer.clone())),
            answer
        );
    }
}

#[test]
fn votes_and_transfers_survive_the_wire() {
    let request = VoteRequest {
        vote: vote(),
        last_log_id: Some(log_id(1, 0)),
        leadership_transfer: true,
    };
    let wired = vote_request_to_wire(&request);
    assert_eq!(vote_request_from_wire(&wired), request);
    let response = VoteResponse::<TypeConfig>::new(vote(), None, true);
    let wired = vote_response_to_wire(&response);
    assert_eq!(vote_response_from_wire(&wired), response);
    let request = TransferLeaderRequest::new(vote(), ReplicaId::new(3), Some(log_id(1, 2)));
    assert_eq!(transfer_from_wire(&transfer_to_wire(&request)), request);
    let answers = [
        Ok(()),
        Err(TransferLeaderError::VoteChanged {
            expected: vote(),
            actual: vote(),
        }),
        Err(TransferLeaderError::LogNotFlushed {
            expected: None,
            actual: Some(log_id(1, 2)),
        }),
    ];
    for answer in answers {
        assert_eq!(
            transferred_from_wire(&transferred_to_wire(answer.clone())),
            answer
        );
    }
}

#[test]
fn an_append_that_openraft_would_not_expect_is_refused() {
    let complete = append_to_wire(append());
    let refusal = |change: &dyn Fn(&mut messages::AppendRequest)| {
        let mut request = complete.clone();
        change(&mut request);
        append_from_wire(request).unwrap_err().0
    };
    assert_eq!(
        refusal(&|request| drop(request.entries.remove(1))),
        "entries that do not follow each other"
    );
    let without_address = |request: &mut messages::AppendRequest| {
        for (_, payload) in &mut request.entries {
            if let LogPayload::ReplicaSet(set) = payload {
                set.replicas.remove(&ReplicaId::new(1));
            }
        }
    };
    assert_eq!(
        refusal(&without_address),
        "a replica set with a voter that has no address"
    );
}
