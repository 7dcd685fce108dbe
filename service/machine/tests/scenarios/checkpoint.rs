//! A checkpoint: the state as rows, and the rows that are refused.

use std::sync::Arc;
use std::time::Duration;

use synod_machine::{
    AnnounceReplica, Change, CollectGarbage, Command, DirectoryId, EntryChange, MACHINE_VERSION,
    ObjectRef, ReplicaId, Row, State,
};
use synod_model::{
    Annotations, ClusterId, FailureClass, Fences, Join, Labels, LogTime, MemberId,
    MigrationProgress, MigrationReason, ObjectKind, Operation, Propagation, ResourceScope,
    Revision, SessionId, Settings, SettingsPatch, StartMigration, Transact,
};

use crate::cluster::{
    Cluster, TTL, Work, accepted, claim, fail, join, progress, renew, report, request,
};
use crate::entry::{of, release, resource};
use crate::rosters::rule;
use crate::shelf::{
    LOOSE, WIDGETS, content, create, finalized, labelled, owned_by, update, widget,
};

/// A state with every kind of row, in which every field has a value somewhere.
pub(crate) fn rich() -> State {
    let mut cluster = Cluster::with(SettingsPatch {
        enforce_persisted: Some([resource("batch.jobs")].into()),
        history_revisions: Some(20),
        ..SettingsPatch::default()
    });
    cluster.send(Command::AnnounceReplica(AnnounceReplica {
        replica: ReplicaId::new(2),
        directory: DirectoryId::from_bytes([5; 16]),
        client_endpoint: "10.0.0.2:2379".to_owned(),
        binary: "0.1.0".to_owned(),
        machine_version: MACHINE_VERSION,
        disk_is_low: false,
    }));
    cluster.send(Command::Join(Join {
        labels: Labels::parse([("zone", "a"), ("rack", "7")]).expect("legal labels"),
        ..join("labelled", "first")
    }));
    stock(&mut cluster);
    cluster.sets_roster("storage.*", rule("a", "zone=a", 1));
    let session = cluster.opens_session();
    migrating(&mut cluster, session);
    let a = cluster.starts("a", &[release::second(), of("apps.deployments")]);
    let b = cluster.starts(
        "b",
        &[
            release::second(),
            of("apps.deployments").decodes("v1 v2").encodes("v2"),
        ],
    );
    cluster.pass(Duration::from_secs(3));
    cluster.send_as(
        request(session, 1, 1),
        report(&a, &[release::third()], false),
    );
    cluster.send_as(
        request(session, 2, 1),
        report(&b, &[release::third()], false),
    );
    cluster.send_as(
        request(session, 3, 2),
        report(&a, &[release::first()], false),
    );
    cluster.send_as(request(session, 4, 2), renew(&a));
    cluster.send_as(request(session, 5, 2), Command::Join(join("c", "first")));
    cluster.adopts(&a, "pods");
    cluster.restarts(&b);
    cluster.elect();
    cluster.pass(TTL / 2);
    cluster.send_as(request(session, 6, 2), Command::Expire(cluster.due()));
    cluster.send_as(
        request(session, 7, 2),
        Command::OpenSession(synod_model::OpenSession {}),
    );
    delays(&mut cluster, session);
    cluster.declares("example.io.gadgets", LOOSE);
    assert!(cluster.state.has_garbage());
    assert!(cluster.state.history().floor() > Revision::ZERO);
    cluster.state
}

/// Objects of all sorts, and more dependents of a deleted owner than one command processes.
fn stock(cluster: &mut Cluster) {
    cluster.declares(WIDGETS, LOOSE);
    let owner = cluster.stores(&widget("a/owner"), labelled(&[("color", "red")]));
    let dependents = (0..300).map(|i| {
        let key = widget(&format!("a/dependent-{i}"));
        Command::CreateObject(create(&key, owned_by(&[&owner]), content("v1", "{}")))
    });
    cluster.send_all(dependents.collect());
    let mut attributes = finalized(&["x.io/wait"]);
    attributes.annotations = Annotations::parse([("note", "any text")]).expect("legal");
    cluster.stores(&widget("a/one"), attributes);
    cluster.stores_for(&widget("a/two"), TTL);
    cluster.deletes(&owner.key, Some(Propagation::Foreground));
}

/// Rewrites an object with a finalizer, alone and in a transaction, and deletes it, which cannot finish at once.
fn delays(cluster: &mut Cluster, session: SessionId) {
    let one = widget("a/one");
    let keep = update(&one, finalized(&["x.io/wait"]), content("v2", "[1]"));
    cluster.send_as(request(session, 8, 2), Command::UpdateObject(keep.clone()));
    let transact = Transact {
        compares: Vec::new(),
        operations: vec![Operation::Update(keep)],
        reads: Vec::new(),
        fences: Fences::default(),
    };
    cluster.send_as(request(session, 9, 2), Command::Transact(transact));
    let collect = Command::CollectGarbage(CollectGarbage {});
    cluster.send_as(request(session, 10, 2), collect);
    cluster.deletes(&one, None);
}

/// Migrations that run, that failed and that ended, and an observed resource.
fn migrating(cluster: &mut Cluster, session: SessionId) {
    cluster.observes("batch.jobs", &["v1"]);
    let work = cluster.claims("batch.jobs", "one");
    accepted(cluster.send(progress(&work, 7)));
    accepted(cluster.send(fail(&work, FailureClass::Rejected)));
    cluster.observes("batch.cronjobs", &["v1"]);
    let id = cluster.open("batch.cronjobs").id;
    cluster.send_as(request(session, 20, 1), claim(&id, "two"));
    let token = cluster.migration(&id).claim.expect("it was claimed").token;
    let progress = MigrationProgress::default();
    let work = Work {
        id,
        token,
        progress,
    };
    accepted(cluster.send(self::progress(&work, 9)));
    let start = Command::StartMigration(StartMigration {
        resource: resource("batch.jobs"),
        reason: MigrationReason::RewriteAll,
        alias: None,
    });
    cluster.send_as(request(session, 21, 1), start);
}

fn rows() -> Vec<Row> {
    rich().rows().collect()
}

/// The reason why the rows are refused.
fn fault(rows: Vec<Row>) -> String {
    match State::from_rows(rows) {
        Ok(_) => panic!("these rows are no state"),
        Err(corrupt) => corrupt.to_string(),
    }
}

fn position(rows: &[Row], is_it: impl Fn(&Row) -> bool) -> usize {
    rows.iter()
        .position(is_it)
        .expect("the rich state has every kind of row")
}

#[test]
fn a_state_is_loaded_from_its_own_rows() {
    let state = rich();
    let loaded = State::from_rows(state.rows()).expect("it is a state");
    assert_eq!(loaded.digest(), state.digest());
    assert_eq!(loaded.recompute_digest(), state.digest());
    assert_eq!(loaded.bytes(), state.bytes());
    assert_eq!(loaded.history().bytes(), state.history().bytes());
    assert!(loaded.rows().eq(state.rows()));
    assert_eq!(
        loaded.due(LogTime::from_millis(1_000_000), 100),
        state.due(LogTime::from_millis(1_000_000), 100)
    );
}

#[test]
fn an_empty_state_can_be_loaded_too() {
    let state = State::new();
    let loaded = State::from_rows(state.rows()).expect("it is a state");
    assert_eq!(loaded.digest(), state.digest());
}

#[test]
fn two_replicas_that_apply_the_same_have_the_same_digest_and_others_have_another() {
    assert_eq!(rich().digest(), rich().digest());
    let text = rich().digest().to_string();
    assert_eq!(text.len(), 32);
    let mut digests = std::collections::BTreeSet::new();
    let mut cluster = Cluster::formed();
    let a = cluster.joins("a");
    digests.insert(cluster.state.digest().to_string());
    // A renewal moves no revision, and yet the replicas must agree on it.
    cluster.pass(Duration::from_millis(1));
    cluster.renews(&a);
    digests.insert(cluster.state.digest().to_string());
    cluster.elect();
    cluster.send_all(Vec::new());
    digests.insert(cluster.state.digest().to_string());
    assert_eq!(digests.len(), 3);
}

#[test]
fn any_lost_row_is_missed() {
    let rows = rows();
    for lost in 0..rows.len() {
        let mut rest = rows.clone();
        let row = rest.remove(lost);
        assert!(State::from_rows(rest).is_err(), "nobody missed {row:?}");
    }
}

#[test]
fn any_doubled_row_is_found() {
    let rows = rows();
    for (i, row) in rows.iter().enumerate() {
        let mut more = rows.clone();
        more.insert(i + 1, row.clone());
        assert!(State::from_rows(more).is_err(), "nobody saw {row:?} twice");
    }
}

#[test]
fn the_fault_is_named() {
    let rows = rows();
    assert!(fault(Vec::new()).contains("the first row is no header"));
    assert!(fault(rows[1..].to_vec()).contains("the first row is no header"));

    let two_headers = [&rows[..1], &rows[..]].concat();
    assert!(fault(two_headers).contains("two headers"));

    let member = position(&rows, |row| matches!(row, Row::Member(_)));
    let mut twice = rows.clone();
    twice.push(rows[member].clone());
    assert!(fault(twice).contains("two rows of one key"));

    let orphans = [
        ("a statement of member", member),
        (
            "an outcome of session",
            position(&rows, |row| matches!(row, Row::Session(..))),
        ),
        (
            "an entry of storage version",
            position(&rows, |row| matches!(row, Row::StorageVersion(..))),
        ),
        (
            "an agreement of storage state",
            position(&rows, |row| matches!(row, Row::StorageState(..))),
        ),
    ];
    for (expected, parent) in orphans {
        let mut rest = rows.clone();
        rest.remove(parent);
        let fault = fault(rest);
        assert!(fault.contains(expected), "{fault}");
    }
    let first = position(&rows, |row| matches!(row, Row::Events(_)));
    let mut gap = rows.clone();
    gap.remove(first + 2);
    assert!(fault(gap).contains("gap before revision"));
    let last = rows.len() - 1;
    assert!(fault(rows[..last].to_vec()).contains("does not end at revision"));
    let mut no_entries = rows.clone();
    no_entries.retain(|row| !matches!(row, Row::Entry(..)));
    assert!(fault(no_entries).contains("has no entry"));
    let mut no_members = rows.clone();
    no_members.retain(|row| !matches!(row, Row::Member(_) | Row::Statement(..)));
    assert!(fault(no_members).contains("an entry of member"));
    let deadline = position(&rows, |row| matches!(row, Row::Deadline(..)));
    let mut no_deadline = rows;
    no_deadline.remove(deadline);
    assert!(fault(no_deadline).contains("its digest is"));
}

#[test]
fn a_change_as_none_of_its_kind_can_be_is_refused() {
    let rows = rows();
    let first = position(&rows, |row| matches!(row, Row::Events(_)));
    let impossible: [fn(&mut Change); 3] = [
        |it| it.object = ObjectRef::Roster(ResourceScope::All),
        |it| *it = Change::new::<Settings>((), Some(Arc::new(Settings::default())), None),
        |it| {
            it.entries.push(EntryChange {
                member: MemberId::parse("a").expect("a legal id"),
                before: None,
                after: None,
            });
        },
    ];
    for change in impossible {
        let mut changed = rows.clone();
        let Row::Events(events) = &mut changed[first] else {
            panic!("the first events are there");
        };
        let first = &mut Arc::make_mut(events).changes[0];
        assert_eq!(first.object.kind(), ObjectKind::Migration);
        change(first);
        assert!(fault(changed).contains("has a change that does not fit its kind of object"));
    }
}

#[test]
fn a_state_of_a_newer_machine_version_is_refused_by_its_number() {
    let mut rows = rows();
    let Row::Header {
        machine_version, ..
    } = &mut rows[0]
    else {
        panic!("the header comes first");
    };
    *machine_version = MACHINE_VERSION + 1;
    let fault = fault(rows);
    let (next, known) = (MACHINE_VERSION + 1, MACHINE_VERSION);
    let said = format!("machine version {next}, and this build knows {known}");
    assert!(fault.contains(&said), "{fault}");
}

#[test]
fn every_number_of_the_header_counts() {
    let rows = rows();
    let other = Revision::new(987_654);
    let with = |change: &dyn Fn(&mut Row)| {
        let mut changed = rows.clone();
        change(&mut changed[0]);
        assert_ne!(changed[0], rows[0]);
        State::from_rows(changed)
            .map(|_| ())
            .expect_err("it is another state")
            .to_string()
    };
    let by_digest = [
        with(&|row| {
            if let Row::Header { cluster, .. } = row {
                *cluster = Some(ClusterId::from_bytes([9; 16]));
            }
        }),
        with(&|row| {
            if let Row::Header {
                machine_version, ..
            } = row
            {
                *machine_version = 0;
            }
        }),
        with(&|row| {
            if let Row::Header { log_time, .. } = row {
                *log_time = LogTime::from_millis(1);
            }
        }),
        with(&|row| {
            if let Row::Header { lifted_at, .. } = row {
                *lifted_at = LogTime::from_millis(1);
            }
        }),
        with(&|row| {
            if let Row::Header {
                strangers_write_until,
                ..
            } = row
            {
                *strangers_write_until = LogTime::from_millis(1);
            }
        }),
        with(&|row| {
            if let Row::Header { digest, .. } = row {
                *digest = synod_machine::Digest::from_bytes([0; 16]);
            }
        }),
    ];
    for fault in by_digest {
        assert!(fault.contains("its digest is"), "{fault}");
    }
    let revision = with(&|row| {
        if let Row::Header { revision, .. } = row {
            *revision = other;
        }
    });
    assert!(revision.contains("does not end at revision"), "{revision}");
    let floor = with(&|row| {
        if let Row::Header { history_floor, .. } = row {
            *history_floor = other;
        }
    });
    assert!(
        floor.contains("not the next one of its upgrade history"),
        "{floor}"
    );
}

#[test]
fn the_floors_of_the_header_are_those_of_its_rows() {
    let rows = rows();
    let with = |change: &dyn Fn(&mut Revision, &mut Option<Revision>)| {
        let mut changed = rows.clone();
        let Row::Header {
            history_floor,
            upgrade_floor,
            ..
        } = &mut changed[0]
        else {
            panic!("the header comes first")
        };
        change(history_floor, upgrade_floor);
        let loaded = State::from_rows(changed);
        loaded.expect_err("it is another state").to_string()
    };
    let gap = with(&|floor, _| *floor = Revision::ZERO);
    assert!(gap.contains("gap before revision"), "{gap}");
    let lower = with(&|_, upgrade| *upgrade = Some(Revision::ZERO));
    assert!(lower.contains("its digest is"), "{lower}");
    let higher = with(&|_, upgrade| *upgrade = Some(Revision::new(987_654)));
    let expected = "its upgrade history begins after";
    assert!(higher.contains(expected), "{higher}");
}
