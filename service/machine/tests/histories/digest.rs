//! Every field of a snapshot is part of the digest, so two replicas that differ in one field get different digests.

use std::sync::Arc;

use synod_machine::{Change, Command, ObjectRef, ObjectRow, RevisionEvents, Row, State};
use synod_model::{
    Annotations, ControllerRevision, CreateControllerRevision, Epoch, InUse, Labels, LiveMark,
    Mark, MarkControllerRevisions, MarkTie, Marker, Revision, RevisionNumber, Ttl,
};

use crate::posts;
use crate::replica::{Replica, history, in_version, json, key, object_name, target, uid, wanting};

fn marker(name: &str) -> Marker {
    Marker::parse(name).expect("a legal marker")
}

fn state() -> State {
    let mut replica = Replica::formed();
    let create = CreateControllerRevision {
        annotations: Annotations::parse([("why", "x")]).expect("a legal annotation"),
        ..wanting(0, target(0, 0), false)
    };
    replica.done(Command::CreateControllerRevision(create));
    let name = replica.history(0)[0].0.clone();
    replica.done(Command::MarkControllerRevisions(MarkControllerRevisions {
        history: history(0, false),
        current: Some(Mark::On(object_name(&name))),
        update: None,
        in_use: Some(InUse {
            marker: marker("7"),
            names: [object_name(&name)].into(),
        }),
        tie: MarkTie::Renewals(Ttl::MIN),
    }));
    replica.state
}

/// Whether a change of one row makes the rows invalid.
fn is_found_out(change: impl Fn(&mut Row) -> bool) -> bool {
    let mut rows: Vec<Row> = state().rows().collect();
    let changed = rows
        .iter_mut()
        .map(change)
        .filter(|changed| *changed)
        .count();
    assert!(changed > 0, "something was changed");
    let fault = State::from_rows(rows)
        .map(|_| ())
        .expect_err("it is another state");
    let fault = fault.to_string();
    fault.contains("its digest is")
}

#[test]
fn of_snapshots() {
    let changes: Vec<fn(&mut ControllerRevision)> = vec![
        |it| it.key = key(&object_name("other")),
        |it| it.metadata.resource_version = Revision::new(1),
        |it| it.metadata.generation += 1,
        |it| it.metadata.uid = uid(9),
        |it| it.labels = Labels::default(),
        |it| it.annotations = Annotations::default(),
        |it| it.controller = None,
        |it| it.controller.as_mut().unwrap().uid = uid(9),
        |it| it.controller.as_mut().unwrap().name = object_name("other"),
        |it| it.controller.as_mut().unwrap().block_owner_deletion = false,
        |it| it.number = RevisionNumber::MAX,
        |it| it.data = json("{}"),
        |it| it.data = it.data.clone().in_version(Some(in_version(1))),
        |it| it.marks.clear(&LiveMark::Current),
        |it| it.marks.set(LiveMark::Update, MarkTie::DEFAULT),
        |it| it.marks.set(LiveMark::Current, MarkTie::DEFAULT),
        |it| {
            let tie = MarkTie::Member(posts::member(), Epoch::new(Revision::new(1)));
            it.marks.set(LiveMark::Current, tie);
        },
        |it| {
            let tie = MarkTie::Object(posts::object(), uid(1));
            it.marks.set(LiveMark::Current, tie);
        },
        |it| it.marks.clear(&LiveMark::InUse(marker("7"))),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let found = is_found_out(|row| match row {
            Row::ControllerRevision(row) => {
                change(Arc::make_mut(row));
                true
            }
            _ => false,
        });
        assert!(found, "change {number}");
    }
}

fn before(change: &mut Change) -> &mut ControllerRevision {
    match &mut change.before {
        Some(ObjectRow::ControllerRevision(row)) => Arc::make_mut(row),
        _ => panic!("no other event"),
    }
}

#[test]
fn of_their_events() {
    let changes: Vec<fn(&mut Change)> = vec![
        |it| it.object = ObjectRef::ControllerRevision(key(&object_name("other"))),
        |it| it.before = None,
        |it| it.after = None,
        |it| before(it).marks.set(LiveMark::Update, MarkTie::DEFAULT),
        |it| {
            let before = before(it);
            before.data = before.data.clone().in_version(Some(in_version(1)));
        },
    ];
    let is_modification = |events: &RevisionEvents| {
        let mut changes = events.changes.iter();
        changes.any(|change| {
            let change = change.of::<ControllerRevision>();
            change.is_some_and(|change| change.before.is_some())
        })
    };
    for (number, change) in changes.into_iter().enumerate() {
        let found = is_found_out(|row| match row {
            Row::Events(events) if is_modification(events) => {
                Arc::make_mut(events).changes.iter_mut().for_each(change);
                true
            }
            _ => false,
        });
        assert!(found, "change {number}");
    }
}
