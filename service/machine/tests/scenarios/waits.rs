//! How long the normal ways take until an old version is safe to drop, in seconds of log time, before and after machine version 3.
//!
//! Servers restart in 5 s, members and claims last 15 s, `write_grace` is 70 s and a walk of the store takes 20 s.

use std::collections::BTreeMap;
use std::time::Duration;

use synod_machine::{Answer, check_drop};
use synod_model::{EVIDENCE_SINCE, MigrationPhase};

use crate::cluster::{Cluster, Server, Work, accepted, claim, complete, leave, progress};
use crate::entry::{Says, of, resource, version};
use crate::raised::raised_to;
use crate::rosters::rule;

const PODS: &str = "pods";
const IDS: [&str; 3] = ["a", "b", "c"];
const WALK: u64 = 20;
const DOWN: u64 = 5;
/// The pause between two restarts of a rolling upgrade.
const PAUSE: u64 = 30;

/// Three servers and a worker, second by second.
struct Fleet {
    cluster: Cluster,
    servers: BTreeMap<String, Server>,
    starts: u32,
    seconds: u64,
    /// The claim of the worker, and when it began.
    work: Option<(Work, u64)>,
}

fn votes(version: &'static str) -> [Says; 1] {
    [of(PODS).decodes("v1 v2").prefers(version)]
}

impl Fleet {
    fn new(machine_version: u32, roster: bool) -> Self {
        let mut cluster = Cluster::formed();
        for command in raised_to(machine_version) {
            accepted(cluster.send(command));
        }
        if roster {
            cluster.sets_roster("core.pods", rule("a b c", "", 0));
        }
        Self {
            cluster,
            servers: BTreeMap::new(),
            starts: 0,
            seconds: 0,
            work: None,
        }
    }

    /// A fleet in which everything is at rest in v1.
    fn settled(machine_version: u32, roster: bool) -> Self {
        let mut fleet = Self::new(machine_version, roster);
        fleet.adopts_synod();
        fleet.pass(300);
        assert_eq!(fleet.cluster.persisted(PODS), ["v1"]);
        fleet
    }

    fn adopts_synod(&mut self) {
        for id in IDS {
            self.starts(id, "v1");
            self.pass(5);
        }
        self.until(|fleet| fleet.cluster.persisted(PODS) == ["v1"]);
    }

    fn starts(&mut self, id: &str, prefers: &'static str) {
        self.starts += 1;
        let server = self.cluster.join(id, &format!("{id}-{}", self.starts));
        self.cluster.reports(&server, &votes(prefers));
        self.servers.insert(id.to_owned(), server);
    }

    fn stops(&mut self, id: &str) -> Server {
        self.servers.remove(id).expect("it runs")
    }

    fn restarts(&mut self, id: &str, prefers: &'static str) {
        self.stops(id);
        self.pass(DOWN);
        self.starts(id, prefers);
    }

    /// Restarts one server after the other. Ends with the last report.
    fn rolls_to(&mut self, prefers: &'static str) {
        for id in IDS {
            if id != IDS[0] {
                self.pass(PAUSE);
            }
            self.restarts(id, prefers);
        }
    }

    fn pass(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.second();
        }
    }

    /// Passes until it is so, and returns how many seconds that took.
    fn until(&mut self, is_so: impl Fn(&Self) -> bool) -> u64 {
        let begun = self.seconds;
        while !is_so(self) {
            assert!(self.seconds - begun < 1_000, "it comes to rest");
            self.second();
        }
        self.seconds - begun
    }

    fn until_safe(&mut self, old: &str) -> u64 {
        self.until(|fleet| {
            let (past, now) = (
                fleet.cluster.state.present(),
                fleet.cluster.state.log_time(),
            );
            check_drop(&past, now, &resource(PODS), &version(old)).is_safe()
        })
    }

    fn second(&mut self) {
        self.seconds += 1;
        self.cluster.pass(Duration::from_secs(1));
        for server in self.servers.values() {
            self.cluster.renews(server);
        }
        self.cluster.expires();
        let selected = self.cluster.selected(PODS);
        for server in self.servers.values() {
            if self.cluster.encoding(server, PODS) != selected {
                self.cluster.adopts(server, PODS);
            }
        }
        self.work = match self.work.take() {
            None => self.claims(),
            Some((work, since)) => self.works(work, since),
        };
    }

    fn claims(&mut self) -> Option<(Work, u64)> {
        let migrations = self.cluster.migrations(PODS);
        let mut pending = migrations.iter();
        let pending = pending.find(|it| it.phase == MigrationPhase::Pending)?;
        let id = pending.id.clone();
        match self.cluster.send(claim(&id, "worker")).result.ok()? {
            Answer::MigrationClaimed { token, progress } => {
                let work = Work {
                    id,
                    token,
                    progress,
                };
                Some((work, self.seconds))
            }
            other => panic!("a claim answers its token, not {other:?}"),
        }
    }

    fn works(&mut self, work: Work, since: u64) -> Option<(Work, u64)> {
        let walked = self.seconds - since;
        let outcome = if walked < WALK {
            self.cluster.send(progress(&work, walked))
        } else {
            self.cluster.send(complete(&work))
        };
        let goes_on = outcome.result.is_ok() && walked < WALK;
        goes_on.then_some((work, since))
    }

    /// Passes until a worker is in the middle of a walk.
    fn half_a_walk(&mut self) {
        self.until(|fleet| fleet.work.is_some());
        self.pass(WALK / 2);
    }
}

/// The seconds of a way under the machine version before and under the newest one.
fn both(way: impl Fn(u32) -> u64) -> (u64, u64) {
    (way(EVIDENCE_SINCE - 1), way(EVIDENCE_SINCE))
}

#[test]
fn a_rolling_upgrade_of_servers_with_stable_ids_waits_no_longer() {
    let way = |machine_version| {
        let mut fleet = Fleet::settled(machine_version, true);
        fleet.rolls_to("v2");
        fleet.until_safe("v1")
    };
    assert_eq!(both(way), (105, 105));
}

#[test]
fn a_rolling_upgrade_in_which_a_worker_restarts_waits_no_longer() {
    let way = |machine_version| {
        let mut fleet = Fleet::settled(machine_version, true);
        fleet.rolls_to("v2");
        let begun = fleet.seconds;
        fleet.half_a_walk();
        fleet.work = None;
        fleet.until_safe("v1");
        fleet.seconds - begun
    };
    assert_eq!(both(way), (130, 130));
}

#[test]
fn a_rolling_upgrade_in_which_a_server_restarts_waits_no_longer() {
    let way = |machine_version| {
        let mut fleet = Fleet::settled(machine_version, true);
        fleet.rolls_to("v2");
        let begun = fleet.seconds;
        fleet.half_a_walk();
        fleet.restarts("b", "v2");
        fleet.until_safe("v1");
        fleet.seconds - begun
    };
    assert_eq!(both(way), (185, 185));
}

#[test]
fn the_first_adoption_waits_for_what_was_written_before_it() {
    let way = |machine_version| {
        let mut fleet = Fleet::new(machine_version, true);
        fleet.adopts_synod();
        fleet.seconds - 2 * 5
    };
    assert_eq!(both(way), (21, 90));
}

#[test]
fn servers_with_new_ids_wait_for_what_was_written_before_they_joined() {
    let way = |machine_version| {
        let mut fleet = Fleet::settled(machine_version, false);
        for (id, next) in IDS.into_iter().zip(["d", "e", "f"]) {
            if id != IDS[0] {
                fleet.pass(PAUSE);
            }
            let server = fleet.stops(id);
            accepted(fleet.cluster.send(leave(&server, true)));
            fleet.pass(2);
            fleet.starts(next, "v2");
        }
        fleet.until_safe("v1")
    };
    assert_eq!(both(way), (19, 90));
}

#[test]
fn a_server_that_was_absent_for_long_is_waited_for() {
    let way = |machine_version| {
        let mut fleet = Fleet::settled(machine_version, true);
        fleet.stops("c");
        fleet.pass(15 * 60);
        for id in ["a", "b"] {
            fleet.restarts(id, "v2");
            fleet.pass(PAUSE);
        }
        fleet.starts("c", "v2");
        fleet.until_safe("v1")
    };
    assert_eq!(both(way), (75, 90));
}
