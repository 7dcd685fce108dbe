//! The question whether an upgrade may go on: every obstacle, in its order, with the command that helps.

use std::collections::BTreeMap;
use std::time::Duration;

use synod_machine::{
    Command, Holder, LateEncoding, Obstacle, UpgradeCause, UpgradeObstacle, UpgradeVerdict,
    check_upgrade,
};
use synod_model::{
    AbortMigration, Assumption, FailureClass, MemberId, MigrationReason, ResetStorageStates,
    ResourceScope, StartMigration,
};

use crate::cluster::{Cluster, TTL, accepted, fail, hash, progress};
use crate::entry::{of, resource, version};
use crate::raised::raised;
use crate::rosters::rule;

/// Whether `v1beta1` of the widgets of `example.io` is served.
const BETA: &str = "widgets.example.io.served.synod.v1beta1";

/// How long a write may land after its writer is gone.
const GRACE: Duration = Duration::from_secs(70);

fn member(id: &str) -> MemberId {
    MemberId::parse(id).expect("a legal id")
}

fn scope(text: &str) -> ResourceScope {
    ResourceScope::parse(text).expect("a legal scope")
}

impl Cluster {
    /// The answer of the leader, which knows how much time each member has left.
    fn upgrade(&self) -> UpgradeVerdict {
        let past = self.state.present();
        let members = past.members(None);
        let remaining: BTreeMap<MemberId, Duration> = members
            .filter_map(|member| {
                let holder = Holder::Member(member.id.clone());
                let left = self.state.deadline(&holder)?.since(self.now());
                Some((member.id.clone(), left))
            })
            .collect();
        check_upgrade(&past, self.now(), &remaining)
    }

    /// The resource, the sentence and the command of each obstacle.
    fn obstacles_to_upgrade(&self) -> Vec<[String; 3]> {
        let obstacles = self.upgrade().obstacles;
        let obstacles = obstacles.iter();
        let words = obstacles.map(|it: &UpgradeObstacle| {
            let resource = it.resource.as_ref().map_or("-", |of| of.qualified());
            [resource.to_owned(), it.to_string(), it.command()]
        });
        words.collect()
    }

    fn causes(&self) -> Vec<UpgradeCause> {
        let obstacles = self.upgrade().obstacles.into_iter();
        obstacles.map(|obstacle| obstacle.cause).collect()
    }
}

#[test]
fn an_upgrade_of_nothing_may_not_go_on() {
    let cluster = Cluster::formed();
    let obstacle = Obstacle::NothingKnown;
    assert_eq!(cluster.causes(), [UpgradeCause::Disagreement { obstacle }]);
    let command = cluster.upgrade().obstacles[0].command();
    assert_eq!(command, "synod members");
}

// Guarantee: V-09
#[test]
fn an_upgrade_may_go_on_once_all_agree_and_all_is_migrated_and_nothing_drains() {
    let mut cluster = Cluster::formed();
    cluster.sets_roster("*", rule("a", "", 0));
    let a = cluster.starts("a", &[of("pods")]);
    cluster.migrates("pods");
    let verdict = cluster.upgrade();
    assert_eq!(verdict.obstacles, []);
    assert_eq!(verdict.resources, 1);
    assert_eq!(verdict.assumptions, BTreeMap::new());
    // After a restart under the same name, what the process before may still write is in the version that is agreed on.
    cluster.is_replaced(&a, &[of("pods")]);
    assert!(!cluster.drains("pods").is_empty());
    assert_eq!(cluster.upgrade().obstacles, []);
}

#[test]
fn members_that_disagree_are_named_first_and_with_their_versions() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods").decodes("v1 v2").encodes("v1")]);
    cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v2")]);
    cluster.joins("c");
    let encodings = [
        (version("v1"), vec![member("a")]),
        (version("v2"), vec![member("b")]),
    ];
    let differ = Obstacle::EncodingsDiffer {
        encodings: encodings.into(),
    };
    let silent = vec![member("c")];
    assert_eq!(
        cluster.causes(),
        [
            UpgradeCause::Disagreement { obstacle: differ },
            UpgradeCause::Silent { members: silent }
        ]
    );
    assert_eq!(
        cluster.obstacles_to_upgrade(),
        [
            [
                "pods",
                "a encodes v1; b encodes v2",
                "synod storage-versions get pods"
            ],
            [
                "-",
                "c has joined and has not reported",
                "synod members get c"
            ]
        ]
    );
}

#[test]
fn what_a_roster_asks_for_is_named_with_the_roster() {
    let mut cluster = Cluster::formed();
    cluster.sets_roster("*", rule("a b", "", 0));
    cluster.sets_roster("example.io.widgets", rule("a", "", 0));
    cluster.starts("a", &[of("pods")]);
    let causes = cluster.causes();
    let [
        UpgradeCause::Roster { scope: unknown, .. },
        UpgradeCause::Roster { scope: all, .. },
    ] = &causes[..2]
    else {
        panic!("rosters come first, not {causes:?}");
    };
    assert_eq!(unknown, &scope("example.io.widgets"));
    assert_eq!(all, &scope("*"));
    assert_eq!(
        cluster.obstacles_to_upgrade()[..2],
        [
            [
                "-",
                "a roster asks for widgets.example.io, and no such resource is known",
                "synod rosters get 'widgets.example.io'"
            ],
            ["pods", "missing by its roster: b", "synod rosters get '*'"]
        ]
    );
}

#[test]
fn a_member_is_about_to_expire_once_two_thirds_of_its_ttl_have_passed() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods")]);
    cluster.starts("b", &[of("pods")]);
    cluster.migrates("pods");
    cluster.renews(&a);
    cluster.pass(TTL * 2 / 3);
    cluster.renews(&a);
    let remaining = TTL / 3;
    let expiring = UpgradeCause::Expiring {
        member: member("b"),
        remaining,
    };
    assert_eq!(cluster.causes(), [expiring]);
    assert_eq!(
        cluster.obstacles_to_upgrade(),
        [[
            "-",
            "b has not renewed its membership, which expires in 5 s: if its process has stopped, put it out",
            "synod members evict b --stopped"
        ]]
    );
    // A replica that does not lead knows of none.
    let (past, now) = (cluster.state.present(), cluster.now());
    let verdict = check_upgrade(&past, now, &BTreeMap::new());
    assert_eq!(verdict.obstacles, []);
}

#[test]
fn a_migration_is_named_from_its_creation_to_its_success() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods")]);
    let id = cluster.open("pods").id;
    let target = cluster.open("pods").target;
    let pending = UpgradeCause::MigrationPending {
        migration: id.clone(),
        target,
    };
    assert_eq!(cluster.causes(), [pending]);
    let watch = format!("synod migrations watch {id}");
    let waits = format!("the migration {id} to v1 waits for a worker");
    assert_eq!(
        cluster.obstacles_to_upgrade(),
        [["pods", &waits, &watch]].map(|it| it.map(str::to_owned))
    );
    let work = cluster.claims("pods", "one");
    cluster.pass(Duration::from_secs(5));
    accepted(cluster.send(progress(&work, 17)));
    cluster.renews(&a);
    let causes = cluster.causes();
    assert!(
        matches!(causes[..], [UpgradeCause::MigrationRunning { .. }]),
        "{causes:?}"
    );
    let runs = format!("one works at the migration {id} to v1: 17 of about 1000 objects are done");
    assert_eq!(
        cluster.obstacles_to_upgrade(),
        [["pods", &runs, &watch]].map(|it| it.map(str::to_owned))
    );
}

#[test]
fn a_failed_migration_is_named_until_something_has_migrated_the_resource() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods")]);
    for (class, next) in [
        (
            FailureClass::Forbidden,
            "it is not tried again before an operator retries it",
        ),
        (FailureClass::Transient, "it is tried again automatically"),
    ] {
        let work = cluster.claims("pods", "one");
        let id = work.id.clone();
        accepted(cluster.send(fail(&work, class)));
        let causes = cluster.causes();
        assert!(
            matches!(causes[0], UpgradeCause::MigrationFailed { .. }),
            "{causes:?}"
        );
        let retry = format!("synod migrations retry {id}");
        let failed = format!("the migration {id} to v1 has failed: the store said no; {next}");
        let first = ["pods", &failed, &retry].map(str::to_owned);
        assert_eq!(cluster.obstacles_to_upgrade()[0], first);
        let start = StartMigration {
            resource: resource("pods"),
            reason: MigrationReason::Manual,
            alias: None,
        };
        accepted(cluster.send(Command::StartMigration(start)));
        let causes = cluster.causes();
        assert!(
            matches!(
                causes[..2],
                [
                    UpgradeCause::MigrationFailed { .. },
                    UpgradeCause::MigrationPending { .. }
                ]
            ),
            "{causes:?}"
        );
        cluster.migrates("pods");
        assert_eq!(cluster.causes(), []);
        accepted(
            cluster.send(Command::ResetStorageStates(ResetStorageStates {
                resource: Some(resource("pods")),
            })),
        );
    }
}

#[test]
fn what_is_called_off_is_not_migrated() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods")]);
    let id = cluster.open("pods").id;
    accepted(cluster.send(Command::AbortMigration(AbortMigration { id })));
    let causes = cluster.causes();
    assert!(
        matches!(causes[..], [UpgradeCause::NotMigrated { .. }]),
        "{causes:?}"
    );
    assert_eq!(
        cluster.obstacles_to_upgrade(),
        [[
            "pods",
            "objects may be stored in Unknown, and no migration waits or runs",
            "synod migrations start pods"
        ]]
    );
}

#[test]
fn what_drains_is_named_with_its_version_and_for_how_long() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods").decodes("v1 v2").encodes("v2")]);
    let b = cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v1")]);
    cluster.leaves(&b);
    assert!(!cluster.drains("pods").is_empty());
    cluster.pass(Duration::from_millis(500));
    let causes = cluster.causes();
    let Some(UpgradeCause::Draining {
        encoding,
        remaining,
    }) = causes.last()
    else {
        panic!("what drains comes last, not {causes:?}");
    };
    assert_eq!(*encoding, LateEncoding::Version(version("v1")));
    let seconds = remaining.as_millis().div_ceil(1_000);
    let words = cluster.obstacles_to_upgrade();
    assert_eq!(
        words[words.len() - 1],
        [
            "pods",
            &format!("writes in v1 may still land, for {seconds} s more"),
            &format!("synod upgrade status --wait {seconds}s"),
        ]
    );
    cluster.pass(GRACE);
    cluster.renews(&a);
    let drains = |cause: &UpgradeCause| matches!(cause, UpgradeCause::Draining { .. });
    assert!(!cluster.causes().iter().any(drains));
}

#[test]
fn encodings_that_only_their_hashes_name_and_unknown_ones_drain_too() {
    let mut cluster = Cluster::formed();
    for command in raised() {
        accepted(cluster.send(command));
    }
    // What a member on a roster wrote in a long absence is unknown.
    cluster.sets_roster("apps.deployments", rule("a", "", 0));
    cluster.starts("a", &[of("apps.deployments")]);
    cluster.pass(TTL);
    cluster.expires();
    cluster.pass(Duration::from_secs(3_600));
    let a = cluster.join("a", "after-a-week");
    cluster.reports(&a, &[of("apps.deployments")]);
    cluster.observes("pods", &["v1"]);
    cluster.observes("pods", &["v2"]);
    let words = cluster.obstacles_to_upgrade();
    let sentences: Vec<&str> = words.iter().map(|[_, words, _]| words.as_str()).collect();
    let drains = |encoding: &str| {
        let begin = format!("writes in {encoding} may still land, for ");
        sentences.iter().any(|it| it.starts_with(&begin))
    };
    assert!(drains(&format!("the encoding {}", hash("v1"))), "{words:?}");
    assert!(drains("versions that nobody can name"), "{words:?}");
}

// Guarantee: V-09
#[test]
fn everything_at_once_is_named_the_worst_first() {
    let mut cluster = Cluster::formed();
    cluster.sets_roster("apps.deployments", rule("a z", "", 0));
    let a = cluster.starts(
        "a",
        &[of("pods").decodes("v1 v2"), of("example.io.gadgets")],
    );
    cluster.reports(&a, &[of("apps.deployments")]);
    cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v2")]);
    cluster.starts("c", &[of("example.io.widgets")]);
    let work = cluster.claims("example.io.widgets", "one");
    accepted(cluster.send(fail(&work, FailureClass::Forbidden)));
    cluster.pass(TTL * 2 / 3);
    cluster.renews(&a);
    cluster.joins("d");
    cluster.claims("example.io.gadgets", "two");
    let left = cluster.starts("e", &[of("example.io.cogs")]);
    cluster.leaves(&left);
    let name = |cause: &UpgradeCause| match cause {
        UpgradeCause::Disagreement { .. } => "disagreement",
        UpgradeCause::Roster { .. } => "roster",
        UpgradeCause::Silent { .. } => "silent",
        UpgradeCause::Expiring { .. } => "expiring",
        UpgradeCause::MigrationFailed { .. } => "failed",
        UpgradeCause::NotMigrated { .. } => "not migrated",
        UpgradeCause::MigrationPending { .. } => "pending",
        UpgradeCause::MigrationRunning { .. } => "running",
        UpgradeCause::Draining { .. } => "draining",
    };
    let mut names: Vec<&str> = cluster.causes().iter().map(name).collect();
    names.dedup();
    assert_eq!(
        names,
        [
            "disagreement",
            "roster",
            "silent",
            "expiring",
            "failed",
            "running",
            "draining"
        ]
    );
}

/// An answer rests on what the members encode and on what is stored, so it assumes what either question does.
// Guarantee: V-09
#[test]
fn what_is_assumed_of_writers_and_of_stores_is_named() {
    let mut cluster = Cluster::formed();
    for command in raised() {
        accepted(cluster.send(command));
    }
    let a = cluster.starts("a", &[of("pods")]);
    cluster.migrates("pods");
    let pods = [resource("pods")].into();
    assert_eq!(
        cluster.upgrade().assumptions,
        [(Assumption::NoRoster, pods)].into()
    );
    // The roster is not enough while nothing was migrated under it.
    cluster.sets_roster("*", rule("a", "", 0));
    let assumed = cluster.upgrade().assumptions;
    assert!(assumed.contains_key(&Assumption::NoRoster), "{assumed:?}");
    cluster.renews(&a);
    let start = StartMigration {
        resource: resource("pods"),
        reason: MigrationReason::Manual,
        alias: None,
    };
    accepted(cluster.send(Command::StartMigration(start)));
    cluster.migrates("pods");
    let verdict = cluster.upgrade();
    assert_eq!(verdict.obstacles, []);
    assert_eq!(verdict.assumptions, BTreeMap::new());
}

#[test]
fn servers_that_a_backup_does_not_know_may_serve_a_version_that_is_agreed_to_be_withdrawn() {
    let mut cluster = Cluster::upgraded();
    cluster.is_restored();
    let withdraws = of(BETA).of_kind("Widget").decodes("served withdrawn");
    let a = cluster.starts("a", &[withdraws.prefers("withdrawn")]);
    let day = Duration::from_secs(24 * 60 * 60);
    let draining = UpgradeCause::Draining {
        encoding: LateEncoding::Unknown,
        remaining: day + GRACE,
    };
    assert_eq!(cluster.causes(), [draining]);
    for _ in 0..25 * 60 * 60 / TTL.as_secs() {
        cluster.pass(TTL / 2);
        cluster.renews(&a);
        cluster.pass(TTL / 2);
        cluster.renews(&a);
    }
    cluster.expires();
    assert_eq!(cluster.causes(), []);
}
