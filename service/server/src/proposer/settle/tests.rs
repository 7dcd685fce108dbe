use std::time::Duration;

use synod_machine::Answer;
use synod_model::{
    ApiVersion, Attributes, Content, Current, ErrorKind, GroupResource, MediaType, Metadata,
    Object, ObjectKey, ObjectName, Revision, Uid, Verdict, WallTime,
};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::*;
use crate::consensus::Term;
use crate::proposer::request::Waiter;
use crate::proposer::request::tests::sample;

fn position() -> Position {
    Position {
        term: Term::new(2),
        leader: ReplicaId::new(1),
        index: 9,
    }
}

fn outcome(revision: u64) -> Outcome {
    Outcome {
        revision: Revision::new(revision),
        changed: true,
        result: Ok(Answer::Done),
    }
}

fn executed<const N: usize>(revisions: [u64; N]) -> BatchVerdict {
    BatchVerdict::Executed {
        at: position(),
        outcomes: revisions.map(outcome).into(),
    }
}

fn own() -> (Unit, Waiter) {
    let now = Instant::now();
    let (request, waiter) = sample(1, now + Duration::from_secs(60));
    (Unit::Own(request.claim(now).unwrap()), waiter)
}

fn foreign(commands: usize) -> (Unit, oneshot::Receiver<BatchVerdict>) {
    let (answer, answered) = oneshot::channel();
    let commands = vec![bytes::Bytes::from_static(b"x"); commands];
    let bytes = commands.len();
    let deadline = Instant::now() + Duration::from_secs(60);
    (
        Unit::Forwarded(Forwarded {
            commands,
            stages: Vec::new(),
            bytes,
            deadline,
            answer,
            place: None,
        }),
        answered,
    )
}

/// The answers to this replica's own caller and to the other replica, for a batch with a request of each.
async fn told(fate: Fate) -> (Refusal, BatchVerdict) {
    let ((own, waiter), (foreign, answered)) = (own(), foreign(1));
    for request in settle(vec![own, foreign], fate) {
        request.answer(Err(refusals::unavailable("tried again")));
    }
    (
        waiter.answered().await.unwrap_err(),
        answered.await.unwrap(),
    )
}

#[tokio::test]
async fn each_gets_the_outcomes_of_its_own_commands() {
    let ((first, first_waiter), (foreign, answered), (last, last_waiter)) =
        (own(), foreign(2), own());
    let outcomes = (11..=14).map(outcome).collect();
    let again = settle(
        vec![first, foreign, last],
        Fate::Executed {
            position: position(),
            outcomes,
        },
    );
    assert!(again.is_empty());
    assert_eq!(first_waiter.answered().await, Ok(outcome(11)));
    assert_eq!(answered.await, Ok(executed([12, 13])));
    assert_eq!(last_waiter.answered().await, Ok(outcome(14)));
}

#[tokio::test]
async fn what_was_certainly_not_executed_is_tried_again_here_and_goes_back_to_another_replica() {
    let leader = Some(ReplicaId::new(3));
    let (refusal, verdict) = told(Fate::TryAgain { leader }).await;
    assert!(refusal.message.starts_with("tried again"));
    assert_eq!(verdict, BatchVerdict::not_leader(leader));
}

#[tokio::test]
async fn what_a_leader_cannot_have_executed_now_waits_here_and_goes_back_to_another_replica() {
    let (refusal, verdict) = told(Fate::Stalled("no quorum".to_owned())).await;
    assert!(refusal.message.starts_with("tried again"));
    let unavailable = NotExecutedReason::Unavailable;
    assert_eq!(
        verdict,
        BatchVerdict::not_executed(unavailable, "no quorum")
    );
}

#[tokio::test]
async fn what_is_not_executed_is_told_as_that_to_both() {
    for (reason, kind, wire) in [
        (
            Reason::Deadline,
            ErrorKind::DeadlineExceeded,
            NotExecutedReason::Deadline,
        ),
        (
            Reason::Overloaded,
            ErrorKind::Overloaded,
            NotExecutedReason::Overloaded,
        ),
        (
            Reason::Unavailable("so".to_owned()),
            ErrorKind::Unavailable,
            NotExecutedReason::Unavailable,
        ),
        (
            Reason::Refused("so".to_owned()),
            ErrorKind::Unavailable,
            NotExecutedReason::Invalid,
        ),
    ] {
        let (refusal, verdict) = told(Fate::NotExecuted(reason)).await;
        assert_eq!(refusal.kind, kind);
        assert_eq!(synod_proto::status::verdict(&refusal), Verdict::NotExecuted);
        let BatchVerdict::NotExecuted { reason, .. } = verdict else {
            panic!("not executed, not {verdict:?}")
        };
        assert_eq!(reason, wire);
    }
}

#[tokio::test]
async fn what_is_unknown_is_called_unknown_to_both() {
    let (refusal, verdict) = told(Fate::Unknown("lost".to_owned())).await;
    assert_eq!(refusal.kind, ErrorKind::UnknownOutcome);
    assert_eq!(synod_proto::status::verdict(&refusal), Verdict::Unknown);
    assert_eq!(verdict, BatchVerdict::Unknown("lost".to_owned()));
}

#[test]
fn an_error_of_consensus_never_claims_more_than_is_certain() {
    let again = |error| matches!(Fate::from(error), Fate::TryAgain { .. });
    let refused = |error| matches!(Fate::from(error), Fate::NotExecuted(Reason::Refused(_)));
    let ended = |error| matches!(Fate::from(error), Fate::NotExecuted(Reason::Unavailable(_)));
    assert!(again(ProposeError::NotLeader { hint: None }));
    assert!(again(ProposeError::NotExecuted(NotExecuted::Transferring)));
    let stalled = Fate::from(ProposeError::NotExecuted(NotExecuted::NoQuorum));
    assert!(matches!(stalled, Fate::Stalled(_)));
    assert!(refused(ProposeError::NotExecuted(NotExecuted::Doubt)));
    assert!(ended(ProposeError::Stopped));
    assert!(matches!(
        Fate::from(ProposeError::Unknown),
        Fate::Unknown(_)
    ));
}

#[test]
fn a_verdict_of_another_replica_never_claims_more_than_it_says() {
    let fate = |verdict| Fate::of_verdict(verdict, 1);
    assert!(matches!(
        fate(BatchVerdict::not_leader(None)),
        Fate::TryAgain { .. }
    ));
    assert!(matches!(fate(BatchVerdict::Ended), Fate::TryAgain { .. }));
    assert!(matches!(
        fate(BatchVerdict::Unknown("lost".to_owned())),
        Fate::Unknown(_)
    ));
    assert!(matches!(fate(executed([1])), Fate::Executed { .. }));
    let garbled = executed([1, 2]);
    assert!(
        matches!(fate(garbled), Fate::Unknown(_)),
        "it was executed, and who knows how"
    );
    let unavailable = BatchVerdict::not_executed(NotExecutedReason::Unavailable, "no quorum");
    assert!(matches!(fate(unavailable), Fate::Stalled(_)));
    let invalid = BatchVerdict::not_executed(NotExecutedReason::Invalid, "not read");
    assert!(matches!(
        fate(invalid),
        Fate::NotExecuted(Reason::Refused(_))
    ));
}

#[tokio::test]
async fn refusals_of_many_who_lost_against_a_large_object_fit_an_answer() {
    let (batch, answered) = foreign(6);
    let data = vec![b'x'; 1 << 20];
    let content = Content {
        encoding: ApiVersion::parse("v1").unwrap(),
        media_type: MediaType::parse("text/plain").unwrap(),
        data: data.into(),
    };
    let resource = GroupResource::new("example.io", "widgets").unwrap();
    let object = Object {
        key: ObjectKey::new(resource, None, &ObjectName::parse("a").unwrap()),
        metadata: Metadata {
            uid: Uid::from_bytes([1; 16]),
            resource_version: Revision::new(7),
            create_revision: Revision::new(7),
            generation: 1,
            created: WallTime::default(),
        },
        attributes: Attributes::default(),
        deletion: None,
        content,
        content_revision: Revision::new(7),
    };
    let object = std::sync::Arc::new(object);
    let lost = (1..=6).map(|revision| {
        let mut refusal = Refusal::new(ErrorKind::Conflict, "it is newer");
        refusal.current = Some(Box::new(Current::Object(std::sync::Arc::clone(&object))));
        Outcome {
            result: Err(refusal),
            ..outcome(revision)
        }
    });
    let fate = Fate::Executed {
        position: position(),
        outcomes: lost.collect(),
    };
    assert!(settle(vec![batch], fate).is_empty());
    let BatchVerdict::Executed { outcomes, .. } = answered.await.unwrap() else {
        panic!("it was executed")
    };
    let refusals = outcomes
        .into_iter()
        .map(|outcome| outcome.result.unwrap_err());
    let with: Vec<bool> = refusals.map(|refusal| refusal.current.is_some()).collect();
    assert_eq!(with, [true, true, true, false, false, false]);
}
