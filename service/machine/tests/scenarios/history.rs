//! The kept events, their floor, and reads of the past.

use synod_machine::{Compacted, OutOfReach, StorageStateRow, StorageVersionRow};
use synod_model::{Migration, Revision, SettingsPatch};

use crate::cluster::{Cluster, TTL};
use crate::entry::{of, release, resource};

fn keeping(revisions: u64) -> Cluster {
    Cluster::with(SettingsPatch {
        history_revisions: Some(revisions),
        ..SettingsPatch::default()
    })
}

fn revision(number: u64) -> Revision {
    Revision::new(number)
}

// Guarantee: E-01
#[test]
fn a_watch_from_the_beginning_sees_every_revision_once() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    cluster.leaves(&a);
    let history = cluster.state.history();
    let mut seen = Vec::new();
    let mut last = Revision::ZERO;
    while let Some(events) = history.next_after(last).unwrap() {
        last = events.revision;
        seen.push(last.get());
    }
    assert_eq!(seen, [1, 2, 3, 4]);
    assert_eq!(last, cluster.revision());
}

// Guarantee: E-02
#[test]
fn events_of_one_report_travel_at_one_revision() {
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    let before = cluster.revision();
    let names: Vec<String> = (0..1_000)
        .map(|i| format!("example.com.kinds{i}"))
        .collect();
    let says: Vec<_> = names.iter().map(|name| of(name).prefers("v1")).collect();
    let told = cluster.reports(&a, &says);
    assert_eq!(told.len(), 1_000);
    assert_eq!(cluster.revision(), before.next());
    let events = cluster.state.history().next_after(before).unwrap().unwrap();
    // The storage version, storage state and migration of each resource; and the member, which has now reported.
    assert_eq!(events.changes.len(), 3_001);
    let versions = cluster.state.present().storage_versions(None).count();
    assert_eq!(versions, 1_000);
    for name in &names {
        assert_eq!(cluster.kept(name).selected_revision, cluster.revision());
    }
    // All of them go at one revision.
    cluster.leaves(&a);
    assert_eq!(cluster.revision(), before.next().next());
    assert_eq!(cluster.state.storage_version_count(), 0);
    assert_eq!(
        cluster
            .state
            .at(before.next())
            .unwrap()
            .storage_versions(None)
            .count(),
        1_000
    );
}

#[test]
fn the_history_keeps_as_many_revisions_as_it_is_set_to() {
    // The change of the setting is revision 2.
    for (made, floor) in [(4, 0), (5, 0), (6, 1), (7, 2)] {
        let mut cluster = keeping(5);
        for i in 2..made {
            cluster.joins(&format!("server-{i}"));
        }
        assert_eq!(cluster.revision(), revision(made));
        let history = cluster.state.history();
        assert_eq!(
            history.floor(),
            revision(floor),
            "{made} revisions were made"
        );
        assert_eq!(history.len() as u64, made - floor);
    }
}

// Guarantee: E-03
#[test]
fn a_watch_below_the_floor_is_told_the_oldest_revision_to_start_from() {
    let mut cluster = keeping(3);
    for i in 0..5 {
        cluster.joins(&format!("server-{i}"));
    }
    let history = cluster.state.history();
    assert_eq!(
        (cluster.revision(), history.floor()),
        (revision(7), revision(4))
    );
    let compacted = Err(Compacted {
        oldest: revision(5),
    });
    assert_eq!(history.next_after(Revision::ZERO), compacted);
    assert_eq!(history.next_after(revision(3)), compacted);
    let next = history.next_after(revision(4)).unwrap().unwrap();
    assert_eq!(next.revision, revision(5));
    assert_eq!(history.next_after(revision(7)), Ok(None));
    assert_eq!(history.next_after(revision(1_000)), Ok(None));
}

#[test]
fn what_was_at_the_floor_can_still_be_read() {
    let mut cluster = keeping(3);
    for i in 0..5 {
        cluster.joins(&format!("server-{i}"));
    }
    let floor = cluster.state.history().floor();
    let count = |past: synod_machine::Past<'_>| past.members(None).count();
    assert_eq!(cluster.state.at(floor).map(count), Ok(2));
    assert_eq!(cluster.state.at(floor.next()).map(count), Ok(3));
    assert_eq!(
        cluster.state.at(revision(3)).map(count),
        Err(OutOfReach::Compacted { oldest: floor })
    );
    assert_eq!(
        cluster.state.at(revision(8)).map(count),
        Err(OutOfReach::Future {
            present: revision(7)
        })
    );
}

#[test]
fn the_history_is_bounded_by_bytes_too_and_keeps_the_newest_whatever_its_size() {
    let mut cluster = Cluster::formed();
    cluster.joins("small");
    let small = cluster.state.history().bytes();
    let a = cluster.joins("a");
    let names: Vec<_> = (0..50)
        .map(|i| of(&format!("example.com.kinds{i}")))
        .collect();
    let before = cluster.state.history().bytes();
    cluster.reports(&a, &names);
    let large = cluster.state.history().bytes() - before;
    assert!(large > 10 * small);

    // Room for the large one only: all before it goes.
    let bytes = |bytes: u64| SettingsPatch {
        history_bytes: Some(bytes),
        ..SettingsPatch::default()
    };
    cluster.set(bytes(large - 1));
    assert_eq!(
        cluster.state.history().len(),
        1,
        "what remains is the change of the setting"
    );
    let room = cluster.state.history().bytes();
    cluster.set(bytes(room));
    cluster.reports(&a, &[of("pods")]);
    assert_eq!(
        cluster.state.history().len(),
        1,
        "the newest stays, even if it is larger"
    );
    assert!(cluster.state.history().bytes() > room);
    assert_eq!(cluster.state.history().floor().next(), cluster.revision());
}

#[test]
fn the_floor_moves_at_the_limit_of_bytes_and_not_before() {
    let mut cluster = Cluster::formed();
    for id in ["a", "b", "c"] {
        cluster.joins(id);
    }
    let full = cluster.state.clone();
    let set = |cluster: &mut Cluster, limit: u64| {
        cluster.state = full.clone();
        cluster.set(SettingsPatch {
            history_bytes: Some(limit),
            ..SettingsPatch::default()
        });
        (
            cluster.state.history().bytes(),
            cluster.state.history().floor(),
        )
    };
    // Numbers of two bytes, so that the events that carry them have the same length.
    let (bytes, floor) = set(&mut cluster, (1 << 14) - 1);
    assert_eq!(floor, Revision::ZERO);
    assert_eq!(set(&mut cluster, bytes + 1), (bytes, Revision::ZERO));
    assert_eq!(set(&mut cluster, bytes), (bytes, Revision::ZERO));
    assert_eq!(set(&mut cluster, bytes - 1).1, revision(1));
}

#[test]
fn the_past_is_what_it_was() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let b = cluster.starts("b", &[release::second()]);
    let then = cluster.revision();
    let kept = cluster.state.clone();
    cluster.starts("later", &[release::second()]);
    cluster.reports(&a, &[release::third(), of("apps.deployments")]);
    cluster.reports(&b, &[release::third()]);
    cluster.leaves(&a);
    cluster.set(SettingsPatch {
        members_max: Some(7),
        ..SettingsPatch::default()
    });
    cluster.pass(TTL);
    cluster.expires();

    let past = cluster.state.at(then).unwrap();
    assert_eq!(past.revision(), then);
    assert!(past.members(None).eq(kept.present().members(None)));
    assert!(
        past.storage_versions(None)
            .eq(kept.present().storage_versions(None))
    );
    assert!(
        past.storage_states(None)
            .eq(kept.present().storage_states(None))
    );
    assert_eq!(past.settings(), *kept.settings());
    assert_eq!(past.storage_version(&resource("apps.deployments")), None);
    let view = past.storage_version(&resource("pods")).unwrap();
    assert_eq!(view.entries().len(), 2);
    assert!(cluster.version("pods").is_none());
}

#[test]
fn an_event_carries_the_object_before_and_after() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let before = cluster.version("pods").unwrap();
    let state_before = cluster
        .state
        .present()
        .storage_state(&resource("pods"))
        .unwrap();
    let revision = cluster.revision();
    cluster.reports(&a, &[release::third()]);
    let after = cluster.version("pods").unwrap();
    let state_after = cluster
        .state
        .present()
        .storage_state(&resource("pods"))
        .unwrap();
    let events = cluster
        .state
        .history()
        .next_after(revision)
        .unwrap()
        .unwrap();
    let [version, state, migration] = &events.changes[..] else {
        panic!("one storage version, one state and one migration: {events:?}");
    };
    let entries = &version.entries;
    let version = version.of::<StorageVersionRow>();
    let version = version.expect("the storage version comes first");
    assert_eq!(
        (version.before, version.after),
        (Some(&before.row), Some(&after.row))
    );
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].before.as_ref(), before.entry(&a.id));
    assert_eq!(entries[0].after.as_ref(), after.entry(&a.id));
    let line = state.agreement.as_ref().unwrap();
    let state = state.of::<StorageStateRow>();
    let state = state.expect("its state comes next");
    assert_eq!(
        (state.before, state.after),
        (Some(&state_before.row), Some(&state_after.row))
    );
    assert_eq!(
        Some(line),
        cluster.state.agreements(&resource("pods")).last()
    );
    let migration = migration.of::<Migration>();
    let migration = migration.expect("the migration that it aborts comes last");
    assert!(migration.before.unwrap().is_open());
    assert!(!migration.after.unwrap().is_open());
}
