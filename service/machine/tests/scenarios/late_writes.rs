//! What migration workers and evicted members may still write: no answer is safe, and no worker passes, before it has landed.

use std::collections::BTreeSet;
use std::time::Duration;

use synod_machine::{Answer, Command, Why, check_drop};
use synod_model::{
    AbortMigration, Assumption, ClaimMigration, ClaimToken, ErrorKind, FailureClass, Join, Leave,
    LogTime, MigrationId, Preconditions, ReleaseMigration, Renew, ResetStorageStates, Ttl,
    WorkerName, WorkerStop,
};

use crate::cluster::{
    Cluster, Server, Work, accepted, claim, complete, fail, join, progress, refused,
};
use crate::entry::{Says, of, resource, version};
use crate::raised::{raised, raised_to};

const LEGAL: &str = "scenarios use legal names and numbers";
const GRACE: Duration = Duration::from_secs(70);
const SECOND: Duration = Duration::from_secs(1);

fn pods(encodes: &'static str) -> Says {
    of("pods").decodes("v1 v2").encodes(encodes)
}

fn whys(cluster: &Cluster, of: &str) -> Vec<Why> {
    let (past, now) = (cluster.state.present(), cluster.state.log_time());
    let verdict = check_drop(&past, now, &resource("pods"), &version(of));
    verdict
        .dangers
        .into_iter()
        .map(|danger| danger.why)
        .collect()
}

fn assumptions(cluster: &Cluster) -> BTreeSet<Assumption> {
    let (past, now) = (cluster.state.present(), cluster.state.log_time());
    let verdict = check_drop(&past, now, &resource("pods"), &version("v2"));
    verdict.assumptions.into_keys().collect()
}

fn claim_for(id: &MigrationId, ttl: Duration, fenced: bool) -> Command {
    Command::ClaimMigration(ClaimMigration {
        id: id.clone(),
        worker: WorkerName::parse("worker").expect(LEGAL),
        ttl: Ttl::from_millis(u64::try_from(ttl.as_millis()).expect(LEGAL)).expect(LEGAL),
        fenced,
        walks: None,
    })
}

fn release(id: &MigrationId, token: ClaimToken, stop: Option<WorkerStop>) -> Command {
    Command::ReleaseMigration(ReleaseMigration {
        id: id.clone(),
        token,
        stop,
    })
}

impl Cluster {
    /// A server that encodes v1, with everything migrated to it, and then v2, so that a migration to v2 waits.
    fn moves_to_v2(&mut self) -> Server {
        for command in raised() {
            accepted(self.send(command));
        }
        let server = self.starts("a", &[pods("v1")]);
        self.migrates("pods");
        self.renews(&server);
        self.reports(&server, &[pods("v2")]);
        server
    }

    fn claims_for(&mut self, ttl: Duration, fenced: bool) -> Work {
        let id = self.open("pods").id;
        let answer = accepted(self.send(claim_for(&id, ttl, fenced)));
        let Answer::MigrationClaimed { token, progress } = answer else {
            panic!("it was claimed");
        };
        Work {
            id,
            token,
            progress,
        }
    }

    /// The log time from which on the open migration can be claimed.
    fn is_claimable_at(&mut self, server: &Server, fenced: bool) -> LogTime {
        let id = self.open("pods").id;
        loop {
            let outcome = self.send(claim_for(&id, Duration::from_secs(15), fenced));
            match outcome.result {
                Ok(_) => return self.state.log_time(),
                Err(refusal) => assert_eq!(refusal.kind, ErrorKind::Draining),
            }
            self.pass(SECOND);
            self.renews(server);
        }
    }
}

/// KEP-2339's question on version skew: the first worker's rewrite to v2 lands, conditional on what it has listed, when
/// everything was migrated back to v1.
// Guarantee: V-17
#[test]
fn a_worker_whose_migration_is_called_back_may_write_until_its_claim_would_have_run_out() {
    for ttl in [15, 24 * 3_600].map(Duration::from_secs) {
        let mut cluster = Cluster::formed();
        let server = cluster.moves_to_v2();
        let work = cluster.claims_for(ttl, false);
        accepted(cluster.send(progress(&work, 1)));
        let until = cluster.now().after(ttl).after(GRACE);
        cluster.reports(&server, &[pods("v1")]);
        let id = cluster.open("pods").id;
        refused(cluster.send(claim(&id, "two")), ErrorKind::Draining);
        let names_v2 = Why::Draining(version("v2"), until);
        assert!(whys(&cluster, "v2").contains(&names_v2));
        // Also once the drained server's own writes are over.
        cluster.pass(until.since(cluster.now()) - SECOND);
        cluster.renews(&server);
        refused(cluster.send(claim(&id, "two")), ErrorKind::Draining);
        cluster.pass(SECOND);
        cluster.renews(&server);
        cluster.migrates("pods");
        assert_eq!(whys(&cluster, "v2"), []);
    }
}

// Guarantee: V-17
#[test]
fn what_a_worker_says_of_its_rewrites_decides_how_long_they_drain() {
    let ttl = Duration::from_secs(15);
    let ends: [(&str, Option<WorkerStop>, Duration); 3] = [
        ("by somebody else", None, ttl + GRACE),
        ("some unanswered", Some(WorkerStop::SomeUnanswered), GRACE),
        (
            "all answered",
            Some(WorkerStop::AllAnswered),
            Duration::ZERO,
        ),
    ];
    for (name, stop, waits) in ends {
        for fails in [false, true] {
            let mut cluster = Cluster::formed();
            let server = cluster.moves_to_v2();
            let work = cluster.claims_for(ttl, false);
            let ended_at = cluster.now();
            let Command::FailMigration(mut gives_up) = fail(&work, FailureClass::Transient) else {
                unreachable!()
            };
            gives_up.stop = stop;
            accepted(cluster.send(match fails {
                true => Command::FailMigration(gives_up),
                false => release(&work.id, work.token, stop),
            }));
            // A worker of the same target need not wait for it.
            cluster.pass(SECOND * 2);
            cluster.expires();
            cluster.renews(&server);
            let again = cluster.claims_for(ttl, false);
            accepted(cluster.send(release(
                &again.id,
                again.token,
                Some(WorkerStop::AllAnswered),
            )));
            cluster.reports(&server, &[pods("v1")]);
            let claimable = cluster.is_claimable_at(&server, false);
            let waited = claimable.since(ended_at);
            let least = waits.max(SECOND * 2);
            assert_eq!(waited, least, "{name}, fails: {fails}");
        }
    }
}

// Guarantee: V-17
#[test]
fn a_worker_that_is_told_and_has_all_answers_lifts_the_drain_of_its_own_claim() {
    let mut cluster = Cluster::formed();
    let server = cluster.moves_to_v2();
    let work = cluster.claims_for(Duration::from_secs(60), false);
    cluster.reports(&server, &[pods("v1")]);
    let back = cluster.open("pods").id;
    refused(cluster.send(claim(&back, "two")), ErrorKind::Draining);
    // Not by another token, and not while some are unanswered.
    let other = ClaimToken::new(work.token.revision().next());
    let answered = Some(WorkerStop::AllAnswered);
    refused(
        cluster.send(release(&work.id, other, answered)),
        ErrorKind::Conflict,
    );
    let unanswered = Some(WorkerStop::SomeUnanswered);
    refused(
        cluster.send(release(&work.id, work.token, unanswered)),
        ErrorKind::Conflict,
    );
    accepted(cluster.send(release(&work.id, work.token, answered)));
    cluster.migrates("pods");
    assert_eq!(whys(&cluster, "v2"), []);
    refused(
        cluster.send(release(&work.id, work.token, answered)),
        ErrorKind::Conflict,
    );
}

// Guarantee: V-17
#[test]
fn only_a_fenced_worker_need_not_wait_for_a_fenced_one() {
    for (first, second, waits) in [
        (true, true, false),
        (true, false, true),
        (false, true, true),
        (false, false, true),
    ] {
        let mut cluster = Cluster::formed();
        let server = cluster.moves_to_v2();
        cluster.claims_for(Duration::from_secs(15), first);
        cluster.reports(&server, &[pods("v1")]);
        let at = cluster.now();
        let waited = cluster.is_claimable_at(&server, second) > at;
        assert_eq!(
            waited, waits,
            "first fenced: {first}, second fenced: {second}"
        );
    }
}

/// Every way in which a claim ends without success leaves a drain.
// Guarantee: V-17
#[test]
fn no_end_of_a_claim_is_without_a_drain() {
    let ttl = Duration::from_secs(15);
    type End = fn(&mut Cluster, &Work);
    let ends: [(&str, End, Duration); 5] = [
        (
            "expiry",
            |cluster, _| {
                let pods = cluster.version("pods").expect("it is reported");
                let (id, _) = pods.entries().next().expect("it has an entry");
                let epoch = cluster.state.present().member(id).unwrap().epoch;
                cluster.pass(Duration::from_secs(10));
                let member = id.clone();
                accepted(cluster.send(Command::Renew(Renew { member, epoch })));
                cluster.pass(Duration::from_secs(5));
                cluster.expires();
            },
            GRACE,
        ),
        (
            "abort",
            |cluster, work| {
                let id = work.id.clone();
                accepted(cluster.send(Command::AbortMigration(AbortMigration { id })));
            },
            ttl + GRACE,
        ),
        (
            "deletion",
            |cluster, work| {
                accepted(
                    cluster.send(Command::DeleteMigration(synod_model::DeleteMigration {
                        id: work.id.clone(),
                        preconditions: Preconditions::default(),
                    })),
                );
            },
            ttl + GRACE,
        ),
        (
            "reset",
            |cluster, _| {
                let reset = ResetStorageStates { resource: None };
                accepted(cluster.send(Command::ResetStorageStates(reset)));
            },
            ttl + GRACE,
        ),
        (
            "another agreement",
            |cluster, _| {
                let other = cluster.joins("other");
                cluster.reports(&other, &[pods("v1")]);
            },
            ttl + GRACE,
        ),
    ];
    for (name, end, drains) in ends {
        let mut cluster = Cluster::formed();
        cluster.moves_to_v2();
        let work = cluster.claims_for(ttl, false);
        end(&mut cluster, &work);
        let kept = cluster.kept("pods").claim_drains;
        let until = cluster.now().after(drains);
        assert_eq!(
            kept.get(&work.token).map(|drain| drain.until),
            Some(until),
            "{name}"
        );
        cluster.restart_from_checkpoint();
    }
}

// Guarantee: V-18
#[test]
fn an_evicted_member_may_write_until_its_proof_of_membership_has_run_out() {
    let mut cluster = Cluster::formed();
    let server = cluster.moves_to_v2();
    cluster.migrates("pods");
    let evicted = |stopped| {
        Command::Leave(Leave {
            member: server.id.clone(),
            epoch: server.epoch,
            drained: false,
            instance: None,
            stopped,
        })
    };
    let before = cluster.state.clone();
    accepted(cluster.send(evicted(false)));
    let until = cluster.now().after(Ttl::DEFAULT.duration()).after(GRACE);
    assert_eq!(cluster.kept("pods").drains[&version("v2")], until);
    assert!(!assumptions(&cluster).contains(&Assumption::SaidStopped));

    // Somebody says that it has stopped: that is an assumption, until a migration that is claimed late enough.
    cluster.state = before;
    accepted(cluster.send(evicted(true)));
    let soon = cluster.now().after(GRACE);
    assert_eq!(cluster.kept("pods").drains[&version("v2")], soon);
    assert!(assumptions(&cluster).contains(&Assumption::SaidStopped));
    let server = cluster.starts("b", &[pods("v1")]);
    for (passes, is_assumed) in [(GRACE, true), (Duration::from_secs(15), false)] {
        cluster.pass(passes);
        cluster.renews(&server);
        let reset = ResetStorageStates { resource: None };
        accepted(cluster.send(Command::ResetStorageStates(reset)));
        cluster.migrates("pods");
        let names = assumptions(&cluster).contains(&Assumption::SaidStopped);
        assert_eq!(names, is_assumed);
    }
}

// Guarantee: V-18
#[test]
fn an_evicted_voter_drains_all_that_it_decodes_since_it_follows_what_is_selected() {
    let mut cluster = Cluster::formed();
    for command in raised() {
        accepted(cluster.send(command));
    }
    let server = cluster.starts("a", &[of("pods").decodes("v1 v2").prefers("v2")]);
    accepted(cluster.send(Command::Leave(Leave {
        member: server.id.clone(),
        epoch: server.epoch,
        drained: false,
        instance: None,
        stopped: false,
    })));
    let drains = cluster.kept("pods").drains;
    assert_eq!(
        drains.keys().map(|it| it.as_str()).collect::<Vec<_>>(),
        ["v1", "v2"]
    );
}

// Guarantee: V-18
#[test]
fn a_member_leaves_in_the_name_of_its_own_instance_alone() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods")]);
    let other = Server {
        instance: "another".to_owned(),
        ..cluster.joins("b")
    };
    let other = Server {
        id: a.id.clone(),
        epoch: a.epoch,
        ..other
    };
    refused(
        cluster.send(crate::cluster::leave(&other, false)),
        ErrorKind::Conflict,
    );
    cluster.leaves(&a);
}

/// Before machine version 3 nobody has counted what workers may write, and no claim says any more what it was.
// Guarantee: V-22
#[test]
fn what_was_concluded_before_the_rules_is_an_assumption_and_everything_drains_once() {
    let mut cluster = Cluster::formed();
    for command in raised_to(2) {
        accepted(cluster.send(command));
    }
    let server = cluster.starts("a", &[pods("v1")]);
    cluster.migrates("pods");
    cluster.reports(&server, &[pods("v2")]);
    let work = cluster.claims_for(Duration::from_secs(15), false);
    assert_eq!(cluster.migration(&work.id).claim.unwrap().since, None);
    cluster.reports(&server, &[pods("v1")]);
    assert!(cluster.kept("pods").claim_drains.is_empty());

    for command in raised() {
        accepted(cluster.send(command));
    }
    let until = cluster.now().after(Ttl::MAX.duration()).after(GRACE);
    let kept = cluster.kept("pods");
    assert_eq!(kept.unknown_drain, Some(until));
    assert_eq!(
        kept.known_versions
            .keys()
            .map(|it| it.as_str())
            .collect::<Vec<_>>(),
        ["v1", "v2"]
    );
    assert!(whys(&cluster, "v1").contains(&Why::DrainingUnknown(until)));
    assert!(assumptions(&cluster).contains(&Assumption::ConcludedBefore));
    let id = cluster.open("pods").id;
    refused(cluster.send(claim(&id, "two")), ErrorKind::Draining);
    cluster.pass(until.since(cluster.now()));
    cluster.renews(&server);
    cluster.migrates("pods");
    assert!(!assumptions(&cluster).contains(&Assumption::ConcludedBefore));
    assert_eq!(whys(&cluster, "v2"), []);
    refused(cluster.send(complete(&work)), ErrorKind::NoAgreement);
}

/// A replica of an older machine version would stop over what it cannot read.
// Guarantee: V-22
#[test]
fn what_an_older_replica_cannot_read_is_left_out_and_drains_no_less() {
    let mut cluster = Cluster::formed();
    let server = cluster.starts("a", &[of("pods")]);
    let id = cluster.open("pods").id;
    let token = ClaimToken::new(cluster.revision());
    let Command::FailMigration(plain) = fail(
        &Work {
            id: id.clone(),
            token,
            progress: Default::default(),
        },
        FailureClass::Transient,
    ) else {
        unreachable!()
    };
    let mut said = plain.clone();
    said.stop = Some(WorkerStop::AllAnswered);
    let leaves = crate::cluster::leave(&server, false);
    let Command::Leave(mut unnamed) = leaves.clone() else {
        unreachable!()
    };
    unnamed.instance = None;
    for (newer, older) in [
        (
            claim_for(&id, Duration::from_secs(15), true),
            claim_for(&id, Duration::from_secs(15), false),
        ),
        (
            release(&id, token, Some(WorkerStop::AllAnswered)),
            release(&id, token, None),
        ),
        (Command::FailMigration(said), Command::FailMigration(plain)),
        (leaves, Command::Leave(unnamed)),
        (
            Command::Join(join("a", "first")),
            Command::Join(Join {
                gated: false,
                ..join("a", "first")
            }),
        ),
    ] {
        assert_eq!(newer.clone().as_known_to(2), older);
        assert_eq!(newer.clone().as_known_to(3), newer);
    }
}

/// A new cluster begins with the first machine version, until its last replica has announced itself.
// Guarantee: V-22
#[test]
fn a_new_cluster_waits_for_nothing_that_cannot_have_been() {
    let mut cluster = Cluster::formed();
    let server = cluster.starts("a", &[pods("v1")]);
    let before = cluster.open("pods");
    for command in raised() {
        accepted(cluster.send(command));
    }
    let kept = cluster.kept("pods");
    assert_eq!((kept.unknown_drain, kept.concluded_before), (None, None));
    assert!(kept.known_versions.contains_key(&version("v2")));
    assert_eq!(cluster.open("pods").id, before.id);
    cluster.renews(&server);
    cluster.migrates("pods");
    assert_eq!(whys(&cluster, "v2"), []);
}
