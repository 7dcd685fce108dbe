//! When `persisted` is known, and when it is on trust: a server that no roster asked for may have written anything.

use std::time::Duration;

use synod_machine::{Command, check_binary, check_drop};
use synod_model::{
    Assumption, Binary, DeleteRoster, MigrationReason, ResourceScope, RosterRule, StartMigration,
};

use crate::cluster::{Cluster, accepted, complete};
use crate::entry::{of, resource, version};
use crate::rosters::rule;

impl Cluster {
    /// Whether dropping v1 of pods is safe, and whether that is on trust.
    fn is_safe(&self) -> (bool, bool) {
        let (past, now) = (self.state.present(), self.state.log_time());
        let drop = check_drop(&past, now, &resource("pods"), &version("v1"));
        let left = ["apps.*", "batch.*"].map(|name| ResourceScope::parse(name).expect("legal"));
        let everything = Binary {
            resources: Vec::new(),
            left_to_others: left.into(),
        };
        let binary = check_binary(&past, now, &everything);
        assert_eq!(drop.assumptions, binary.assumptions);
        (drop.is_safe(), !drop.assumptions.is_empty())
    }

    fn migrates_by_request(&mut self) {
        self.starts_migration();
        self.migrates("pods");
    }

    fn starts_migration(&mut self) {
        accepted(self.send(Command::StartMigration(StartMigration {
            resource: resource("pods"),
            reason: MigrationReason::Manual,
            alias: None,
        })));
    }
}

/// The roster came later than the migration: what b wrote before it took part is stored, and unknown.
// Guarantee: V-07
#[test]
fn a_roster_that_is_satisfied_later_does_not_make_known_what_was_on_trust() {
    let mut cluster = Cluster::formed();
    let v2 = of("pods").decodes("v1 v2").encodes("v2");
    cluster.starts("a", std::slice::from_ref(&v2));
    cluster.migrates("pods");
    // b, no member, writes v1 without being noticed.
    cluster.sets_roster("*", rule("a b", "", 0));
    cluster.starts("b", std::slice::from_ref(&v2));
    assert_eq!(cluster.agreed("pods").as_deref(), Some("v2"));
    assert_eq!(cluster.persisted("pods"), ["v2"]);
    assert_eq!(cluster.is_safe(), (true, true));
    cluster.migrates_by_request();
    assert_eq!(cluster.is_safe(), (true, false));
    let ended = cluster.migrations("pods");
    let assumed: Vec<_> = ended.iter().map(|one| one.assumption).collect();
    assert_eq!(assumed, [Some(Assumption::NoRoster), None]);
}

/// The migration may have missed what b wrote before it reported.
// Guarantee: V-07
#[test]
fn a_migration_that_is_older_than_the_roster_ends_on_trust() {
    let mut cluster = Cluster::formed();
    let v2 = of("pods").decodes("v1 v2").encodes("v2");
    cluster.starts("a", std::slice::from_ref(&v2));
    let work = cluster.claims("pods", "worker");
    cluster.starts("b", std::slice::from_ref(&v2));
    cluster.sets_roster("*", rule("a b", "", 0));
    accepted(cluster.send(complete(&work)));
    let ended = cluster.migration(&work.id);
    assert_eq!(ended.assumption, Some(Assumption::NoRoster));
    assert_eq!(cluster.is_safe(), (true, true));
    cluster.migrates_by_request();
    assert_eq!(cluster.is_safe(), (true, false));
}

#[test]
fn a_roster_that_goes_and_comes_back_leaves_the_store_on_trust() {
    let mut cluster = Cluster::formed();
    cluster.sets_roster("*", rule("a", "", 0));
    let v2 = of("pods").decodes("v1 v2").encodes("v2");
    cluster.starts("a", &[v2]);
    cluster.migrates("pods");
    assert_eq!(cluster.is_safe(), (true, false));
    cluster.starts_migration();
    let scope = ResourceScope::All;
    accepted(cluster.send(Command::DeleteRoster(DeleteRoster {
        scope,
        if_revision: None,
    })));
    assert_eq!(cluster.is_safe(), (true, true));
    cluster.sets_roster("*", rule("a", "", 0));
    cluster.migrates("pods");
    assert_eq!(cluster.is_safe(), (true, true));
    cluster.migrates_by_request();
    assert_eq!(cluster.is_safe(), (true, false));
}

// Guarantee: V-07
#[test]
fn a_roster_that_asks_for_more_puts_the_store_on_trust_and_one_that_asks_for_less_does_not() {
    let mut cluster = Cluster::formed();
    cluster.sets_roster("*", rule("a b", "", 0));
    let v2 = of("pods").decodes("v1 v2").encodes("v2");
    for id in ["a", "b", "c"] {
        cluster.starts(id, std::slice::from_ref(&v2));
    }
    cluster.migrates("pods");
    cluster.sets_roster("core.*", rule("a b", "", 2));
    assert_eq!(cluster.is_safe(), (true, true));
    cluster.migrates_by_request();
    for asks_less in [rule("a b", "", 0), rule("b", "", 0)] {
        cluster.sets_roster("core.*", asks_less);
        assert_eq!(cluster.is_safe(), (true, false));
    }
    for asks_more in [rule("b c", "", 0), rule("", "role=api", 0)] {
        cluster.sets_roster("core.*", asks_more);
        assert!(cluster.is_safe().1);
    }
    cluster.sets_roster("core.*", rule("b", "", 0));
    cluster.migrates_by_request();
    assert_eq!(cluster.is_safe(), (true, false));
    // Without the narrow roster, the wide one applies again, which asks for a, too.
    accepted(cluster.send(Command::DeleteRoster(DeleteRoster {
        scope: ResourceScope::parse("core.*").expect("legal"),
        if_revision: None,
    })));
    assert_eq!(cluster.is_safe(), (true, true));
}

// Guarantee: V-07
#[test]
fn a_server_that_has_spoken_is_not_new_when_it_comes_back_and_another_is() {
    let mut cluster = Cluster::formed();
    let vouched = RosterRule {
        complete: true,
        ..rule("", "role=api", 0)
    };
    cluster.sets_roster("*", vouched);
    let v2 = of("pods").decodes("v1 v2").encodes("v2");
    let api = [("role", "api")];
    let a = cluster.joins_with("a", &api);
    cluster.reports(&a, std::slice::from_ref(&v2));
    let b = cluster.joins_with("b", &api);
    cluster.reports(&b, std::slice::from_ref(&v2));
    cluster.migrates("pods");
    assert_eq!(cluster.is_safe(), (true, false));
    cluster.leaves(&b);
    cluster.pass(Duration::from_secs(70));
    cluster.renews(&a);
    let b = cluster.joins_with("b", &api);
    cluster.reports(&b, std::slice::from_ref(&v2));
    assert_eq!(cluster.is_safe(), (true, false));
    let c = cluster.joins_with("c", &api);
    assert!(cluster.is_safe().1);
    cluster.reports(&c, std::slice::from_ref(&v2));
    assert_eq!(cluster.is_safe(), (true, true));
    cluster.migrates_by_request();
    assert_eq!(cluster.is_safe(), (true, false));
}

#[test]
fn what_is_on_trust_can_be_seen() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods")]);
    let since = cluster.kept("pods").on_trust;
    assert!(since.is_some());
    cluster.sets_roster("core.pods", rule("a", "", 0));
    assert!(cluster.kept("pods").on_trust > since);
    cluster.migrates("pods");
    assert!(cluster.kept("pods").on_trust.is_some());
    cluster.migrates_by_request();
    assert_eq!(cluster.kept("pods").on_trust, None);
}
