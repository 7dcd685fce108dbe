use bytes::Bytes;

use super::*;

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
            Ok(answer)
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
    let wired = of_pre_vote_request(pre_vote_request(vote_request_to_wire(&request)));
    assert_eq!(vote_request_from_wire(&wired), Ok(request));
    let response = VoteResponse::<TypeConfig>::new(vote(), None, true);
    let wired = of_pre_vote_response(pre_vote_response(vote_response_to_wire(&response)));
    assert_eq!(vote_response_from_wire(&wired), Ok(response));
    let request = TransferLeaderRequest::new(vote(), ReplicaId::new(3), Some(log_id(1, 2)));
    assert_eq!(transfer_from_wire(&transfer_to_wire(&request)), Ok(request));
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
            Ok(answer)
        );
    }
}

#[test]
fn an_append_that_lacks_something_is_refused_for_it() {
    let complete = append_to_wire(append());
    let refusal = |change: &dyn Fn(&mut pb::AppendRequest)| {
        let mut request = complete.clone();
        change(&mut request);
        append_from_wire(request).unwrap_err().0
    };
    assert_eq!(
        refusal(&|request| request.vote = None),
        "append without a vote"
    );
    assert_eq!(
        refusal(&|request| request.entries[1].log_id = None),
        "entry without a log id"
    );
    assert_eq!(
        refusal(&|request| request.entries[1].payload = None),
        "entry without a payload"
    );
    assert_eq!(
        refusal(&|request| drop(request.entries.remove(1))),
        "entries that do not follow each other"
    );
}

#[test]
fn a_number_that_nothing_can_have_is_refused() {
    let id = |term, index| pb::LogId {
        term,
        leader: 1,
        index,
    };
    assert!(log_id_from_wire(&id(0, u64::MAX)).is_err());
    assert!(log_id_from_wire(&id(u64::MAX, 0)).is_err());
    assert!(log_id_from_wire(&id(u64::MAX / 2, u64::MAX / 2)).is_ok());
    assert!(
        vote_from_wire(&pb::Vote {
            term: u64::MAX,
            leader: 1,
            committed: false
        })
        .is_err()
    );
}

#[test]
fn a_membership_with_an_unknown_voter_is_refused() {
    let mut wired = membership_to_wire(&two_replicas());
    assert_eq!(membership_from_wire(&wired), Ok(two_replicas()));
    wired.replicas.remove(&1);
    assert!(membership_from_wire(&wired).is_err());
    let mut wired = membership_to_wire(&two_replicas());
    wired.replicas.get_mut(&1).unwrap().directory_id = Bytes::from_static(b"short");
    assert!(membership_from_wire(&wired).is_err());
}
