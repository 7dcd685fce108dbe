//! Looks of named observers: what each server showed last, and when it is evidence no more.

use std::collections::BTreeMap;
use std::time::Duration;

use synod_machine::Command;
use synod_model::{
    DismissLooks, ErrorKind, Kind, MemberId, MigrationPhase, ObserveStorage, ObservedServer,
    ObserverName, ServerLook,
};

use crate::cluster::{Cluster, accepted, claim, complete, forget, hash, observe, refused};
use crate::entry::{of, resource};

const CRONJOBS: &str = "batch.cronjobs";
const LEGAL: &str = "stories use legal names";
const PERIOD: Duration = Duration::from_secs(600);
/// Longer than two periods of discovery.
const AGES: Duration = Duration::from_secs(1_201);
/// How long an encoding that is no longer shown may still be written.
const GRACE: Duration = Duration::from_secs(70);

/// A server, the versions that it shows, and the member that it is, if that is known.
type ShownServer<'a> = (&'a str, &'a [&'a str], Option<&'a str>);

fn observer(name: &str) -> ObserverName {
    ObserverName::parse(name).expect(LEGAL)
}

fn server(name: &str) -> ObservedServer {
    ObservedServer::parse(&format!("https://{name}:6443")).expect(LEGAL)
}

fn look(by: &str, shown: &[ShownServer<'_>]) -> Command {
    let look = |(name, versions, member): &ShownServer<'_>| {
        let look = ServerLook {
            hashes: versions.iter().map(|version| hash(version)).collect(),
            member: member.map(|id| MemberId::parse(id).expect(LEGAL)),
        };
        (server(name), look)
    };
    let servers: BTreeMap<_, _> = shown.iter().map(look).collect();
    Command::ObserveStorage(ObserveStorage {
        kind: Kind::parse("Widget").ok(),
        observer: Some(observer(by)),
        servers,
        ..ObserveStorage::unnamed(resource(CRONJOBS), [].into())
    })
}

fn dismiss(by: Option<&str>, at: Option<&str>) -> Command {
    Command::DismissLooks(DismissLooks {
        resource: resource(CRONJOBS),
        observer: by.map(observer),
        server: at.map(server),
    })
}

/// What discovery shows, by the names of the versions.
fn shown(cluster: &Cluster) -> Vec<&'static str> {
    let observation = cluster.kept(CRONJOBS).observation;
    let hashes = observation.map(|seen| seen.hashes).unwrap_or_default();
    let all = ["v1", "v2", "v3"].into_iter();
    all.filter(|version| hashes.contains(&hash(version)))
        .collect()
}

fn is_contradicted(cluster: &Cluster) -> bool {
    let kept = cluster.kept(CRONJOBS);
    assert_eq!(kept.contradicted, kept.agreement().is_none());
    kept.contradicted
}

// Guarantee: V-12
#[test]
fn two_observers_with_different_servers_do_not_replace_one_another() {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[of(CRONJOBS).decodes("v1 v2").encodes("v2")]);
    accepted(cluster.send(look("east", &[("s", &["v1"], None)])));
    accepted(cluster.send(look("west", &[("t", &["v2"], None)])));
    assert_eq!(shown(&cluster), ["v1", "v2"]);
    assert!(is_contradicted(&cluster));
    // Only east can say that s shows something else now.
    accepted(cluster.send(look("west", &[("t", &["v2"], None)])));
    assert!(is_contradicted(&cluster));
    accepted(cluster.send(look("east", &[("s", &["v2"], None)])));
    assert!(!is_contradicted(&cluster));
    let drains = cluster.kept(CRONJOBS).hash_drains;
    assert_eq!(drains.get(&hash("v1")), Some(&cluster.now().after(GRACE)));
}

// Guarantee: V-12
#[test]
fn a_server_that_is_not_reached_keeps_what_it_showed() {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[of(CRONJOBS).decodes("v1 v2").encodes("v2")]);
    accepted(cluster.send(look("east", &[("s", &["v1"], None), ("t", &["v2"], None)])));
    accepted(cluster.send(look("east", &[("t", &["v2"], None)])));
    assert!(is_contradicted(&cluster));
    // It is reached, and shows the resource no more.
    accepted(cluster.send(look("east", &[("s", &[], None), ("t", &["v2"], None)])));
    assert_eq!(shown(&cluster), ["v2"]);
    assert!(!is_contradicted(&cluster));
}

// Guarantee: V-12
#[test]
fn a_look_that_does_not_reach_all_its_servers_in_time_makes_no_agreement_and_stays() {
    let mut cluster = Cluster::upgraded();
    let both: [ShownServer<'_>; 2] = [("s", &["v1"], None), ("t", &["v1"], None)];
    accepted(cluster.send(look("east", &both)));
    cluster.migrates(CRONJOBS);
    for _ in 0..3 {
        cluster.pass(PERIOD);
        accepted(cluster.send(look("east", &both[1..])));
        cluster.expires();
    }
    let kept = cluster.kept(CRONJOBS);
    assert_eq!((kept.agreement(), shown(&cluster)), (None, vec!["v1"]));
    assert!(kept.persisted.contains(&synod_model::Persisted::Unknown));
    // It is evidence against whoever reports something else, however long ago.
    cluster.pass(AGES);
    let a = cluster.starts("a", &[of(CRONJOBS).decodes("v1 v2").encodes("v2")]);
    assert!(is_contradicted(&cluster));
    cluster.pass(AGES);
    cluster.renews(&a);
    cluster.expires();
    assert!(is_contradicted(&cluster));
}

/// A look without a name that agrees with the members is dropped when it expires; one with a name is evidence later.
#[test]
fn a_look_that_agreed_with_the_members_when_it_expired_is_evidence_when_they_move() {
    let mut cluster = Cluster::upgraded();
    let a = cluster.starts("a", &[of(CRONJOBS).decodes("v1 v2").encodes("v1")]);
    accepted(cluster.send(look("east", &[("s", &["v1"], None)])));
    cluster.pass(AGES);
    cluster.renews(&a);
    cluster.expires();
    assert!(!is_contradicted(&cluster));
    cluster.reports(&a, &[of(CRONJOBS).decodes("v1 v2").encodes("v2")]);
    assert!(is_contradicted(&cluster));
}

// Guarantee: V-12
#[test]
fn reports_end_evidence_once_every_server_that_showed_it_is_named_and_has_reported_another() {
    let mut cluster = Cluster::upgraded();
    let v1 = || [of(CRONJOBS).decodes("v1 v2").encodes("v1")];
    let v2 = || [of(CRONJOBS).decodes("v1 v2").encodes("v2")];
    cluster.starts("a", &v1());
    cluster.starts("b", &v1());
    let east: [ShownServer<'_>; 1] = [("a", &["v1"], Some("a"))];
    let west: [ShownServer<'_>; 1] = [("b", &["v1"], Some("b"))];
    accepted(cluster.send(look("east", &east)));
    accepted(cluster.send(look("west", &west)));
    cluster.starts("a", &v2());
    assert_eq!(shown(&cluster), ["v1"], "b has not reported since");
    cluster.starts("b", &v2());
    assert_eq!(shown(&cluster), [""; 0]);
    assert!(!is_contradicted(&cluster));
    let drains = cluster.kept(CRONJOBS).hash_drains;
    assert_eq!(drains.get(&hash("v1")), Some(&cluster.now().after(GRACE)));
}

// Guarantee: V-12
#[test]
fn a_stranger_that_encodes_the_old_version_stays_evidence() {
    let mut cluster = Cluster::upgraded();
    let v2 = || [of(CRONJOBS).decodes("v1 v2").encodes("v2")];
    cluster.starts("a", &[of(CRONJOBS).decodes("v1 v2").encodes("v1")]);
    let east: [ShownServer<'_>; 2] = [("a", &["v1"], Some("a")), ("s", &["v1"], None)];
    accepted(cluster.send(look("east", &east)));
    cluster.starts("a", &v2());
    cluster.starts("a", &v2());
    assert!(is_contradicted(&cluster));
    // An observer without a name names no server either.
    accepted(cluster.send(look("east", &east[..1])));
    accepted(cluster.send(dismiss(None, Some("s"))));
    accepted(cluster.send(observe(CRONJOBS, &["v1"])));
    cluster.starts("a", &[of(CRONJOBS).decodes("v1 v2").encodes("v1")]);
    cluster.starts("a", &v2());
    assert!(is_contradicted(&cluster));
}

#[test]
fn a_report_of_the_same_encoding_ends_no_evidence() {
    let mut cluster = Cluster::upgraded();
    let v2 = || [of(CRONJOBS).decodes("v1 v2").encodes("v2")];
    cluster.starts("a", &v2());
    accepted(cluster.send(look("east", &[("a", &["v1"], Some("a"))])));
    cluster.starts("a", &v2());
    assert!(is_contradicted(&cluster), "it has reported nothing new");
    cluster.starts("a", &[of(CRONJOBS).decodes("v1 v2").encodes("v1")]);
    assert!(!is_contradicted(&cluster));
    assert_eq!(shown(&cluster), ["v1"]);
    cluster.starts("a", &v2());
    assert!(!is_contradicted(&cluster));
}

// Guarantee: V-12
#[test]
fn a_dismissal_ends_evidence_and_drains_it() {
    let mut cluster = Cluster::upgraded();
    let a = cluster.starts("a", &[of(CRONJOBS).decodes("v1 v2").encodes("v2")]);
    let east: [ShownServer<'_>; 2] = [("s", &["v1"], None), ("t", &["v2"], None)];
    accepted(cluster.send(look("east", &east)));
    refused(
        cluster.send(dismiss(Some("west"), None)),
        ErrorKind::NotFound,
    );
    refused(cluster.send(dismiss(None, Some("u"))), ErrorKind::NotFound);
    accepted(cluster.send(dismiss(Some("east"), Some("s"))));
    assert_eq!(shown(&cluster), ["v2"]);
    assert!(!is_contradicted(&cluster));
    let id = cluster.open(CRONJOBS).id;
    refused(cluster.send(claim(&id, "one")), ErrorKind::Draining);
    cluster.pass(GRACE);
    cluster.renews(&a);
    cluster.migrates(CRONJOBS);
    accepted(cluster.send(dismiss(None, None)));
    assert_eq!(cluster.kept(CRONJOBS).observation, None);
    refused(cluster.send(dismiss(None, None)), ErrorKind::NotFound);
}

#[test]
fn a_dismissal_ends_the_look_of_an_observer_without_a_name() {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[of(CRONJOBS)]);
    accepted(cluster.send(observe(CRONJOBS, &["v2"])));
    accepted(cluster.send(look("east", &[("s", &["v1"], None)])));
    assert!(is_contradicted(&cluster));
    refused(
        cluster.send(dismiss(Some("west"), None)),
        ErrorKind::NotFound,
    );
    accepted(cluster.send(dismiss(None, None)));
    assert!(!is_contradicted(&cluster));
    assert!(cluster.kept(CRONJOBS).looks.is_empty());
}

/// An observer without a name, beside named ones, is one of the observers.
#[test]
fn the_seventeenth_observer_is_refused() {
    let mut cluster = Cluster::upgraded();
    accepted(cluster.send(observe(CRONJOBS, &["v1"])));
    for number in 1..16 {
        let name = format!("observer-{number}");
        accepted(cluster.send(look(&name, &[("s", &["v1"], None)])));
    }
    let seventeenth = look("one-more", &[("s", &["v1"], None)]);
    let message = refused(cluster.send(seventeenth.clone()), ErrorKind::Quota).message;
    assert!(message.contains("16 observers"), "{message}");
    accepted(cluster.send(look("observer-1", &[("s", &["v1"], None)])));
    accepted(cluster.send(dismiss(Some("observer-1"), None)));
    accepted(cluster.send(seventeenth));
    refused(
        cluster.send(look("observer-1", &[("s", &["v1"], None)])),
        ErrorKind::Quota,
    );
}

#[test]
fn an_observer_shows_32_servers_and_no_more() {
    let mut cluster = Cluster::upgraded();
    let names: Vec<String> = (0..33).map(|number| format!("s{number}")).collect();
    let all: Vec<ShownServer<'_>> = names
        .iter()
        .map(|name| (name.as_str(), ["v1"].as_slice(), None))
        .collect();
    accepted(cluster.send(look("east", &all[..32])));
    let message = refused(cluster.send(look("east", &all[32..])), ErrorKind::Quota).message;
    assert!(message.contains("more than 32"), "{message}");
    accepted(cluster.send(look("east", &[("s0", &[], None), all[32]])));
}

#[test]
fn names_of_observers_come_with_machine_version_3() {
    let cluster = Cluster::formed();
    for command in [look("east", &[("s", &["v1"], None)]), dismiss(None, None)] {
        let refusal = cluster.state.check_machine_version(&command);
        let refusal = refusal.expect_err("a replica could not read it");
        assert_eq!(refusal.kind, ErrorKind::Unavailable);
        assert_eq!(command.machine_version(), 3);
    }
    let unnamed = observe(CRONJOBS, &["v1"]);
    assert_eq!(cluster.state.check_machine_version(&unnamed), Ok(()));
}

/// What the servers of an observer wrote before it first looked is unknown, though others look at theirs.
#[test]
fn an_observer_that_comes_beside_others_begins_the_migration_anew() {
    let mut cluster = Cluster::upgraded();
    accepted(cluster.send(look("east", &[("s", &["v1"], None)])));
    let work = cluster.claims(CRONJOBS, "one");
    accepted(cluster.send(look("west", &[("t", &["v1"], None)])));
    refused(cluster.send(complete(&work)), ErrorKind::NoAgreement);
    assert_ne!(cluster.open(CRONJOBS).id, work.id);
    assert_eq!(cluster.migration(&work.id).phase, MigrationPhase::Aborted);
}

#[test]
fn a_change_of_what_is_served_ends_no_evidence() {
    let mut cluster = Cluster::upgraded();
    let says = of(CRONJOBS).decodes("v1 v2").encodes("v2");
    let a = cluster.starts("a", std::slice::from_ref(&says));
    accepted(cluster.send(look("east", &[("s", &["v1"], Some("a"))])));
    assert!(is_contradicted(&cluster));
    cluster.reports(&a, &[says.serves("v2")]);
    assert!(is_contradicted(&cluster));
}

#[test]
fn a_resource_that_one_observer_shows_is_not_forgotten_beside_an_expired_look() {
    let mut cluster = Cluster::upgraded();
    accepted(cluster.send(look("east", &[("s", &["v1"], None)])));
    cluster.pass(PERIOD);
    accepted(cluster.send(look("west", &[("t", &["v1"], None)])));
    cluster.pass(PERIOD + GRACE);
    cluster.expires();
    refused(cluster.send(forget(CRONJOBS)), ErrorKind::Conflict);
}
