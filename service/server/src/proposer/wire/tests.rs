use std::sync::Arc;

use synod_machine::{HistoryAnswer, RevisionAnswer, RevisionOutcome};
use synod_model::{
    Current, ErrorKind, Metadata, ObjectName, ResourceScope, RevisionNumber, Roster, RosterRule,
    Settings, Violation, WallTime,
};

use super::*;

fn position() -> Position {
    Position {
        term: Term::new(3),
        leader: ReplicaId::new(2),
        index: 77,
    }
}

fn outcome(result: Result<Answer, Refusal>) -> Outcome {
    Outcome {
        revision: Revision::new(41),
        changed: result.is_ok(),
        result,
    }
}

/// A conflict with a detail, and with a field that is to blame.
fn refused() -> Refusal {
    let mut refusal =
        Refusal::new(ErrorKind::Conflict, "the settings are newer").with("current", 7);
    refusal.violations.push(Violation {
        field: "patch".to_owned(),
        rule: "is old".to_owned(),
    });
    refusal
}

fn outcomes() -> Vec<Outcome> {
    let version = |text: &str| Some(ApiVersion::parse(text).unwrap());
    let told = Told {
        resource: GroupResource::new("apps", "deployments").unwrap(),
        encoding: version("apps/v1"),
        selected: version("apps/v2"),
        selected_revision: Revision::new(40),
        adopted_revision: Some(Revision::new(39)),
    };
    let untold = Told {
        encoding: None,
        selected: None,
        selected_revision: Revision::ZERO,
        adopted_revision: None,
        ..told.clone()
    };
    let refusal = refused();
    let done_to_history = HistoryAnswer {
        adopted: 1,
        deleted: 2,
        left: 3,
    };
    vec![
        outcome(Ok(Answer::Done)),
        outcome(Ok(Answer::SessionOpened(SessionId::new(Revision::new(9))))),
        outcome(Ok(Answer::Joined {
            epoch: Epoch::new(Revision::new(8)),
            ttl: Ttl::DEFAULT,
        })),
        outcome(Ok(Answer::Reported(vec![told, untold]))),
        outcome(Ok(Answer::LeaseHeld {
            token: FencingToken::new(Revision::new(8)),
            ttl: Ttl::DEFAULT,
        })),
        outcome(Ok(Answer::LeaseQueued(Ticket::new(Revision::new(9))))),
        outcome(Ok(Answer::Expired {
            members: 1,
            sessions: 2,
            unreported: 3,
            leases: 4,
            waiters: 5,
            candidates: 6,
            objects: 4,
            observations: 7,
        })),
        outcome(Ok(Answer::MigrationCompleted(None))),
        outcome(Ok(Answer::MigrationCompleted(Some(Assumption::NoRoster)))),
        outcome(Ok(Answer::Wrote(written(WrittenHow::Unchanged)))),
        outcome(Ok(transacted())),
        outcome(Ok(Answer::Collected { steps: 5 })),
        outcome(Ok(Answer::ControllerRevision(RevisionAnswer {
            name: ObjectName::parse("web-6b4c48c5d8").unwrap(),
            number: RevisionNumber::FIRST,
            outcome: RevisionOutcome::RolledBack,
            collision_count: 3,
            history: done_to_history,
        }))),
        outcome(Ok(Answer::ControllerHistory(done_to_history))),
        outcome(Err(refusal
            .clone()
            .with_current(Current::Settings(Settings::default())))),
        outcome(Err(
            refusal.with_current(Current::Roster(Arc::new(roster())))
        )),
    ]
}

fn roster() -> Roster {
    Roster {
        scope: ResourceScope::parse("apps.*").unwrap(),
        metadata: Metadata {
            uid: Uid::from_bytes([4; 16]),
            resource_version: Revision::new(7),
            create_revision: Revision::new(6),
            generation: 2,
            created: WallTime::from_millis(5),
        },
        rule: RosterRule {
            least: 3,
            ..RosterRule::default()
        },
    }
}

fn transacted() -> Answer {
    let hows = [
        WrittenHow::Created,
        WrittenHow::Updated,
        WrittenHow::Deleted,
        WrittenHow::Deleting,
    ];
    Answer::Transacted {
        succeeded: true,
        written: hows.map(written).into(),
    }
}

fn written(how: WrittenHow) -> Written {
    Written {
        how,
        uid: Uid::from_bytes([3; 16]),
        resource_version: Revision::new(11),
    }
}

fn sent(outcomes: &[Outcome]) -> pb::ForwardExecuted {
    match executed(position(), outcomes) {
        Verdict::Executed(executed) => executed,
        other => panic!("executed, not {other:?}"),
    }
}

#[test]
fn every_outcome_comes_back_as_it_was_sent() {
    let all = outcomes();
    assert_eq!(
        executed_from_wire(sent(&all), all.len()),
        Ok((position(), all))
    );
}

#[test]
fn an_answer_that_lacks_something_is_not_believed() {
    let all = outcomes();
    let lacking = |change: fn(&mut pb::ForwardExecuted)| {
        let mut executed = sent(&all);
        change(&mut executed);
        executed_from_wire(executed, all.len())
    };
    assert!(lacking(|executed| executed.log_id = None).is_err());
    assert!(lacking(|executed| drop(executed.outcomes.pop())).is_err());
    assert!(lacking(|executed| executed.outcomes[0].result = None).is_err());
}
