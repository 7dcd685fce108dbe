//! A restored backup: epochs, tokens and sessions given since the backup do not count in the new cluster.

use std::time::Duration;

use synod_machine::{
    AnnounceReplica, Answer, Change, Command, Compacted, DirectoryId, MACHINE_VERSION, OutOfReach,
    Recorded, ReplicaId, Restore, Row,
};
use synod_model::{
    AbortCause, AcquireLease, Attributes, ClusterId, Epoch, ErrorKind, FailureClass,
    HolderIdentity, Join, LeaseKey, MigrationPhase, ObjectKind, PutLeaseCandidate, Revision,
    SemanticVersion, SessionId, SettingsPatch, Strategy, Ttl,
};

use crate::cluster::{
    Cluster, accepted, claim, complete, fail, join, number, observe, progress, refused, renew,
    request,
};
use crate::entry::{of, release};
use crate::shelf::{WIDGETS, widget};

/// The longest TTL that a member can have had, and the grace of a new cluster for what it wrote last.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60 + 70);

fn other() -> ClusterId {
    ClusterId::from_bytes([2; 16])
}

fn restore() -> Command {
    Command::Restore(Restore { cluster: other() })
}

impl Cluster {
    /// Restores the state applied so far, as that of a lost cluster.
    pub(crate) fn is_restored(&mut self) {
        accepted(self.send(restore()));
    }
}

// Guarantee: B-07
#[test]
fn another_cluster_goes_on_beyond_every_number_that_was_given() {
    let mut cluster = Cluster::formed();
    let lost = cluster.joins("a");
    let before = cluster.revision().get();
    let outcome = cluster.send(restore());
    assert_eq!(outcome.revision.get(), before + (1 << 40));
    assert!(outcome.changed);
    assert_eq!(cluster.state.cluster(), Some(&other()));
    assert_eq!(cluster.revision(), outcome.revision);
    let again = cluster.joins("a");
    assert_eq!(again.epoch, Epoch::new(outcome.revision.next()));
    assert!(again.epoch > lost.epoch);
}

#[test]
fn a_restore_needs_an_id_of_its_own_and_a_state() {
    let mut cluster = Cluster::formed();
    let before: Vec<_> = cluster.state.rows().collect();
    let same = Command::Restore(Restore {
        cluster: ClusterId::from_bytes([1; 16]),
    });
    refused(cluster.send(same), ErrorKind::AlreadyExists);
    assert_eq!(cluster.state.rows().collect::<Vec<_>>(), before);
    cluster.is_restored();
    refused(cluster.send(restore()), ErrorKind::AlreadyExists);
    let mut empty = cluster;
    empty.state = synod_machine::State::new();
    refused(empty.send(restore()), ErrorKind::Unavailable);
}

// Guarantee: B-06
#[test]
fn what_the_replicas_of_the_lost_cluster_have_announced_is_forgotten() {
    let mut cluster = Cluster::formed();
    for replica in [1, 2] {
        accepted(cluster.send(Command::AnnounceReplica(AnnounceReplica {
            replica: ReplicaId::new(replica),
            directory: DirectoryId::from_bytes([9; 16]),
            client_endpoint: "10.0.0.9:4600".to_owned(),
            binary: "0.1.0".to_owned(),
            machine_version: MACHINE_VERSION,
            disk_is_low: true,
        })));
    }
    assert_eq!(cluster.state.low_on_disk().count(), 2);
    cluster.is_restored();
    assert_eq!(cluster.state.replicas().count(), 0);
    // Else the new cluster would refuse to grow, for the disks of hosts that are gone.
    assert_eq!(cluster.state.low_on_disk().count(), 0);
    assert_eq!(cluster.state.digest(), cluster.state.recompute_digest());
}

// Guarantee: B-09
#[test]
fn watches_and_reads_from_before_are_told_where_the_history_begins() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[release::second()]);
    let before = cluster.revision();
    let applied = cluster.send_all(vec![restore()]);
    // `Applied` returns the events, but the history does not keep them.
    assert_eq!(applied.events[0].revision, cluster.revision());
    let is_leaving =
        |change: &Change| change.object.kind() == ObjectKind::Member && change.after.is_none();
    assert!(applied.events[0].changes.iter().any(is_leaving));
    let restored = cluster.revision();
    let history = cluster.state.history();
    assert_eq!((history.floor(), history.len()), (restored, 0));
    for revision in [Revision::ZERO, before, Revision::new(restored.get() - 1)] {
        let oldest = restored.next();
        assert_eq!(history.next_after(revision), Err(Compacted { oldest }));
        let too_old = OutOfReach::Compacted { oldest: restored };
        assert_eq!(cluster.state.at(revision).err(), Some(too_old));
    }
    assert_eq!(history.next_after(restored), Ok(None));
    assert!(cluster.state.at(restored).is_ok());
    cluster.joins("a");
    let events = cluster.state.history().next_after(restored);
    assert_eq!(events.unwrap().unwrap().revision, restored.next());
    let past = cluster.state.at(restored).unwrap();
    assert_eq!(past.members(None).count(), 0);
}

// Guarantee: B-07
#[test]
fn every_member_goes_with_its_entries_and_joins_again() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let b = cluster.starts("b", &[release::second()]);
    cluster.restarts(&b);
    cluster.is_restored();
    assert_eq!(cluster.state.member_count(), 0);
    assert!(cluster.version("pods").is_none());
    assert_eq!(cluster.agreed("pods"), None);
    refused(cluster.send(renew(&a)), ErrorKind::NotAMember);
    let again = Command::Join(Join {
        lost_epoch: Some(a.epoch),
        ..join("a", &a.instance)
    });
    accepted(cluster.send(again));
    cluster.pass(LONGEST);
    cluster.expires();
    assert_eq!(cluster.state.member_count(), 0, "no deadline was left over");
}

// Guarantee: B-08
#[test]
fn a_request_of_a_session_that_is_lost_is_never_executed() {
    let mut cluster = Cluster::formed();
    let session = cluster.opens_session();
    let join = || Command::Join(join("a", "first"));
    accepted(cluster.send_as(request(session, 1, 1), join()));
    cluster.is_restored();
    for sequence in [1, 2] {
        let outcome = cluster.send_as(request(session, sequence, 1), join());
        refused(outcome, ErrorKind::RequestExpired);
    }
    assert_eq!(cluster.state.session_count(), 0);
    assert_eq!(cluster.state.member_count(), 0);
    let session = cluster.opens_session();
    assert_eq!(session, SessionId::new(cluster.revision()));
}

#[test]
fn the_session_that_asks_for_it_is_lost_with_the_others() {
    let mut cluster = Cluster::formed();
    let session = cluster.opens_session();
    accepted(cluster.send_as(request(session, 1, 1), restore()));
    assert_eq!(
        cluster.state.recorded(session, number(1)),
        Recorded::Expired
    );
}

// Guarantee: B-07
#[test]
fn nobody_holds_a_lease_waits_for_one_or_stands_for_one() {
    let mut cluster = Cluster::formed();
    let key = |name| LeaseKey::new("a", name).expect("a name");
    let named = |name| HolderIdentity::parse(name).expect("a name");
    let acquire = |holder, wait| {
        Command::AcquireLease(AcquireLease {
            key: key("lock"),
            holder: named(holder),
            ttl: Ttl::DEFAULT,
            wait,
            if_member: None,
        })
    };
    let stand = Command::PutLeaseCandidate(PutLeaseCandidate {
        key: key("leader"),
        identity: named("one"),
        binary_version: SemanticVersion::parse("1.31.0").expect("a version"),
        emulation_version: SemanticVersion::parse("1.31.0").ok(),
        strategy: Strategy::OldestEmulationVersion,
        ttl: Ttl::DEFAULT,
    });
    let held = match accepted(cluster.send(acquire("one", None))) {
        Answer::LeaseHeld { token, .. } => token,
        other => panic!("a free lease is held, not {other:?}"),
    };
    accepted(cluster.send(acquire("two", Some(Ttl::DEFAULT))));
    accepted(cluster.send(stand));
    let leases = |cluster: &Cluster| {
        let rows = cluster.state.rows();
        rows.filter(|row| matches!(row, Row::Lease(_))).count()
    };
    assert_eq!(leases(&cluster), 2);
    cluster.is_restored();
    assert_eq!(leases(&cluster), 0);
    assert_eq!(cluster.state.lease_waiter_count(&key("lock")), 0);
    let present = cluster.state.present();
    assert_eq!(present.leases_stood_for(None).count(), 0);
    assert!(cluster.state.holds_lease(&key("lock"), held).is_err());
    match accepted(cluster.send(acquire("two", None))) {
        Answer::LeaseHeld { token, .. } => assert!(token > held),
        other => panic!("a free lease is held, not {other:?}"),
    }
}

// Guarantee: B-07
#[test]
fn claims_are_gone_and_what_was_under_way_is_begun_anew() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods"), of("nodes"), of("events")]);
    let running = cluster.claims("pods", "one");
    accepted(cluster.send(progress(&running, 3)));
    let failed = cluster.claims("nodes", "one");
    accepted(cluster.send(fail(&failed, FailureClass::Transient)));
    let pending = cluster.open("events").id;
    cluster.is_restored();
    for id in [&running.id, &failed.id, &pending] {
        let aborted = cluster.migration(id);
        assert_eq!(aborted.phase, MigrationPhase::Aborted);
        assert_eq!(aborted.aborted, Some(AbortCause::StorageUnknown));
        assert_eq!(aborted.claim, None);
        assert_eq!(aborted.metadata.resource_version, cluster.revision());
    }
    refused(cluster.send(complete(&running)), ErrorKind::NoAgreement);
    refused(cluster.send(progress(&running, 4)), ErrorKind::Conflict);
    cluster.pass(LONGEST);
    cluster.expires();
    assert_eq!(cluster.migration(&failed.id).phase, MigrationPhase::Aborted);
    cluster.starts("a", &[of("pods")]);
    assert_eq!(cluster.open("pods").id.number(), cluster.revision());
}

// Guarantee: B-10
#[test]
fn what_is_stored_outside_is_unknown_and_what_a_collection_counts_is_not() {
    let mut cluster = Cluster::with_widgets();
    cluster.stores(&widget("a/one"), Attributes::default());
    cluster.starts("a", &[of("pods"), of(WIDGETS)]);
    cluster.migrates("pods");
    assert_eq!(cluster.persisted("pods"), ["v1"]);
    cluster.is_restored();
    assert_eq!(cluster.persisted("pods"), ["Unknown", "v1"]);
    assert_eq!(cluster.persisted(WIDGETS), ["v1"]);
    assert!(cluster.has(&widget("a/one")));
}

// Guarantee: B-10
#[test]
fn every_version_of_every_resource_drains_for_the_longest_ttl_and_the_grace() {
    let mut cluster = Cluster::formed();
    // v1 is persisted, v2 selected; a member that wrote v3 since is unknown here.
    let says = of("pods").decodes("v1 v2 v3").prefers("v2");
    let a = cluster.starts("a", &[of("pods").decodes("v1 v2")]);
    cluster.starts("b", std::slice::from_ref(&says));
    cluster.leaves(&a);
    cluster.starts("c", &[of("nodes")]);
    cluster.is_restored();
    let until = cluster.now().after(LONGEST);
    let drains = |versions: &[&str]| -> Vec<_> {
        let named = versions.iter().map(|version| (*version).to_owned());
        named.map(|version| (version, until)).collect()
    };
    assert_eq!(cluster.drains("pods"), drains(&["v1", "v2"]));
    assert_eq!(cluster.drains("nodes"), drains(&["v1"]));
    assert_eq!(cluster.selected("pods").as_deref(), Some("v2"));
    cluster.starts("b", &[says]);
    let id = cluster.open("pods").id;
    let refusal = refused(cluster.send(claim(&id, "one")), ErrorKind::Draining);
    let left = LONGEST.as_millis().to_string();
    assert_eq!(refusal.metadata["retry_after_ms"], left);
    cluster.pass(LONGEST);
    cluster.migrates("pods");
    assert_eq!(cluster.persisted("pods"), ["v2"]);
}

// Guarantee: B-10
#[test]
fn a_version_that_no_backup_has_heard_of_is_waited_for_too() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods")]);
    cluster.is_restored();
    // Since the backup, objects of both resources may have been written in v2.
    let a = cluster.starts("a", &[of("pods"), of("nodes")]);
    for left in [LONGEST, Duration::from_millis(1)] {
        for name in ["pods", "nodes"] {
            let id = cluster.open(name).id;
            let refusal = refused(cluster.send(claim(&id, "one")), ErrorKind::Draining);
            let left = left.as_millis().to_string();
            assert_eq!(refusal.metadata["retry_after_ms"], left);
        }
        cluster.restart_from_checkpoint();
        cluster.pass(LONGEST - Duration::from_millis(1));
    }
    cluster.renews(&a);
    cluster.migrates("pods");
    cluster.migrates("nodes");
}

#[test]
fn a_restore_with_a_shorter_grace_shortens_no_drain_of_the_one_before() {
    let mut cluster = Cluster::formed();
    cluster.is_restored();
    cluster.set(SettingsPatch {
        write_grace: Some(Duration::from_secs(1)),
        ..SettingsPatch::default()
    });
    accepted(cluster.send(Command::Restore(Restore {
        cluster: ClusterId::from_bytes([3; 16]),
    })));
    cluster.starts("a", &[of("pods")]);
    let id = cluster.open("pods").id;
    cluster.pass(LONGEST - Duration::from_millis(1));
    refused(cluster.send(claim(&id, "one")), ErrorKind::Draining);
    cluster.pass(Duration::from_millis(1));
    accepted(cluster.send(claim(&id, "one")));
}

#[test]
fn a_collection_that_was_restored_waits_for_no_drain() {
    let mut cluster = Cluster::with_widgets();
    cluster.stores(&widget("a/one"), Attributes::default());
    cluster.is_restored();
    cluster.starts("a", &[of(WIDGETS).decodes("v1 v2").encodes("v2")]);
    cluster.claims(WIDGETS, "one");
}

#[test]
fn what_discovery_showed_does_not_hold_any_more() {
    let mut cluster = Cluster::formed();
    cluster.observes("pods", &["v1"]);
    cluster.pass(LONGEST);
    cluster.observes("pods", &["v1"]);
    let work = cluster.claims("pods", "one");
    accepted(cluster.send(complete(&work)));
    let before = cluster.kept("pods").agreement_revision;
    assert!(!cluster.persisted("pods").contains(&"Unknown".to_owned()));
    cluster.is_restored();
    let kept = cluster.kept("pods");
    assert_eq!(kept.agreement(), None);
    assert!(kept.observation.is_none() && kept.agreement_revision > before);
    assert!(cluster.persisted("pods").contains(&"Unknown".to_owned()));
    accepted(cluster.send(observe("pods", &["v1"])));
    let id = cluster.open("pods").id;
    refused(cluster.send(claim(&id, "one")), ErrorKind::Draining);
}

#[test]
fn a_checkpoint_of_what_was_restored_goes_on_as_the_state_does() {
    let mut cluster = Cluster::with_widgets();
    cluster.stores(&widget("a/one"), Attributes::default());
    cluster.starts("a", &[release::second(), of(WIDGETS)]);
    cluster.opens_session();
    cluster.claims("pods", "one");
    cluster.is_restored();
    let digest = cluster.state.digest();
    assert_eq!(digest, cluster.state.recompute_digest());
    cluster.restart_from_checkpoint();
    assert_eq!(cluster.state.digest(), digest);
    cluster.starts("a", &[release::second()]);
    // And the cluster can be lost and restored again.
    accepted(cluster.send(Command::Restore(Restore {
        cluster: ClusterId::from_bytes([3; 16]),
    })));
    cluster.restart_from_checkpoint();
    assert!(cluster.revision().get() > 2 << 40);
    assert!(cluster.has(&widget("a/one")));
}
