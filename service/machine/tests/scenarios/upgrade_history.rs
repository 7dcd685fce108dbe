//! The floor of the upgrade history, and the time and the caller of a revision.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use synod_machine::{
    Command, Compacted, Envelope, EventScope, MACHINE_VERSION, OutOfReach, Outcome, RevisionEvents,
    Row, State, TimeNotKept,
};
use synod_model::{
    Actor, Attributes, Identity, ObjectKind, OpenSession, Revision, SettingsPatch, WallTime,
};

use crate::cluster::{Cluster, accepted, join};
use crate::entry::{of, release, resource};
use crate::raised::raised;
use crate::shelf::{content, widget};

/// A cluster under the newest machine version with a collection, that keeps this number of revisions.
fn keeping(revisions: u64) -> Cluster {
    let mut cluster = Cluster::with_widgets();
    for command in raised() {
        accepted(cluster.send(command));
    }
    cluster.set(SettingsPatch {
        history_revisions: Some(revisions),
        ..SettingsPatch::default()
    });
    cluster
}

/// Writes the same object again and again, each time with other data.
fn writes(cluster: &mut Cluster, times: u64) {
    let busy = widget("a/busy");
    if !cluster.has(&busy) {
        cluster.stores(&busy, Attributes::default());
    }
    for i in 0..times {
        let data = format!(r#"{{"at":{},"i":{i}}}"#, cluster.revision());
        cluster.updates(&busy, Attributes::default(), content("v1", &data));
    }
}

fn by(identity: &str, command: Command) -> Envelope {
    let identity = Identity::parse(identity).expect("the story uses legal names");
    Envelope {
        actor: Some(Arc::new(Actor {
            identity,
            names: None,
        })),
        request: None,
        command: Arc::new(command),
    }
}

fn sent_by(cluster: &mut Cluster, identity: &str, command: Command) -> Outcome {
    cluster
        .apply(vec![by(identity, command)])
        .outcomes
        .remove(0)
}

fn events_of(cluster: &Cluster, revision: Revision) -> Arc<RevisionEvents> {
    let before = Revision::new(revision.get() - 1);
    let history = cluster.state.history();
    let events = history
        .next_in(EventScope::Upgrade, before)
        .expect("the history has it");
    let events = events.expect("the revision is kept");
    assert_eq!(events.revision, revision);
    Arc::clone(events)
}

/// All kept events, oldest first.
fn kept(state: &State) -> Vec<Arc<RevisionEvents>> {
    let rows = state.rows();
    let events = rows.filter_map(|row| match row {
        Row::Events(events) => Some(events),
        _ => None,
    });
    events.collect()
}

/// The number of kept revisions below the floor.
fn older(state: &State) -> usize {
    let floor = state.history().floor();
    let kept = kept(state);
    kept.iter().filter(|it| it.revision <= floor).count()
}

/// The callers that kept revisions name, and the places of their texts in memory.
fn callers(state: &State) -> (BTreeSet<Identity>, BTreeSet<*const u8>) {
    let kept = kept(state);
    let callers: Vec<Identity> = kept.iter().filter_map(|it| it.caller.clone()).collect();
    let places = callers.iter().map(|caller| caller.as_str().as_ptr());
    (callers.iter().cloned().collect(), places.collect())
}

/// The kept revisions with events of the upgrade history after `revision`.
fn upgrade_revisions(cluster: &Cluster, mut revision: Revision) -> Vec<Revision> {
    let history = cluster.state.history();
    let mut found = Vec::new();
    while let Some(events) = history
        .next_in(EventScope::Upgrade, revision)
        .expect("the history is kept")
    {
        revision = events.revision;
        let kinds = events.changes.iter().map(|change| change.object.kind());
        if kinds.into_iter().any(ObjectKind::is_in_upgrade_history) {
            found.push(revision);
        }
    }
    found
}

// Guarantee: E-04
#[test]
fn a_busy_collection_does_not_push_out_the_history_of_an_upgrade() {
    let mut cluster = keeping(20);
    // The first object of a version changes the storage state of its resource.
    writes(&mut cluster, 1);
    let begin = cluster.revision();
    let a = cluster.starts("a", &[release::second()]);
    cluster.reports(&a, &[release::third()]);
    let then = cluster.revision();
    let kept = cluster.state.clone();
    let expected = upgrade_revisions(&cluster, begin);
    assert_eq!(expected.len(), 3);
    writes(&mut cluster, 100);
    let history = cluster.state.history();
    assert_eq!(history.len(), 20);
    assert!(history.floor() > then);
    assert!(history.upgrade_floor() <= begin);
    assert_eq!(upgrade_revisions(&cluster, begin), expected);

    let past = cluster.state.at_in(EventScope::Upgrade, begin.next());
    assert_eq!(past.map(|past| past.members(None).count()), Ok(1));
    let past = cluster.state.at_in(EventScope::Upgrade, then).unwrap();
    let expected = kept.present();
    assert!(expected.members(None).eq(past.members(None)));
    assert!(
        expected
            .storage_versions(None)
            .eq(past.storage_versions(None))
    );
    assert!(expected.storage_states(None).eq(past.storage_states(None)));
    assert!(expected.migrations(None).eq(past.migrations(None)));
    assert_eq!(expected.settings(), past.settings());
}

// Guarantee: E-04
#[test]
fn a_read_of_any_other_kind_below_its_floor_is_compacted() {
    let mut cluster = keeping(5);
    cluster.starts("a", &[release::second()]);
    let then = cluster.revision();
    writes(&mut cluster, 20);
    let history = cluster.state.history();
    let floor = history.floor();
    assert!(history.next_in(EventScope::Upgrade, then).is_ok());
    let compacted = Compacted {
        oldest: floor.next(),
    };
    assert_eq!(history.next_in(EventScope::All, then), Err(compacted));
    let compacted = OutOfReach::Compacted { oldest: floor };
    assert_eq!(cluster.state.at(then).map(drop), Err(compacted));
    assert_eq!(
        cluster.state.object_at(&widget("a/busy"), then),
        Err(compacted)
    );

    let scope = |kinds: &[ObjectKind]| EventScope::for_kinds(&kinds.iter().copied().collect());
    let upgrade = [
        ObjectKind::Member,
        ObjectKind::StorageVersion,
        ObjectKind::StorageState,
        ObjectKind::Settings,
        ObjectKind::Migration,
        ObjectKind::Roster,
    ];
    assert_eq!(scope(&upgrade), EventScope::Upgrade);
    assert_eq!(scope(&[]), EventScope::All);
    for kind in ObjectKind::ALL {
        let alone = upgrade.contains(kind);
        assert_eq!(scope(&[*kind]) == EventScope::Upgrade, alone, "{kind}");
        let with_members = scope(&[*kind, ObjectKind::Member]);
        assert_eq!(with_members == EventScope::Upgrade, alone, "{kind}");
    }
}

#[test]
#[should_panic(expected = "Object cannot be read at revision")]
fn a_kind_outside_of_the_scope_is_never_read_as_it_was_not() {
    let mut cluster = keeping(5);
    let then = cluster.revision();
    writes(&mut cluster, 20);
    let past = cluster.state.at_in(EventScope::Upgrade, then).unwrap();
    let _ = past.object(&widget("a/busy"));
}

#[test]
fn the_upgrade_history_is_bounded_by_its_own_revisions() {
    let mut cluster = keeping(10);
    let mut made = Vec::new();
    for i in 0..15 {
        cluster.joins(&format!("server-{i}"));
        made.push(cluster.revision());
        writes(&mut cluster, 12);
    }
    let history = cluster.state.history();
    assert_eq!(history.len() + older(&cluster.state), 20);
    let floor = history.upgrade_floor();
    assert_eq!(floor, made[4], "ten are kept");
    assert_eq!(upgrade_revisions(&cluster, floor), made[5..]);
    let compacted = history.next_in(EventScope::Upgrade, made[3]);
    assert_eq!(
        compacted,
        Err(Compacted {
            oldest: floor.next()
        })
    );
    // Of a revision below the floor only the events of the upgrade history are left.
    writes(&mut cluster, 500);
    assert_eq!(cluster.state.history().upgrade_floor(), floor);
    assert_eq!(upgrade_revisions(&cluster, floor), made[5..]);
}

#[test]
fn the_upgrade_history_is_bounded_by_its_own_bytes() {
    let mut cluster = keeping(1_000);
    let a = cluster.joins("a");
    let begin = cluster.revision();
    for i in 0..20 {
        cluster.reports(&a, &[of(&format!("example.com.kinds{i}"))]);
        writes(&mut cluster, 2);
    }
    let limit = cluster.state.history().bytes() / 3;
    cluster.set(SettingsPatch {
        history_bytes: Some(limit),
        ..SettingsPatch::default()
    });
    let history = cluster.state.history();
    assert!(history.bytes() <= limit && history.all_bytes() <= 2 * limit);
    let floors = (history.floor(), history.upgrade_floor());
    assert!(begin < floors.1 && floors.1 < floors.0, "{floors:?}");
    writes(&mut cluster, 300);
    let history = cluster.state.history();
    assert!(history.floor() > floors.0);
    assert_eq!(history.upgrade_floor(), floors.1);
}

#[test]
fn both_floors_survive_a_checkpoint_and_a_restart() {
    let mut cluster = keeping(6);
    cluster.starts("a", &[release::second()]);
    let then = cluster.revision();
    sent_by(
        &mut cluster,
        "spiffe://synod/deployer",
        Command::Join(join("b", "b-first")),
    );
    writes(&mut cluster, 30);
    let before = cluster.state.clone();
    cluster.restart_from_checkpoint();
    let (old, new) = (before.history(), cluster.state.history());
    assert_eq!(before.digest(), cluster.state.digest());
    assert_eq!(new.floor(), old.floor());
    assert_eq!(new.upgrade_floor(), old.upgrade_floor());
    assert_eq!(new.all_bytes(), old.all_bytes());
    assert!(new.all_bytes() > new.bytes());
    assert_eq!(older(&cluster.state), older(&before));
    assert!(older(&cluster.state) > 2);
    assert_eq!(callers(&cluster.state).0, callers(&before).0);
    let events = events_of(&cluster, then.next());
    assert_eq!(
        events.caller.as_ref().map(ToString::to_string).as_deref(),
        Some("spiffe://synod/deployer")
    );
    // It goes on as the other replicas do.
    let mut other = Cluster::formed();
    other.state = before;
    for cluster in [&mut cluster, &mut other] {
        writes(cluster, 10);
    }
    assert_eq!(
        other.state.history().floor(),
        cluster.state.history().floor()
    );
}

#[test]
fn under_an_older_machine_version_there_is_one_floor_and_no_time() {
    let mut cluster = Cluster::with_widgets();
    cluster.set(SettingsPatch {
        history_revisions: Some(5),
        ..SettingsPatch::default()
    });
    sent_by(
        &mut cluster,
        "spiffe://synod/deployer",
        Command::Join(join("a", "a-first")),
    );
    let then = cluster.revision();
    let events = events_of(&cluster, then);
    assert_eq!((events.time, events.caller.as_ref()), (None, None));
    assert_eq!(
        cluster.state.history().revision_at(cluster.wall()),
        Err(TimeNotKept { oldest: None })
    );
    writes(&mut cluster, 10);
    let history = cluster.state.history();
    assert_eq!(history.upgrade_floor(), history.floor());
    let floor = history.floor();

    for command in raised() {
        accepted(cluster.send(command));
    }
    assert_eq!(cluster.state.machine_version(), MACHINE_VERSION);
    cluster.joins("b");
    let later = cluster.revision();
    writes(&mut cluster, 10);
    let history = cluster.state.history();
    assert!(history.floor() > later);
    assert!(history.upgrade_floor() >= floor);
    assert!(history.upgrade_floor() < later);
    let (oldest, _) = history.oldest_time().expect("times are kept from now on");
    assert!(oldest > floor);
}

#[test]
fn a_restore_empties_both_histories() {
    let mut cluster = keeping(5);
    cluster.joins("a");
    writes(&mut cluster, 20);
    assert!(older(&cluster.state) > 0);
    accepted(cluster.send(Command::Restore(synod_machine::Restore {
        cluster: synod_model::ClusterId::from_bytes([9; 16]),
    })));
    let history = cluster.state.history();
    assert_eq!((history.len(), older(&cluster.state)), (0, 0));
    assert_eq!(history.floor(), cluster.revision());
    assert_eq!(history.upgrade_floor(), cluster.revision());
    assert_eq!(history.all_bytes(), 0);
}

#[test]
fn a_revision_has_the_wall_clock_of_its_leader_and_the_identity_of_its_caller() {
    let mut cluster = keeping(100);
    cluster.pass(Duration::from_secs(60));
    let wall = cluster.wall();
    let ci = "system:serviceaccount:ci:deployer";
    accepted(sent_by(
        &mut cluster,
        ci,
        Command::Join(join("a", "a-first")),
    ));
    let events = events_of(&cluster, cluster.revision());
    assert_eq!(events.time, Some(wall));
    let caller = events.caller.as_ref().map(ToString::to_string);
    assert_eq!(caller.as_deref(), Some(ci));
    // A revision that changes nothing to watch has both, too; a command of nobody has no caller.
    accepted(sent_by(
        &mut cluster,
        ci,
        Command::OpenSession(OpenSession {}),
    ));
    let events = events_of(&cluster, cluster.revision());
    assert!(events.changes.is_empty() && events.caller.is_some());
    cluster.joins("b");
    let events = events_of(&cluster, cluster.revision());
    assert_eq!((events.time, events.caller.clone()), (Some(wall), None));
}

#[test]
fn a_line_of_the_agreements_names_the_caller() {
    let mut cluster = keeping(100);
    let a = cluster.joins("a");
    let report = crate::cluster::report(&a, &[of("pods")], false);
    accepted(sent_by(&mut cluster, "spiffe://synod/a", report));
    let lines = cluster.state.agreements(&resource("pods"));
    let callers: Vec<_> = lines.map(|line| line.caller.clone()).collect();
    assert_eq!(callers, [Identity::parse("spiffe://synod/a").ok()]);
}

#[test]
fn callers_are_kept_for_as_long_as_a_revision_names_them() {
    let mut cluster = keeping(10);
    for i in 0..30 {
        let identity = format!("spiffe://synod/robot-{i}");
        accepted(sent_by(
            &mut cluster,
            &identity,
            Command::OpenSession(OpenSession {}),
        ));
    }
    assert_eq!(callers(&cluster.state).0.len(), 10);
    for _ in 0..30 {
        let open = Command::OpenSession(OpenSession {});
        accepted(sent_by(&mut cluster, "spiffe://synod/one", open));
    }
    // Ten revisions share one text, after a start from a checkpoint, too.
    for _ in 0..2 {
        let (names, places) = callers(&cluster.state);
        assert_eq!((names.len(), places.len()), (1, 1));
        cluster.restart_from_checkpoint();
    }
    writes(&mut cluster, 20);
    assert_eq!(callers(&cluster.state).0.len(), 0);
}

// Guarantee: E-05
#[test]
fn the_revision_of_a_time_is_the_newest_by_the_running_maximum() {
    let mut cluster = keeping(100);
    let second = Duration::from_secs(1);
    let mut made = Vec::new();
    // The clock of the second leader is behind that of the first for a while.
    for ahead in [10, 20, 15, 18, 20, 30] {
        cluster.clock_is_ahead(second * ahead);
        cluster.joins(&format!("at-{ahead}-{}", made.len()));
        made.push(cluster.revision());
    }
    let zero = cluster.wall().as_millis() - 30_000;
    let at = |cluster: &Cluster, seconds: u64| {
        let time = WallTime::from_millis(zero + seconds * 1_000);
        let found = cluster.state.history().revision_at(time);
        found.map(|events| events.revision)
    };
    let check = |cluster: &Cluster| {
        assert_eq!(at(cluster, 10), Ok(made[0]));
        assert_eq!(at(cluster, 17), Ok(made[0]), "the clock had been at 20");
        assert_eq!(at(cluster, 19), Ok(made[0]));
        assert_eq!(at(cluster, 20), Ok(made[4]));
        assert_eq!(at(cluster, 29), Ok(made[4]));
        assert!(at(cluster, 30).is_ok_and(|found| found >= made[5]));
    };
    check(&cluster);
    assert_eq!(at(&cluster, 1_000), Ok(cluster.revision()));
    let times = made.iter().map(|made| events_of(&cluster, *made));
    let times: Vec<u64> = times
        .map(|events| events.time.unwrap().as_millis() - zero)
        .collect();
    assert_eq!(times, [10_000, 20_000, 15_000, 18_000, 20_000, 30_000]);

    // The answers stay the same below the floor, and after a restart.
    writes(&mut cluster, 150);
    assert!(cluster.state.history().floor() > made[5]);
    check(&cluster);
    cluster.restart_from_checkpoint();
    check(&cluster);

    let (oldest, since) = cluster.state.history().oldest_time().unwrap();
    let too_early = WallTime::from_millis(since.as_millis() - 1);
    assert_eq!(
        cluster.state.history().revision_at(too_early),
        Err(TimeNotKept {
            oldest: Some((oldest, since))
        })
    );
}
