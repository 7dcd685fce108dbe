//! Snapshots that are created under a name, by whoever compares and counts itself.

use synod_machine::{Command, RevisionOutcome};
use synod_model::limits::HISTORY_LIMIT_MAX;
use synod_model::{
    CreateControllerRevision, Current, ErrorKind, HASH_LABEL, Labels, Preconditions,
    ReleaseControllerRevision, RevisionNumber,
};

use crate::raised::raised;
use crate::replica::{Replica, key, object_name, target, uid, wanting};
use crate::stories::created;

fn named(name: &str, state: u8, number: Option<u64>) -> CreateControllerRevision {
    CreateControllerRevision {
        name: Some(object_name(name)),
        number: number.map(|number| RevisionNumber::new(number).expect("a legal number")),
        history_limit: 0,
        ..wanting(0, target(state, 0), false)
    }
}

fn upgraded() -> Replica {
    let mut replica = Replica::formed();
    for command in raised() {
        replica.done(command);
    }
    replica
}

#[test]
fn a_name_is_given_whatever_the_history_holds_and_only_once() {
    let mut replica = upgraded();
    let first = created(&mut replica, named("web-a", 0, None));
    assert_eq!(first.outcome, RevisionOutcome::Created);
    // The same data again, and a number that is there already.
    let second = created(&mut replica, named("web-b", 0, Some(1)));
    assert_eq!(
        (second.name.as_str(), second.number.get(), second.outcome),
        ("web-b", 1, RevisionOutcome::Created)
    );
    assert_eq!(
        created(&mut replica, named("web-c", 1, None)).number.get(),
        2
    );
    let names: Vec<String> = replica.history(0).into_iter().map(|it| it.0).collect();
    assert_eq!(names, ["web-a", "web-b", "web-c"], "none is deleted");

    let again = Command::CreateControllerRevision(named("web-b", 2, None));
    let refused = replica.send(again);
    assert!(!refused.changed);
    let refusal = refused.result.expect_err("the name is taken");
    assert_eq!(refusal.kind, ErrorKind::AlreadyExists);
    let Some(Current::ControllerRevision(present)) = refusal.current.as_deref() else {
        panic!("it tells who has it: {refusal}");
    };
    assert_eq!(present.key.name(), "web-b");
    // Who leaves the comparison to the replica finds what is there.
    let wanted = created(&mut replica, wanting(0, target(1, 0), false));
    assert_eq!(
        (wanted.name.as_str(), wanted.outcome),
        ("web-c", RevisionOutcome::Unchanged)
    );
}

#[test]
fn a_named_snapshot_has_the_hash_of_its_data() {
    let mut replica = upgraded();
    created(&mut replica, named("web-a", 0, None));
    let other = created(&mut replica, wanting(1, target(0, 0), false));
    let hash = |name: &str| {
        let rows = replica.state.present();
        let mut all = rows.controller_revisions(None);
        let found = all.find(|row| row.key.name() == name).expect("it is there");
        found.labels.get(HASH_LABEL).map(str::to_owned)
    };
    assert!(hash("web-a").is_some());
    assert_eq!(hash("web-a"), hash(other.name.as_str()));
    let mut hashed = named("web-x", 0, None);
    hashed.labels = Labels::parse([(HASH_LABEL, "x")]).expect("legal");
    assert_eq!(hashed.check().len(), 1);
}

#[test]
fn a_name_waits_for_the_machine_version_that_knows_it() {
    let mut replica = Replica::formed();
    let refused = replica.send(Command::CreateControllerRevision(named("web-a", 0, None)));
    let refusal = refused.result.expect_err("it is too early");
    assert_eq!(refusal.kind, ErrorKind::Unavailable);
    assert!(refusal.message.contains("machine version 2"), "{refusal}");
}

/// Nothing is deleted for whoever names its snapshots, so there is an end to them.
#[test]
fn a_controller_has_so_many_snapshots_under_names_and_no_more() {
    let mut replica = upgraded();
    for number in 1..=u64::from(HISTORY_LIMIT_MAX) {
        let told = created(&mut replica, named(&format!("web-{number}"), 0, None));
        assert_eq!(
            (told.number.get(), told.outcome),
            (number, RevisionOutcome::Created)
        );
    }
    let more = || Command::CreateControllerRevision(named("web-more", 0, None));
    let refused = replica.send(more());
    assert!(!refused.changed);
    let refusal = refused.result.expect_err("the history is full");
    assert_eq!(refusal.kind, ErrorKind::Quota, "{refusal}");
    assert!(refusal.message.contains("delete the oldest"), "{refusal}");
    // Another controller has a history of its own, and a taken name is told of all the same.
    created(
        &mut replica,
        CreateControllerRevision {
            name: Some(object_name("db-1")),
            ..wanting(1, target(0, 0), false)
        },
    );
    let taken = replica.send(Command::CreateControllerRevision(named("web-1", 0, None)));
    let refusal = taken.result.expect_err("the name is taken");
    assert_eq!(refusal.kind, ErrorKind::AlreadyExists);
    // Whoever leaves it to the replica is within its limit at once, a part of it in each command.
    created(&mut replica, wanting(0, target(1, 0), false));
    let told = created(&mut replica, named("web-more", 0, None));
    assert_eq!(told.outcome, RevisionOutcome::Created);
}

#[test]
fn a_named_snapshot_adopts_nothing() {
    let mut replica = upgraded();
    let first = created(&mut replica, wanting(0, target(0, 0), true));
    let release = ReleaseControllerRevision {
        key: key(&first.name),
        owner: uid(0),
        preconditions: Preconditions::default(),
    };
    replica.done(Command::ReleaseControllerRevision(release));
    let create = CreateControllerRevision {
        name: Some(object_name("web-b")),
        ..wanting(0, target(0, 0), true)
    };
    let told = created(&mut replica, create);
    assert_eq!((told.number.get(), told.history.adopted), (1, 0));
    let names: Vec<String> = replica.history(0).into_iter().map(|it| it.0).collect();
    assert_eq!(names, ["web-b"]);
}
