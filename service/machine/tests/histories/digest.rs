//! Every field of a snapshot is part of the digest: two replicas that differ in one of them find out.

use std::sync::Arc;

use synod_machine::{Change, Command, RevisionEvents, Row, State};
use synod_model::{
    Annotations, ControllerRevision, CreateControllerRevision, InUse, Labels, Mark,
    MarkControllerRevisions, Marker, Revision, RevisionNumber,
};

use crate::replica::{Replica, history, json, key, object_name, target, uid, wanting};

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
            marker: Marker::parse("7").expect("a legal marker"),
            names: [object_name(&name)].into(),
        }),
    }));
    replica.state
}

/// Whether the rows are no state any more once one of them was changed.
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
        |it| it.marks.current = false,
        |it| it.marks.update = true,
        |it| it.marks.in_use.clear(),
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

#[test]
fn of_their_events() {
    let changes: Vec<fn(&mut Change)> = vec![
        |it| match it {
            Change::ControllerRevision { key: name, .. } => *name = key(&object_name("other")),
            _ => panic!("no other event"),
        },
        |it| match it {
            Change::ControllerRevision { before, .. } => *before = None,
            _ => panic!("no other event"),
        },
        |it| match it {
            Change::ControllerRevision { after, .. } => *after = None,
            _ => panic!("no other event"),
        },
        |it| match it {
            Change::ControllerRevision { before, .. } => {
                Arc::make_mut(before.as_mut().unwrap()).marks.update = true;
            }
            _ => panic!("no other event"),
        },
    ];
    let is_modification = |events: &RevisionEvents| {
        let mut changes = events.changes.iter();
        changes.any(|change| {
            matches!(
                change,
                Change::ControllerRevision {
                    before: Some(_),
                    ..
                }
            )
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
