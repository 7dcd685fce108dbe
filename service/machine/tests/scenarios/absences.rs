//! Absences: what a server may have written while nobody knew of it, and which answers name it.

use std::collections::BTreeSet;
use std::time::Duration;

use synod_machine::{Answer, Command, SafetyVerdict, Why, check_drop};
use synod_model::limits::ABSENCE_GRACE;
use synod_model::{Assumption, ErrorKind, Join, Leave, LogTime, Persisted, Ttl};

use crate::cluster::{
    Cluster, Server, TTL, accepted, claim, complete, join, progress, refused, renew,
};
use crate::entry::{Says, of, resource, version};
use crate::raised::raised;
use crate::rosters::rule;

const GRACE: Duration = Duration::from_secs(70);
const SECOND: Duration = Duration::from_secs(1);
const DAY: Ttl = Ttl::MAX;

fn pods(encodes: &'static str) -> Says {
    of("pods").decodes("v1 v2").encodes(encodes)
}

impl Cluster {
    /// Waits until nothing can land any more that was written before anybody spoke.
    pub(crate) fn lets_unknown_writes_land(&mut self, name: &str) {
        let until = self.kept(name).unknown_drain;
        let left = until.unwrap_or_default().since(self.now());
        self.pass(left);
    }

    fn counts_absences() -> Self {
        let mut cluster = Self::formed();
        for command in raised() {
            accepted(cluster.send(command));
        }
        cluster
    }

    /// A cluster in which these servers are asked for by name, encode v2, and have migrated to it.
    fn settled(ids: &str) -> (Self, Vec<Server>) {
        let mut cluster = Self::counts_absences();
        cluster.sets_roster("*", rule(ids, "", 0));
        let ids = ids.split(' ');
        let servers: Vec<Server> = ids.map(|id| cluster.starts(id, &[pods("v2")])).collect();
        cluster.migrates("pods");
        cluster.renew_all(&servers.iter().collect::<Vec<_>>());
        (cluster, servers)
    }

    fn joins_as(&mut self, how: Join) -> Server {
        let (id, instance) = (how.id.clone(), how.instance.to_string());
        match accepted(self.send(Command::Join(how))) {
            Answer::Joined { epoch, .. } => Server {
                id,
                instance,
                epoch,
            },
            other => panic!("a join answers the epoch, not {other:?}"),
        }
    }

    fn starts_ungated(&mut self, id: &str, instance: &str, says: &[Says]) -> Server {
        let server = self.joins_as(Join {
            gated: false,
            ..join(id, instance)
        });
        self.reports(&server, says);
        server
    }

    fn unknown_writes_land_until(&self) -> LogTime {
        self.kept("pods").unknown_drain.unwrap_or_default()
    }

    fn is_store_unknown(&self) -> bool {
        self.kept("pods").persisted.contains(&Persisted::Unknown)
    }

    fn asked(&self, of: &str) -> SafetyVerdict {
        let (past, now) = (self.state.present(), self.state.log_time());
        check_drop(&past, now, &resource("pods"), &version(of))
    }

    fn assumed_of(&self, of: &str) -> BTreeSet<Assumption> {
        self.asked(of).assumptions.into_keys().collect()
    }
}

// Guarantee: V-19
#[test]
fn what_was_written_before_anybody_spoke_lands_before_a_claim() {
    let mut cluster = Cluster::counts_absences();
    let joined = cluster.joins("a");
    let until = cluster.state.log_time().after(GRACE);
    cluster.pass(SECOND * 5);
    cluster.reports(&joined, &[pods("v1")]);
    assert_eq!(cluster.unknown_writes_land_until(), until);
    let id = cluster.open("pods").id;
    refused(cluster.send(claim(&id, "worker")), ErrorKind::Draining);
    assert!(
        cluster
            .asked("v2")
            .dangers
            .iter()
            .any(|danger| { danger.why == Why::DrainingUnknown(until) })
    );
    cluster.pass(GRACE - SECOND * 5);
    accepted(cluster.send(claim(&id, "worker")));
}

// Guarantee: V-19
#[test]
fn a_server_that_is_behind_its_gate_for_long_begins_with_another_resource_at_once() {
    let mut cluster = Cluster::counts_absences();
    let a = cluster.joins("a");
    cluster.pass(GRACE);
    cluster.renews(&a);
    cluster.reports(&a, &[pods("v1")]);
    assert_eq!(cluster.unknown_writes_land_until(), LogTime::ZERO);
    cluster.claims("pods", "worker");
}

// Guarantee: V-19
#[test]
fn a_restart_under_a_stable_id_waits_for_nothing_and_a_new_id_does() {
    let (mut cluster, servers) = Cluster::settled("a b");
    cluster.is_replaced(&servers[0], &[pods("v2")]);
    cluster.leaves_drained(&servers[1]);
    cluster.pass(SECOND * 30);
    cluster.starts("b", &[pods("v2")]);
    assert_eq!(cluster.unknown_writes_land_until(), LogTime::ZERO);
    cluster.starts("c", &[pods("v2")]);
    let until = cluster.state.log_time().after(GRACE);
    assert_eq!(cluster.unknown_writes_land_until(), until);
}

// Guarantee: V-19
#[test]
fn a_worker_whose_walk_may_have_missed_a_write_begins_at_the_first_key() {
    let mut cluster = Cluster::counts_absences();
    cluster.starts("a", &[pods("v1")]);
    let work = cluster.claims("pods", "worker");
    accepted(cluster.send(progress(&work, 7)));
    cluster.starts("b", &[pods("v1")]);
    refused(cluster.send(complete(&work)), ErrorKind::Conflict);
    let again = cluster.claims("pods", "worker");
    assert_eq!(again.progress.done, 0);
    assert_eq!(again.id, work.id, "the agreement is the same");
    accepted(cluster.send(complete(&again)));
}

// Guarantee: V-19
#[test]
fn a_first_look_of_an_observer_waits_too() {
    let mut cluster = Cluster::counts_absences();
    cluster.observes("pods", &["v1"]);
    let until = cluster.state.log_time().after(GRACE);
    assert_eq!(cluster.unknown_writes_land_until(), until);
    cluster.pass(SECOND);
    cluster.observes("pods", &["v1"]);
    assert_eq!(cluster.unknown_writes_land_until(), until);
}

// Guarantee: V-20
#[test]
fn a_member_that_was_long_away_may_have_written_anything() {
    let (mut cluster, servers) = Cluster::settled("a b");
    assert!(!cluster.is_store_unknown());
    cluster.pass(TTL);
    cluster.renews(&servers[0]);
    cluster.expires();
    cluster.pass(ABSENCE_GRACE);
    cluster.renews(&servers[0]);
    cluster.restart_from_checkpoint();
    let b = cluster.join("b", "after-a-week");
    cluster.reports(&b, &[pods("v2")]);
    let until = cluster.state.log_time().after(GRACE);
    assert_eq!(cluster.unknown_writes_land_until(), until);
    assert!(cluster.is_store_unknown());
    assert!(cluster.assumed_of("v1").contains(&Assumption::NoRoster));
    cluster.migrates("pods");
    assert!(!cluster.is_store_unknown());
    assert_eq!(cluster.assumed_of("v1"), BTreeSet::new());
    assert!(cluster.asked("v1").is_safe());
}

// Guarantee: V-20
#[test]
fn a_short_absence_is_told_until_a_migration_that_is_claimed_later() {
    let (mut cluster, servers) = Cluster::settled("a b");
    cluster.pass(TTL);
    cluster.renews(&servers[0]);
    cluster.expires();
    cluster.pass(SECOND * 60);
    let b = cluster.join("b", "after-a-minute");
    cluster.reports(&b, &[pods("v2")]);
    cluster.renews(&servers[0]);
    assert!(!cluster.is_store_unknown());
    assert_eq!(
        cluster.assumed_of("v1"),
        BTreeSet::from([Assumption::ShortAbsence])
    );
    assert!(!Assumption::ShortAbsence.needs_vouching());
    let words = &cluster.asked("v1").concerned[&Assumption::ShortAbsence];
    assert_eq!(words.iter().collect::<Vec<_>>(), ["b was away for 75 s"]);
    // One that is claimed before its late writes have landed settles nothing.
    for (encodes, waits, is_told) in [("v1", SECOND * 10, true), ("v2", GRACE, false)] {
        cluster.reports(&servers[0], &[pods(encodes)]);
        cluster.reports(&b, &[pods(encodes)]);
        cluster.pass(waits);
        cluster.renew_all(&[&servers[0], &b]);
        cluster.migrates("pods");
        let told = cluster.assumed_of("v3").contains(&Assumption::ShortAbsence);
        assert_eq!(told, is_told, "{encodes}");
    }
}

// Guarantee: V-20
#[test]
fn a_process_that_joins_again_was_never_away() {
    let (mut cluster, servers) = Cluster::settled("a b");
    cluster.pass(TTL);
    cluster.renews(&servers[0]);
    cluster.expires();
    cluster.pass(ABSENCE_GRACE * 2);
    cluster.renews(&servers[0]);
    let b = cluster.join("b", &servers[1].instance);
    cluster.reports(&b, &[pods("v2")]);
    assert!(!cluster.is_store_unknown());
    assert_eq!(cluster.assumed_of("v1"), BTreeSet::new());
    assert_eq!(cluster.unknown_writes_land_until(), LogTime::ZERO);
}

// Guarantee: V-20
#[test]
fn a_long_membership_hides_no_absence() {
    for renews in [false, true] {
        let mut cluster = Cluster::counts_absences();
        cluster.sets_roster("*", rule("b", "", 0));
        let b = cluster.joins_as(Join {
            ttl: DAY,
            ..join("b", "first")
        });
        cluster.reports(&b, &[pods("v2")]);
        cluster.migrates("pods");
        cluster.pass(ABSENCE_GRACE * 2);
        if renews {
            cluster.renews(&b);
        }
        let again = cluster.joins_as(Join {
            ttl: DAY,
            ..join("b", "second")
        });
        assert_eq!(cluster.is_store_unknown(), !renews, "before it reports");
        cluster.reports(&again, &[pods("v2")]);
        assert_eq!(cluster.is_store_unknown(), !renews);
    }
}

// Guarantee: V-20
#[test]
fn the_log_knows_to_the_minute_when_a_member_with_a_long_ttl_was_last_heard() {
    let mut cluster = Cluster::counts_absences();
    let b = cluster.joins_as(Join {
        ttl: DAY,
        ..join("b", "first")
    });
    let c = cluster.joins("c");
    for (waits, belongs) in [(60, false), (1, true)] {
        cluster.pass(SECOND * waits);
        for (server, belongs) in [(&b, belongs), (&c, false)] {
            let renewal = cluster.state.renewal(&renew(server)).expect("it renews");
            let renewal = renewal.expect("it is a member");
            let is_logged = cluster.state.belongs_to_log(&renewal, cluster.now());
            assert_eq!(is_logged, belongs, "{}", server.id);
        }
    }
    cluster.renews(&b);
    let renewal = cluster.state.renewal(&renew(&b)).expect("it renews");
    let renewal = renewal.expect("it is a member");
    assert!(!cluster.state.belongs_to_log(&renewal, cluster.now()));
}

// Guarantee: V-21
#[test]
fn what_a_member_without_a_gate_wrote_before_its_report_drains() {
    let mut cluster = Cluster::counts_absences();
    let a = cluster.starts_ungated("a", "first", &[pods("v1"), of("secrets")]);
    cluster.migrates("pods");
    cluster.renews(&a);
    cluster.reports(&a, &[pods("v2")]);
    let until = cluster.state.log_time().after(GRACE);
    assert_eq!(cluster.kept("pods").drains[&version("v1")], until);
    cluster.reports_only(&a, &[of("secrets")]);
    assert_eq!(cluster.kept("pods").drains[&version("v2")], until);
    // Each entry that it did not have waits.
    cluster.pass(SECOND);
    cluster.reports(&a, &[pods("v2")]);
    assert_eq!(cluster.unknown_writes_land_until(), until.after(SECOND));
}

// Guarantee: V-21
#[test]
fn a_member_without_a_gate_that_expires_is_assumed_to_have_stopped_until_it_returns() {
    let mut cluster = Cluster::counts_absences();
    let a = cluster.starts("a", &[pods("v2")]);
    cluster.starts_ungated("b", "first", &[pods("v2")]);
    cluster.migrates("pods");
    cluster.renews(&a);
    cluster.expires();
    assert!(cluster.assumed_of("v1").contains(&Assumption::UngatedGone));
    let named = &cluster.asked("v1").concerned[&Assumption::UngatedGone];
    assert_eq!(named.iter().collect::<Vec<_>>(), ["b"]);
    cluster.pass(GRACE * 2);
    cluster.renews(&a);
    // It comes back and reports nothing of pods: its former process is gone all the same.
    cluster.starts_ungated("b", "second", &[of("secrets")]);
    assert!(!cluster.assumed_of("v1").contains(&Assumption::UngatedGone));
    let until = cluster.state.log_time().after(GRACE);
    assert_eq!(cluster.unknown_writes_land_until(), until);
}

// Guarantee: V-21
#[test]
fn somebody_says_that_a_process_without_a_gate_has_stopped() {
    let mut cluster = Cluster::counts_absences();
    cluster.starts("a", &[pods("v2")]);
    let b = cluster.starts_ungated("b", "first", &[pods("v2")]);
    cluster.migrates("pods");
    let evict = |stopped| {
        Command::Leave(Leave {
            member: b.id.clone(),
            epoch: b.epoch,
            drained: false,
            instance: None,
            stopped,
        })
    };
    accepted(cluster.send(evict(false)));
    refused(cluster.send(evict(false)), ErrorKind::NotAMember);
    assert!(cluster.assumed_of("v1").contains(&Assumption::UngatedGone));
    accepted(cluster.send(evict(true)));
    let assumed = cluster.assumed_of("v1");
    assert!(!assumed.contains(&Assumption::UngatedGone));
    assert!(assumed.contains(&Assumption::SaidStopped));
    let until = cluster.state.log_time().after(GRACE);
    assert_eq!(cluster.unknown_writes_land_until(), until);
    refused(cluster.send(evict(true)), ErrorKind::NotAMember);
}
