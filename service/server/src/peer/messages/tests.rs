use std::collections::{BTreeMap, BTreeSet};
use std::{env, fs};

use synod_machine::Answer;
use synod_model::stored::{Stored, Tables, from_bytes, to_bytes};
use synod_model::{ErrorKind, Refusal, Revision};
use synod_store::payload::{ReplicaAddress, ReplicaSet};

use super::*;
use crate::consensus::Term;

/// The recorded tables, which are compared with those of releases.
const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/peer/tables.txt");

fn tables() -> Tables {
    let mut tables = Tables::default();
    HelloRequest::shape(&mut tables);
    HelloResponse::shape(&mut tables);
    VoteRequest::shape(&mut tables);
    VoteResponse::shape(&mut tables);
    AppendRequest::shape(&mut tables);
    AppendResponse::shape(&mut tables);
    CheckpointPart::shape(&mut tables);
    CheckpointResponse::shape(&mut tables);
    TransferRequest::shape(&mut tables);
    TransferResponse::shape(&mut tables);
    ReadIndexRequest::shape(&mut tables);
    ReadIndexResponse::shape(&mut tables);
    ForwardRequest::shape(&mut tables);
    ForwardResponse::shape(&mut tables);
    DigestRequest::shape(&mut tables);
    DigestResponse::shape(&mut tables);
    tables
}

#[test]
fn the_tables_stand_beside_the_code() {
    let tables = tables();
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(RECORDED, tables.to_string()).unwrap();
    }
    let recorded = fs::read_to_string(RECORDED).unwrap();
    assert_eq!(
        tables.to_string(),
        recorded,
        "write it anew with `UPDATE_GOLDEN=1 cargo test -p synod-server tables`"
    );
}

fn log_id(index: u64) -> LogId {
    LogId {
        term: 300,
        leader: 2,
        index,
    }
}

fn vote() -> Vote {
    Vote {
        term: 300,
        leader: 2,
        committed: true,
    }
}

fn position() -> Position {
    Position {
        term: Term::new(300),
        leader: ReplicaId::new(2),
        index: 77,
    }
}

fn replica_set() -> ReplicaSet {
    let address = ReplicaAddress {
        peer: "127.0.0.1:1".to_owned(),
        directory: DirectoryId::from_bytes([0xAA; 16]),
    };
    ReplicaSet {
        configs: vec![BTreeSet::from([ReplicaId::new(1), ReplicaId::new(2)])],
        replicas: BTreeMap::from([(ReplicaId::new(1), address)]),
    }
}

/// Checks that the message reads back, and that whatever a flipped bit or a cut end decodes to has one form, too.
fn has_one_form<T: Stored + PartialEq + std::fmt::Debug>(message: T) {
    let bytes = to_bytes(&message);
    assert_eq!(from_bytes::<T>(&bytes).as_ref(), Ok(&message));
    let flipped = (0..bytes.len() * 8).map(|bit| {
        let mut other = bytes.to_vec();
        other[bit / 8] ^= 1 << (bit % 8);
        Bytes::from(other)
    });
    let cut = (0..bytes.len()).map(|end| bytes.slice(..end));
    for other in flipped.chain(cut) {
        if let Ok(read) = from_bytes::<T>(&other) {
            assert_eq!(to_bytes(&read), other, "{read:?}");
        }
    }
}

#[test]
fn every_question_has_one_form() {
    has_one_form(HelloRequest {});
    has_one_form(VoteRequest {
        vote: vote(),
        last: Some(log_id(9)),
        leadership_transfer: true,
    });
    has_one_form(AppendRequest {
        vote: vote(),
        prev: Some(log_id(9)),
        committed: None,
        entries: vec![
            (log_id(10), LogPayload::Blank),
            (
                log_id(11),
                LogPayload::Commands(Bytes::from_static(b"commands")),
            ),
            (log_id(12), LogPayload::ReplicaSet(replica_set())),
        ],
        prev_checksum: Some(0xDEAD_BEEF),
    });
    has_one_form(CheckpointPart::Begin {
        vote: vote(),
        cluster: ClusterId::from_bytes([7; 16]),
        meta: CheckpointMeta {
            last: Some(log_id(9)),
            decided: None,
            replica_set: replica_set(),
        },
    });
    has_one_form(CheckpointPart::Data {
        offset: 1 << 20,
        data: Bytes::from_static(b"rows"),
    });
    has_one_form(CheckpointPart::End { length: 1 << 21 });
    has_one_form(TransferRequest {
        from: vote(),
        to: ReplicaId::new(3),
        last: None,
    });
    has_one_form(ReadIndexRequest {});
    has_one_form(ForwardRequest {
        batch: 9,
        lane: Lane::Renewal,
        timeout: Duration::from_millis(4_000),
        commands: vec![Bytes::from_static(b"one"), Bytes::new()],
        traces: vec!["a".to_owned(), "b".to_owned()],
        callers: vec![String::new(), "00-a-b-01".to_owned()],
        caller_states: vec![String::new(), "vendor=said".to_owned()],
    });
    has_one_form(DigestRequest { index: 256 });
}

#[test]
fn every_answer_has_one_form() {
    has_one_form(HelloResponse {
        replica: ReplicaId::new(3),
        directory: DirectoryId::from_bytes([3; 16]),
        cluster_name: "one".to_owned(),
        initialized: true,
        cluster: Some(ClusterId::from_bytes([7; 16])),
        machine_version_min: 1,
        machine_version_max: 1,
        version: "0.1.0".to_owned(),
    });
    has_one_form(VoteResponse {
        vote: vote(),
        last: None,
        granted: true,
    });
    has_one_form(AppendResponse::Matched(None));
    has_one_form(AppendResponse::Conflict(log_id(1)));
    has_one_form(AppendResponse::HigherVote(vote()));
    has_one_form(CheckpointResponse { vote: vote() });
    has_one_form(TransferResponse::Accepted);
    has_one_form(TransferResponse::VoteChanged {
        expected: vote(),
        actual: vote(),
    });
    has_one_form(TransferResponse::LogNotFlushed {
        expected: None,
        actual: Some(log_id(2)),
    });
    has_one_form(ReadIndexResponse::At(position()));
    has_one_form(ReadIndexResponse::NotLeader(Some(ReplicaId::new(1))));
    has_one_form(ReadIndexResponse::NoQuorum);
    let outcome = |result| Outcome {
        revision: Revision::new(41),
        changed: true,
        result,
    };
    let refusal = Refusal::new(ErrorKind::Conflict, "it is newer").with("current", 7);
    let verdicts = [
        BatchVerdict::Executed {
            at: position(),
            outcomes: vec![outcome(Ok(Answer::Done)), outcome(Err(refusal))],
        },
        BatchVerdict::not_leader(Some(ReplicaId::new(2))),
        BatchVerdict::Unknown("lost".to_owned()),
        BatchVerdict::Ended,
    ];
    for verdict in verdicts {
        has_one_form(ForwardResponse { batch: 1, verdict });
    }
    has_one_form(DigestResponse {
        digest: Some((position(), Digest::from_bytes([9; 16]))),
        remembered: vec![RememberedLog {
            directory: DirectoryId::from_bytes([3; 16]),
            replica: ReplicaId::new(3),
            held: log_id(7),
            went_back: true,
        }],
    });
}
