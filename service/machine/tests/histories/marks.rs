//! Which snapshots are live, and for how long: marks end with what they are tied to, and the newest is never deleted.

use synod_machine::{Answer, Command, Expire, Outcome, RevisionAnswer, RevisionOutcome, Row};

use synod_model::limits::TIED_REVISION_BYTES_MAX;
use synod_model::{
    ControllerRevision, CreateControllerRevision, ErrorKind, InUse, LiveMark, LogTime, Mark,
    MarkControllerRevisions, MarkTie, Marker, ObjectName, Preconditions, Refusal, Revision,
    RevisionNumber, Transact, TruncateControllerRevisions, Ttl, Uid, UpdateControllerRevision,
};

use crate::posts::{self, of_marks, seconds};
use crate::replica::{Replica, history, json, key, object_name, target, uid, wanting};

fn wants(replica: &mut Replica, create: CreateControllerRevision) -> RevisionAnswer {
    match replica.done(Command::CreateControllerRevision(create)) {
        Answer::ControllerRevision(answer) => answer,
        other => panic!("not the answer of a create: {other:?}"),
    }
}

fn create(replica: &mut Replica, state: u8, limit: u32) -> ObjectName {
    let create = CreateControllerRevision {
        history_limit: limit,
        ..wanting(0, target(state, 0), false)
    };
    wants(replica, create).name
}

fn truncate(replica: &mut Replica, limit: u32) -> Vec<u8> {
    replica.done(Command::TruncateControllerRevisions(
        TruncateControllerRevisions {
            history: history(0, false),
            limit,
            if_newest: None,
        },
    ));
    states(replica)
}

fn states(replica: &Replica) -> Vec<u8> {
    replica.history(0).into_iter().map(|seen| seen.2).collect()
}

fn current(name: &ObjectName, tie: MarkTie) -> MarkControllerRevisions {
    MarkControllerRevisions {
        history: history(0, false),
        current: Some(Mark::On(name.clone())),
        update: None,
        in_use: None,
        tie,
    }
}

fn mark(replica: &mut Replica, marking: MarkControllerRevisions) -> Outcome {
    let outcome = replica.send(Command::MarkControllerRevisions(marking));
    outcome.result.as_ref().expect("the mark is in order");
    outcome
}

fn refusal(outcome: Outcome) -> Refusal {
    assert!(!outcome.changed);
    outcome.result.expect_err("it is refused")
}

// Guarantee: H-04
#[test]
fn a_marker_that_has_died_pins_nothing_for_ever() {
    let mut replica = Replica::formed();
    let first = create(&mut replica, 0, 10);
    create(&mut replica, 1, 10);
    mark(&mut replica, current(&first, MarkTie::default()));
    assert_eq!(truncate(&mut replica, 0), [0, 1]);
    let day = Ttl::MAX.as_millis();
    replica.now = LogTime::from_millis(day - 1);
    replica.expires();
    assert_eq!(truncate(&mut replica, 0), [0, 1], "it may still come back");
    replica.now = LogTime::from_millis(day);
    replica.expires();
    assert_eq!(truncate(&mut replica, 0), [1]);
}

#[test]
fn a_mark_that_is_set_again_stays_and_moves_no_revision() {
    let mut replica = Replica::formed();
    let first = create(&mut replica, 0, 10);
    create(&mut replica, 1, 10);
    let renewed = || current(&first, MarkTie::Renewals(seconds(10)));
    mark(&mut replica, renewed());
    let at = replica.state.revision();
    for _ in 0..5 {
        replica.waits(9);
        assert!(!mark(&mut replica, renewed()).changed);
    }
    assert_eq!(replica.state.revision(), at);
    assert_eq!(truncate(&mut replica, 0), [0, 1]);
    // What the leader saw before a renewal that is earlier in the log does not count.
    let named = || of_marks([(key(&first), LiveMark::Current)]);
    replica.now = replica.now.after(seconds(10).duration());
    assert!(!mark(&mut replica, renewed()).changed);
    assert!(!replica.send(named()).changed);
    replica.now = replica.now.after(seconds(10).duration());
    assert!(replica.send(named()).changed);
    assert!(!replica.send(named()).changed);
    assert_eq!(truncate(&mut replica, 0), [1]);
}

// Guarantee: H-04
#[test]
fn marks_go_in_the_command_in_which_a_members_epoch_goes() {
    let going: [fn(&mut Replica); 3] = [
        Replica::leaves,
        |replica| replica.member_goes(false, false),
        |replica| {
            replica.now = replica.now.after(Ttl::MAX.duration());
            let mut expire = Expire::default();
            expire
                .members
                .insert((posts::member(), replica.posts().epoch));
            replica.done(Command::Expire(expire));
        },
    ];
    for goes in going {
        let mut replica = Replica::with_posts();
        let first = create(&mut replica, 0, 10);
        create(&mut replica, 1, 10);
        let tie = replica.tie(2);
        mark(&mut replica, current(&first, tie.clone()));
        let outcome = mark(&mut replica, current(&first, tie.clone()));
        assert!(!outcome.changed);
        let at = replica.state.revision();
        goes(&mut replica);
        assert_eq!(
            replica.state.revision(),
            at.next(),
            "one command did it all"
        );
        let row = replica.state.present().controller_revision(&key(&first));
        let row = row.expect("a snapshot stays that loses a mark");
        assert!(!row.marks.is_live());
        assert_eq!(row.metadata.resource_version, at.next());
        assert_eq!(truncate(&mut replica, 0), [1]);
        let refused = replica.send(Command::MarkControllerRevisions(current(&first, tie)));
        let kinds = [
            ErrorKind::NotFound,
            ErrorKind::StaleEpoch,
            ErrorKind::NotAMember,
        ];
        assert!(kinds.contains(&refusal(refused).kind));
    }
}

#[test]
fn a_mark_is_tied_to_nothing_that_is_not_there() {
    let mut replica = Replica::with_posts();
    let first = create(&mut replica, 0, 10);
    let past = replica.tie(2);
    replica.member_goes(false, false);
    let object = |name: &str, uid: Uid| MarkTie::Object(posts::object_named(name), uid);
    let ties = [
        (past, ErrorKind::StaleEpoch),
        (object("web", uid(9)), ErrorKind::Conflict),
        (object("other", replica.posts().object), ErrorKind::NotFound),
    ];
    for (tie, kind) in ties {
        let marking = current(&first, tie.clone());
        let refused = refusal(replica.send(Command::MarkControllerRevisions(marking)));
        assert_eq!(refused.kind, kind);
        let create = CreateControllerRevision {
            mark_update: Some(tie.clone()),
            ..wanting(0, target(1, 0), false)
        };
        let refused = refusal(replica.send(Command::CreateControllerRevision(create)));
        assert_eq!(refused.kind, kind);
        // Removing a mark does not require that the member still exists.
        let cleared = MarkControllerRevisions {
            current: Some(Mark::Nowhere),
            ..current(&first, tie)
        };
        mark(&mut replica, cleared);
    }
}

// Guarantee: H-04
#[test]
fn marks_go_in_the_command_in_which_an_object_goes() {
    let mut replica = Replica::with_posts();
    let other = posts::object_named("other");
    let other_uid = replica.stores(&other);
    let first = create(&mut replica, 0, 10);
    create(&mut replica, 1, 10);
    let tie = replica.tie(3);
    mark(&mut replica, current(&first, tie));
    let used = MarkControllerRevisions {
        current: None,
        in_use: Some(InUse {
            marker: Marker::parse("web-0").unwrap(),
            names: [first.clone()].into(),
        }),
        ..current(&first, MarkTie::Object(other.clone(), other_uid))
    };
    mark(&mut replica, used);
    let delete = |key| match posts::deletion(key) {
        Command::DeleteObject(delete) => synod_model::Operation::Delete(delete),
        other => panic!("no deletion: {other:?}"),
    };
    let at = replica.state.revision();
    replica.done(Command::Transact(Transact {
        compares: Vec::new(),
        operations: vec![delete(&posts::object()), delete(&other)],
        reads: Vec::new(),
        fences: synod_model::Fences::default(),
    }));
    let rows = replica.state.rows();
    let events = rows.filter_map(|row| match row {
        Row::Events(events) if events.revision > at => Some(events),
        _ => None,
    });
    let events: Vec<_> = events.collect();
    let [events] = &events[..] else {
        panic!("one command makes one revision");
    };
    let changed = events.changes.iter();
    let changed = changed.filter_map(|change| change.of::<ControllerRevision>());
    let changed: Vec<_> = changed
        .map(|change| (change.before, change.after))
        .collect();
    let [(Some(before), Some(after))] = &changed[..] else {
        panic!("one event for one snapshot: {changed:?}");
    };
    assert_eq!(before.marks.iter().count(), 2);
    assert!(!after.marks.is_live());
    assert_eq!(truncate(&mut replica, 0), [1]);
}

#[test]
fn a_mark_that_is_tied_anew_is_tied_so_alone() {
    let mut replica = Replica::with_posts();
    let first = create(&mut replica, 0, 10);
    create(&mut replica, 1, 10);
    mark(&mut replica, current(&first, MarkTie::Renewals(Ttl::MIN)));
    let tie = replica.tie(2);
    assert!(mark(&mut replica, current(&first, tie)).changed);
    replica.waits(60);
    assert_eq!(truncate(&mut replica, 0), [0, 1]);
    mark(
        &mut replica,
        current(&first, MarkTie::Renewals(seconds(10))),
    );
    replica.leaves();
    assert_eq!(truncate(&mut replica, 0), [0, 1]);
    replica.waits(10);
    assert_eq!(truncate(&mut replica, 0), [1]);
}

// Guarantee: H-04
#[test]
fn a_truncation_to_nothing_leaves_the_newest() {
    let mut replica = Replica::formed();
    for state in 0..3 {
        create(&mut replica, state, 10);
    }
    assert_eq!(
        truncate(&mut replica, 1),
        [1, 2],
        "the newest does not count"
    );
    assert_eq!(truncate(&mut replica, 0), [2]);
}

#[test]
fn what_a_create_takes_the_place_of_can_still_be_marked() {
    let mut replica = Replica::formed();
    let first = create(&mut replica, 0, 0);
    let second = create(&mut replica, 1, 0);
    let marking = MarkControllerRevisions {
        update: Some(Mark::On(second)),
        ..current(&first, MarkTie::default())
    };
    mark(&mut replica, marking);
    assert_eq!(truncate(&mut replica, 0), [0, 1]);
    create(&mut replica, 2, 0);
    create(&mut replica, 3, 0);
    assert_eq!(states(&replica), [0, 1, 2, 3], "it may be marked yet");
    create(&mut replica, 4, 0);
    assert_eq!(states(&replica), [0, 1, 3, 4], "nobody has said so");
}

#[test]
fn a_create_marks_the_update_in_the_same_command() {
    let mut replica = Replica::formed();
    let marking = |state: u8, selects: bool| CreateControllerRevision {
        mark_update: Some(MarkTie::Renewals(seconds(10))),
        history_limit: 0,
        ..wanting(0, target(state, 0), selects)
    };
    let first = wants(&mut replica, marking(0, false));
    let at = replica.state.revision();
    let marked = |replica: &Replica| -> Vec<u8> {
        let seen = replica.history(0).into_iter();
        seen.filter(|seen| seen.4.contains_key("update"))
            .map(|seen| seen.2)
            .collect()
    };
    assert_eq!(marked(&replica), [0]);
    replica.waits(9);
    let again = wants(&mut replica, marking(0, false));
    assert_eq!(again.outcome, RevisionOutcome::Unchanged);
    assert_eq!(replica.state.revision(), at, "it was renewed and no more");
    replica.waits(9);
    assert_eq!(marked(&replica), [0]);
    wants(&mut replica, marking(1, false));
    assert_eq!((states(&replica), marked(&replica)), (vec![0, 1], vec![1]));
    let back = wants(&mut replica, marking(0, false));
    assert_eq!(back.outcome, RevisionOutcome::RolledBack);
    assert_eq!(marked(&replica), [0]);
    // The mark belongs to the owner as a whole, whatever the selector matches.
    let relabelled = UpdateControllerRevision {
        key: key(&first.name),
        preconditions: Preconditions::default(),
        number: None,
        labels: Some(synod_model::Labels::parse([("app", "was-web")]).unwrap()),
        annotations: None,
        data: None,
    };
    replica.done(Command::UpdateControllerRevision(relabelled));
    wants(&mut replica, marking(2, true));
    assert_eq!(marked(&replica), [2]);
    replica.waits(10);
    assert_eq!(marked(&replica), [0_u8; 0]);
}

#[test]
fn what_goes_at_once_bounds_how_much_is_tied_to_it() {
    let mut replica = Replica::with_posts();
    let tie = replica.tie(2);
    let names: Vec<_> = (0..5)
        .map(|number| {
            let text = format!(
                r#"{{"n":{number},"x":"{}"}}"#,
                "x".repeat(TIED_REVISION_BYTES_MAX / 5)
            );
            let create = CreateControllerRevision {
                history_limit: 100,
                ..wanting(number % 2, json(&text), false)
            };
            (number % 2, wants(&mut replica, create).name)
        })
        .collect();
    let uses = |owner: usize, count: usize| {
        let names = names.iter().filter(|(of, _)| *of == owner).take(count);
        Command::MarkControllerRevisions(MarkControllerRevisions {
            history: history(owner, false),
            current: None,
            in_use: Some(InUse {
                marker: Marker::parse("pods").unwrap(),
                names: names.map(|(_, name)| name.clone()).collect(),
            }),
            ..current(&object_name("none"), tie.clone())
        })
    };
    replica.done(uses(0, 2));
    replica.done(uses(1, 2));
    let refused = refusal(replica.send(uses(0, 3)));
    assert_eq!(refused.kind, ErrorKind::Quota);
    replica.done(uses(1, 1));
    replica.done(uses(0, 3));
}

#[test]
fn an_update_without_a_resource_version_is_none() {
    let update = UpdateControllerRevision {
        key: key(&object_name("web-1")),
        preconditions: Preconditions::default(),
        number: Some(RevisionNumber::MAX),
        labels: None,
        annotations: None,
        data: None,
    };
    let refused = update.check().into_refusal().to_string();
    let words = "metadata.resourceVersion: Invalid value: 0: must be specified for an update";
    assert!(refused.contains(words), "{refused}");
    let seen = UpdateControllerRevision {
        preconditions: Preconditions {
            uid: None,
            resource_version: Some(Revision::new(7)),
        },
        ..update
    };
    assert!(seen.check().is_empty());
}
