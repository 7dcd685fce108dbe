//! Tests of the rules of a history, one rule at a time.

use bytes::Bytes;
use synod_machine::{Answer, Command, Outcome, RevisionAnswer, RevisionOutcome};
use synod_model::limits::{
    COLLISIONS_TRIED_MAX, LABELS_MAX, MARKERS_MAX, REVISION_BYTES_MARKED_MAX, STATE_RESERVE_BYTES,
};
use synod_model::{
    AdoptControllerRevisions, Annotations, CreateControllerRevision, Current,
    DeleteControllerRevisions, Equality, ErrorKind, HASH_LABEL, InUse, Labels, Mark,
    MarkControllerRevisions, MarkTie, Marker, MediaType, Namespace, NamespacedName, ObjectName,
    Preconditions, Refusal, ReleaseControllerRevision, Revision, RevisionData, RevisionNumber,
    RollbackControllerRevision, RollbackTarget, SettingsPatch, TruncateControllerRevisions,
    UpdateControllerRevision, UpdateSettings,
};

use crate::replica::{Replica, history, in_version, json, key, object_name, target, uid, wanting};

pub(crate) fn created(replica: &mut Replica, create: CreateControllerRevision) -> RevisionAnswer {
    match replica.done(Command::CreateControllerRevision(create)) {
        Answer::ControllerRevision(answer) => answer,
        other => panic!("not the answer of a create: {other:?}"),
    }
}

fn want(replica: &mut Replica, text: &str) -> RevisionAnswer {
    created(replica, wanting(0, json(text), false))
}

fn refusal(outcome: Outcome) -> Refusal {
    assert!(!outcome.changed);
    outcome.result.expect_err("it is refused")
}

fn update(name: &NamespacedName) -> UpdateControllerRevision {
    UpdateControllerRevision {
        key: name.clone(),
        preconditions: Preconditions::default(),
        number: None,
        labels: None,
        annotations: None,
        data: None,
    }
}

fn marking(owner: usize) -> MarkControllerRevisions {
    MarkControllerRevisions {
        history: history(owner, false),
        current: None,
        update: None,
        in_use: None,
        tie: MarkTie::DEFAULT,
    }
}

// Guarantee: H-01
#[test]
fn what_is_wanted_again_is_told_from_what_is_new_in_one_command() {
    let mut replica = Replica::formed();
    let first = want(&mut replica, r#"{"a":1,"b":[]}"#);
    assert_eq!(
        (first.outcome, first.number.get()),
        (RevisionOutcome::Created, 1)
    );
    let before = replica.state.revision();
    let again = want(&mut replica, r#"{ "b": [], "a": 1.0 }"#);
    assert_eq!(
        (again.outcome, &again.name),
        (RevisionOutcome::Unchanged, &first.name)
    );
    assert_eq!(replica.state.revision(), before, "nothing was written");
    let second = want(&mut replica, r#"{"a":2}"#);
    assert_eq!(
        (second.outcome, second.number.get()),
        (RevisionOutcome::Created, 2)
    );
    let back = want(&mut replica, r#"{"a":1,"b":[]}"#);
    assert_eq!(
        (back.outcome, back.number.get()),
        (RevisionOutcome::RolledBack, 3)
    );
    let row = replica
        .state
        .present()
        .controller_revision(&key(&back.name))
        .unwrap();
    assert_eq!(
        &row.data.bytes()[..],
        br#"{"a":1,"b":[]}"#,
        "the data stays as it was given"
    );
}

// Guarantee: MG-25
#[test]
fn a_version_that_was_unknown_is_learned_from_who_wants_the_same_again() {
    let mut replica = Replica::formed();
    let wanting_in = |replica: &mut Replica, text: &str, version: Option<u8>| {
        let data = json(text).in_version(version.map(in_version));
        let answer = created(replica, wanting(0, data, false));
        let row = replica
            .state
            .present()
            .controller_revision(&key(&answer.name))
            .expect("it was just wanted");
        (answer.outcome, row)
    };
    let (_, first) = wanting_in(&mut replica, r#"{"a":1}"#, None);
    assert_eq!(first.data.version(), None);
    let before = replica.state.revision();
    let (outcome, told) = wanting_in(&mut replica, r#"{"a":1.0}"#, Some(1));
    assert_eq!(outcome, RevisionOutcome::Unchanged);
    assert_eq!(told.data.version(), Some(&in_version(1)));
    assert_eq!(&told.data.bytes()[..], br#"{"a":1}"#);
    assert_eq!(told.metadata.resource_version, replica.state.revision());
    assert_eq!(told.number, first.number);
    let past = replica.state.at(before).expect("it is kept");
    let then = past.controller_revision(&first.key).expect("it was there");
    assert_eq!(then, first, "the past is as it was");
    // A version that was stated once stays.
    let known = replica.state.revision();
    for version in [None, Some(1), Some(2)] {
        let (outcome, told) = wanting_in(&mut replica, r#"{"a":1}"#, version);
        assert_eq!(outcome, RevisionOutcome::Unchanged);
        assert_eq!(told.data.version(), Some(&in_version(1)));
    }
    assert_eq!(replica.state.revision(), known);
    // A rollback takes over a stated version, too.
    wanting_in(&mut replica, r#"{"a":2}"#, None);
    wanting_in(&mut replica, r#"{"a":3}"#, None);
    let (outcome, back) = wanting_in(&mut replica, r#"{"a":2}"#, Some(2));
    assert_eq!(outcome, RevisionOutcome::RolledBack);
    assert_eq!(back.data.version(), Some(&in_version(2)));
}

#[test]
fn the_mode_of_equality_decides_what_is_new() {
    let mut replica = Replica::formed();
    let mut wanting_as = |text: &str, equality: Equality| {
        let create = CreateControllerRevision {
            equality,
            ..wanting(0, json(text), false)
        };
        created(&mut replica, create).outcome
    };
    assert_eq!(
        wanting_as(r#"{"a":1}"#, Equality::Json),
        RevisionOutcome::Created
    );
    assert_eq!(
        wanting_as(r#"{"a":1,"b":{}}"#, Equality::JsonIgnoringEmpty),
        RevisionOutcome::Unchanged
    );
    assert_eq!(
        wanting_as(r#"{"a":1.0}"#, Equality::Json),
        RevisionOutcome::Unchanged
    );
    assert_eq!(
        wanting_as(r#"{"a":1.0}"#, Equality::Bytes),
        RevisionOutcome::Created
    );
    assert_eq!(
        wanting_as(r#"{"a":1,"b":{}}"#, Equality::Json),
        RevisionOutcome::Created
    );
}

// Guarantee: H-02
#[test]
fn data_never_changes_whatever_path_is_tried() {
    let mut replica = Replica::formed();
    let first = want(&mut replica, r#"{"a":1}"#);
    let name = key(&first.name);
    for data in [json(r#"{"a":2}"#), json(r#"{"a":1.0}"#)] {
        let changed = UpdateControllerRevision {
            data: Some(data),
            ..update(&name)
        };
        let refusal = refusal(replica.send(Command::UpdateControllerRevision(changed)));
        assert_eq!(refusal.kind, ErrorKind::Immutable);
        assert!(refusal.message.contains("field is immutable"), "{refusal}");
    }
    let form = RevisionData::new(
        MediaType::parse("application/octet-stream").unwrap(),
        Bytes::from_static(br#"{"a":1}"#),
    );
    let changed = UpdateControllerRevision {
        data: Some(form.unwrap()),
        ..update(&name)
    };
    assert_eq!(
        refusal(replica.send(Command::UpdateControllerRevision(changed))).kind,
        ErrorKind::Immutable
    );
    // Data that is sent back unchanged is no change.
    let same = UpdateControllerRevision {
        data: Some(json(r#"{"a":1}"#)),
        ..update(&name)
    };
    assert!(
        !replica
            .send(Command::UpdateControllerRevision(same))
            .changed
    );
    want(&mut replica, r#"{"a":2}"#);
    replica.done(Command::RollbackControllerRevision(
        RollbackControllerRevision {
            history: history(0, false),
            to: RollbackTarget::Previous,
            if_newest: None,
        },
    ));
    let row = replica.state.present().controller_revision(&name).unwrap();
    assert_eq!(row.data, json(r#"{"a":1}"#));
}

#[test]
fn a_number_moves_forward_only_and_the_hash_stays() {
    let mut replica = Replica::formed();
    let first = want(&mut replica, r#"{"a":1}"#);
    let name = key(&first.name);
    let to = |number: u64| {
        let number = Some(RevisionNumber::new(number).unwrap());
        Command::UpdateControllerRevision(UpdateControllerRevision {
            number,
            ..update(&name)
        })
    };
    assert!(replica.send(to(7)).changed);
    assert!(!replica.send(to(7)).changed);
    assert_eq!(refusal(replica.send(to(6))).kind, ErrorKind::Immutable);
    let relabel = |labels: &[(&str, &str)]| {
        let labels = Some(Labels::parse(labels.iter().copied()).unwrap());
        Command::UpdateControllerRevision(UpdateControllerRevision {
            labels,
            ..update(&name)
        })
    };
    replica.done(relabel(&[("app", "other")]));
    let row = replica.state.present().controller_revision(&name).unwrap();
    assert_eq!(row.labels.get("app"), Some("other"));
    assert!(row.labels.get(HASH_LABEL).is_some());
    let refused = refusal(replica.send(relabel(&[(HASH_LABEL, "4")])));
    assert_eq!(refused.kind, ErrorKind::Immutable);
    let noted = UpdateControllerRevision {
        annotations: Some(Annotations::parse([("why", "x")]).unwrap()),
        ..update(&name)
    };
    assert!(
        replica
            .send(Command::UpdateControllerRevision(noted))
            .changed
    );
}

#[test]
fn a_lost_comparison_carries_the_snapshot_as_it_stands() {
    let mut replica = Replica::formed();
    let first = want(&mut replica, r#"{"a":1}"#);
    let stale = UpdateControllerRevision {
        preconditions: Preconditions {
            uid: None,
            resource_version: Some(Revision::new(1)),
        },
        number: Some(RevisionNumber::new(9).unwrap()),
        ..update(&key(&first.name))
    };
    let lost = refusal(replica.send(Command::UpdateControllerRevision(stale)));
    assert_eq!(lost.kind, ErrorKind::Conflict);
    let Some(Current::ControllerRevision(row)) = lost.current.map(|current| *current) else {
        panic!("the snapshot travels with the refusal");
    };
    let other = DeleteControllerRevisions::One {
        key: row.key.clone(),
        preconditions: Preconditions {
            uid: Some(uid(7)),
            resource_version: None,
        },
    };
    let lost = refusal(replica.send(Command::DeleteControllerRevisions(other)));
    assert_eq!(lost.kind, ErrorKind::Conflict);
    let unseen = CreateControllerRevision {
        if_newest: Some(Revision::ZERO),
        ..wanting(0, json(r#"{"a":2}"#), false)
    };
    let lost = refusal(replica.send(Command::CreateControllerRevision(unseen.clone())));
    assert_eq!(lost.kind, ErrorKind::Conflict);
    let seen = CreateControllerRevision {
        if_newest: Some(row.metadata.resource_version),
        ..unseen
    };
    assert_eq!(
        created(&mut replica, seen).outcome,
        RevisionOutcome::Created
    );
}

#[test]
fn names_that_collide_are_counted_on_and_never_without_end() {
    let mut replica = Replica::formed();
    let first = want(&mut replica, r#"{"a":1}"#);
    let other = created(&mut replica, wanting(1, json(r#"{"a":1}"#), false));
    assert_eq!((first.collision_count, other.collision_count), (0, 1));
    assert_ne!(first.name, other.name);
    let hash = |name| {
        let row = replica
            .state
            .present()
            .controller_revision(&key(name))
            .unwrap();
        row.labels.get(HASH_LABEL).unwrap().to_owned()
    };
    assert_eq!(
        hash(&first.name),
        hash(&other.name),
        "the label is the hash before the collision"
    );
    assert_eq!(first.name.as_str(), format!("web-{}", hash(&first.name)));
    for kept in 2..COLLISIONS_TRIED_MAX {
        let mut create = wanting(1, json(r#"{"a":1}"#), false);
        create.history.owner.uid = synod_model::Uid::from_bytes([(kept % 251) as u8; 16]);
        create.history.owner.uid = synod_model::Uid::derive(
            replica.state.cluster().unwrap(),
            Revision::new(u64::from(kept)),
            0,
        );
        assert_eq!(created(&mut replica, create).collision_count, kept);
    }
    let mut last = wanting(1, json(r#"{"a":1}"#), false);
    last.history.owner.uid = uid(200);
    created(
        &mut replica,
        CreateControllerRevision {
            collision_count: 1,
            ..last.clone()
        },
    );
    last.history.owner.uid = uid(201);
    let full = refusal(replica.send(Command::CreateControllerRevision(last.clone())));
    assert_eq!(full.kind, ErrorKind::AlreadyExists);
    let beyond = CreateControllerRevision {
        collision_count: 5_000,
        ..last
    };
    assert_eq!(created(&mut replica, beyond).collision_count, 5_000);
}

#[test]
fn a_generation_numbers_what_is_new_if_it_is_ahead() {
    let mut replica = Replica::formed();
    let mut numbered = |state: u8, number: u64| {
        let number = Some(RevisionNumber::new(number).unwrap());
        let create = CreateControllerRevision {
            number,
            ..wanting(0, target(state, 0), false)
        };
        created(&mut replica, create).number.get()
    };
    assert_eq!(numbered(0, 0), 0, "the first may have any number");
    assert_eq!(numbered(1, 7), 7);
    assert_eq!(numbered(2, 7), 8);
    assert_eq!(numbered(3, 3), 9);
    assert_eq!(
        numbered(1, 70),
        10,
        "what is wanted again comes after all others"
    );
}

#[test]
fn a_history_whose_numbers_are_used_up_takes_no_more() {
    let mut replica = Replica::formed();
    let last = CreateControllerRevision {
        number: Some(RevisionNumber::MAX),
        ..wanting(0, target(0, 0), false)
    };
    created(&mut replica, last);
    let more = wanting(0, target(1, 0), false);
    let refused = refusal(replica.send(Command::CreateControllerRevision(more)));
    assert_eq!(refused.kind, ErrorKind::Quota);
}

// Guarantee: H-03
#[test]
fn live_snapshots_do_not_count_and_the_newest_survives_any_limit() {
    let mut replica = Replica::formed();
    let names: Vec<_> = (0..5)
        .map(|state| created(&mut replica, wanting(0, target(state, 0), false)).name)
        .collect();
    // As in Kubernetes' vector: one is current, one is being rolled out, and a Pod still runs the oldest.
    let marks = MarkControllerRevisions {
        current: Some(Mark::On(names[3].clone())),
        update: Some(Mark::On(names[4].clone())),
        in_use: Some(InUse {
            marker: Marker::parse("web-0").unwrap(),
            names: [names[0].clone()].into(),
        }),
        ..marking(0)
    };
    replica.done(Command::MarkControllerRevisions(marks));
    let left = |replica: &mut Replica, limit: u32| {
        replica.done(Command::TruncateControllerRevisions(
            TruncateControllerRevisions {
                history: history(0, false),
                limit,
                if_newest: None,
            },
        ));
        let seen = replica.history(0);
        seen.into_iter().map(|seen| seen.2).collect::<Vec<_>>()
    };
    assert_eq!(left(&mut replica, 2), [0, 1, 2, 3, 4]);
    assert_eq!(left(&mut replica, 1), [0, 2, 3, 4]);
    let none = CreateControllerRevision {
        history_limit: 0,
        ..wanting(0, target(5, 0), false)
    };
    created(&mut replica, none);
    assert_eq!(
        replica
            .history(0)
            .iter()
            .map(|seen| seen.2)
            .collect::<Vec<_>>(),
        [0, 3, 4, 5]
    );
    assert_eq!(left(&mut replica, 0), [0, 3, 4, 5]);
    let cleared = MarkControllerRevisions {
        current: Some(Mark::Nowhere),
        update: Some(Mark::Nowhere),
        in_use: Some(InUse {
            marker: Marker::parse("web-0").unwrap(),
            names: [].into(),
        }),
        ..marking(0)
    };
    replica.done(Command::MarkControllerRevisions(cleared));
    assert_eq!(left(&mut replica, 0), [5]);
}

#[test]
fn a_nil_revision_is_legal_and_a_mark_on_what_is_not_there_is_not() {
    let mut replica = Replica::formed();
    let nil = MarkControllerRevisions {
        current: Some(Mark::Nowhere),
        ..marking(0)
    };
    assert!(!replica.send(Command::MarkControllerRevisions(nil)).changed);
    let other = created(&mut replica, wanting(1, target(0, 0), false));
    for name in [object_name("web-x"), other.name] {
        let absent = MarkControllerRevisions {
            update: Some(Mark::On(name)),
            ..marking(0)
        };
        let refused = refusal(replica.send(Command::MarkControllerRevisions(absent)));
        assert_eq!(refused.kind, ErrorKind::NotFound);
    }
    let nothing = RollbackControllerRevision {
        history: history(0, false),
        to: RollbackTarget::Previous,
        if_newest: None,
    };
    let refused = refusal(replica.send(Command::RollbackControllerRevision(nothing)));
    assert_eq!(refused.kind, ErrorKind::NotFound);
}

#[test]
fn marks_of_one_snapshot_are_bounded() {
    let mut replica = Replica::formed();
    let name = want(&mut replica, "{}").name;
    let mut use_as = |marker: usize| {
        let marking = MarkControllerRevisions {
            in_use: Some(InUse {
                marker: Marker::parse(&format!("pod-{marker}")).unwrap(),
                names: [name.clone()].into(),
            }),
            ..marking(0)
        };
        replica.send(Command::MarkControllerRevisions(marking))
    };
    assert!((0..MARKERS_MAX).all(|marker| use_as(marker).changed));
    assert_eq!(refusal(use_as(MARKERS_MAX)).kind, ErrorKind::Quota);
    assert!(!use_as(0).changed);
}

#[test]
fn a_rollback_finds_its_target_by_number_by_name_or_before_the_newest() {
    let mut replica = Replica::formed();
    let names: Vec<_> = (0..3)
        .map(|state| created(&mut replica, wanting(0, target(state, 0), false)).name)
        .collect();
    let mut back = |to: RollbackTarget| {
        let rollback = RollbackControllerRevision {
            history: history(0, false),
            to,
            if_newest: None,
        };
        match replica.done(Command::RollbackControllerRevision(rollback)) {
            Answer::ControllerRevision(answer) => {
                (answer.name, answer.number.get(), answer.outcome)
            }
            other => panic!("not the answer of a rollback: {other:?}"),
        }
    };
    let rolled = RevisionOutcome::RolledBack;
    assert_eq!(
        back(RollbackTarget::Previous),
        (names[1].clone(), 4, rolled)
    );
    let first = RollbackTarget::Number(RevisionNumber::FIRST);
    assert_eq!(back(first), (names[0].clone(), 5, rolled));
    let third = RollbackTarget::Name(names[2].clone());
    assert_eq!(back(third.clone()), (names[2].clone(), 6, rolled));
    assert_eq!(
        back(third),
        (names[2].clone(), 6, RevisionOutcome::Unchanged)
    );
}

// Guarantee: H-05
#[test]
fn a_history_stays_without_its_owner_until_it_is_asked_to_go() {
    let mut replica = Replica::formed();
    for state in 0..3 {
        created(&mut replica, wanting(0, target(state, 0), false));
        created(&mut replica, wanting(1, target(state, 0), false));
    }
    let elsewhere = DeleteControllerRevisions::HistoryOf {
        namespace: Namespace::parse("other").unwrap(),
        owner: uid(0),
    };
    assert!(
        !replica
            .send(Command::DeleteControllerRevisions(elsewhere))
            .changed
    );
    let all = DeleteControllerRevisions::HistoryOf {
        namespace: Namespace::parse("default").unwrap(),
        owner: uid(0),
    };
    replica.done(Command::DeleteControllerRevisions(all));
    assert!(replica.history(0).is_empty());
    assert_eq!(
        replica.history(1).len(),
        3,
        "another kind of that name keeps its history"
    );
}

#[test]
fn only_orphans_can_be_adopted_and_whoever_lets_go_has_let_go() {
    let mut replica = Replica::formed();
    let name = want(&mut replica, "{}").name;
    let adopt = |owner: usize| {
        Command::AdoptControllerRevisions(AdoptControllerRevisions {
            history: history(owner, false),
            name: Some(name.clone()),
        })
    };
    let release = |owner: usize| {
        Command::ReleaseControllerRevision(ReleaseControllerRevision {
            key: key(&name),
            owner: uid(owner),
            preconditions: Preconditions::default(),
        })
    };
    let refused = refusal(replica.send(adopt(1)));
    assert_eq!(refused.kind, ErrorKind::Conflict);
    assert!(
        refused
            .message
            .contains("attempt to adopt revision owned by"),
        "{refused}"
    );
    assert!(!replica.send(adopt(0)).changed, "it has what it asks for");
    assert!(
        !replica.send(release(1)).changed,
        "another owner's is left alone"
    );
    assert!(replica.send(release(0)).changed);
    assert!(!replica.send(release(0)).changed, "an orphan is left alone");
    assert!(replica.send(adopt(1)).changed);
    assert_eq!((replica.history(0).len(), replica.history(1).len()), (0, 1));
    let gone = DeleteControllerRevisions::One {
        key: key(&name),
        preconditions: Preconditions::default(),
    };
    replica.done(Command::DeleteControllerRevisions(gone));
    assert_eq!(refusal(replica.send(adopt(0))).kind, ErrorKind::NotFound);
    assert!(
        !replica.send(release(1)).changed,
        "what is gone is released"
    );
}

#[test]
fn one_command_deletes_and_adopts_only_so_much() {
    let mut replica = Replica::formed();
    let large = |number: u8| {
        let text = format!(r#"{{"n":{number},"x":"{}"}}"#, "x".repeat(1_000_000));
        CreateControllerRevision {
            history_limit: 100,
            ..wanting(0, json(&text), false)
        }
    };
    for number in 0..6 {
        created(&mut replica, large(number));
    }
    let truncate = || {
        Command::TruncateControllerRevisions(TruncateControllerRevisions {
            history: history(0, false),
            limit: 0,
            if_newest: None,
        })
    };
    let Answer::ControllerHistory(answer) = replica.done(truncate()) else {
        panic!("not the answer of a truncation");
    };
    assert_eq!((answer.deleted, answer.left), (4, 1));
    let Answer::ControllerHistory(answer) = replica.done(truncate()) else {
        panic!("not the answer of a truncation");
    };
    assert_eq!((answer.deleted, answer.left), (1, 0));
}

#[test]
fn a_full_quota_stops_new_snapshots_and_nothing_else() {
    let mut replica = Replica::formed();
    let first = created(&mut replica, wanting(0, target(0, 0), false));
    created(&mut replica, wanting(0, target(1, 0), false));
    let filler = format!(r#"{{"x":"{}"}}"#, "x".repeat(1_000_000));
    let quota = SettingsPatch {
        state_quota_bytes: Some(128 << 20),
        history_bytes: Some(16 << 20),
        ..SettingsPatch::default()
    };
    replica.done(Command::UpdateSettings(UpdateSettings {
        patch: quota,
        if_revision: None,
    }));
    let mut number = 0;
    let refused = loop {
        number += 1;
        assert!(
            number < 200,
            "{STATE_RESERVE_BYTES} bytes of 128 MiB are in reserve"
        );
        let data = json(&filler.replacen('x', &format!("k{number}"), 1));
        let create = CreateControllerRevision {
            history_limit: 1_000,
            ..wanting(1, data, false)
        };
        let outcome = replica.send(Command::CreateControllerRevision(create));
        if let Err(refusal) = outcome.result {
            break refusal;
        }
    };
    assert_eq!(refused.kind, ErrorKind::Quota);
    let back = created(&mut replica, wanting(0, target(0, 0), false));
    assert_eq!(
        (back.outcome, back.name),
        (RevisionOutcome::RolledBack, first.name)
    );
    replica.done(Command::TruncateControllerRevisions(
        TruncateControllerRevisions {
            history: history(1, false),
            limit: 1,
            if_newest: None,
        },
    ));
}

// Guarantee: D-15, TM-21
#[test]
fn labels_without_room_for_the_hash_are_refused_and_nothing_ends() {
    let mut replica = Replica::formed();
    let made = want(&mut replica, "{}");
    let labels = |count: usize| {
        let pairs = (0..count).map(|i| (format!("l-{i}"), String::new()));
        Labels::parse(pairs).unwrap()
    };
    let seen = Preconditions {
        uid: None,
        resource_version: Some(replica.state.revision()),
    };
    let relabel = |labels: Labels| UpdateControllerRevision {
        preconditions: seen,
        labels: Some(labels),
        ..update(&key(&made.name))
    };
    assert!(!relabel(labels(LABELS_MAX)).check().is_empty());
    assert!(relabel(labels(LABELS_MAX - 1)).check().is_empty());
    // As if the command came from the log without the checks of a request.
    let outcome = replica.send(Command::UpdateControllerRevision(relabel(labels(
        LABELS_MAX,
    ))));
    assert_eq!(refusal(outcome).kind, ErrorKind::InvalidArgument);
    replica.done(Command::UpdateControllerRevision(relabel(labels(
        LABELS_MAX - 1,
    ))));
    let row = replica
        .state
        .present()
        .controller_revision(&key(&made.name));
    let row = row.unwrap();
    assert_eq!(row.labels.len(), LABELS_MAX);
    assert!(row.labels.get(HASH_LABEL).is_some());
}

#[test]
fn a_mark_changes_as_many_bytes_as_one_command_may_and_the_others_can_follow() {
    let mut replica = Replica::formed();
    let long = "x".repeat(REVISION_BYTES_MARKED_MAX / 20);
    let names: Vec<_> = (0..21)
        .map(|i| {
            let bytes = Bytes::from(format!("{i}{long}"));
            let media_type = MediaType::parse("application/octet-stream").unwrap();
            let data = RevisionData::new(media_type, bytes).unwrap();
            let create = CreateControllerRevision {
                history_limit: 100,
                equality: Equality::Bytes,
                ..wanting(0, data, false)
            };
            created(&mut replica, create).name
        })
        .collect();
    let using = |names: &[ObjectName]| {
        Command::MarkControllerRevisions(MarkControllerRevisions {
            in_use: Some(InUse {
                marker: Marker::parse("pods").unwrap(),
                names: names.iter().cloned().collect(),
            }),
            ..marking(0)
        })
    };
    let before = replica.state.revision();
    let outcome = replica.send(using(&names));
    assert_eq!(refusal(outcome).kind, ErrorKind::TooLarge);
    assert_eq!(replica.state.revision(), before);
    replica.done(using(&names[..10]));
    replica.done(using(&names));
    for name in &names {
        let row = replica.state.present().controller_revision(&key(name));
        assert_eq!(row.unwrap().marks.in_use().count(), 1);
    }
}
