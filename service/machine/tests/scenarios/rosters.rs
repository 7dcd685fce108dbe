//! Rosters: which members must report before there is an agreement.

use std::time::Duration;

use synod_machine::{Command, Why, check_drop};
use synod_model::{
    AgreementCause, Assumption, CreateCollection, DeleteRoster, ErrorKind, Join, Kind,
    LabelSelector, Labels, MemberId, MigrationReason, ResourceScope, Revision, Roster, RosterRule,
    SetRoster, StartMigration,
};

use crate::cluster::{Cluster, Server, accepted, claim, complete, join, refused};
use crate::entry::{of, resource, version};
use crate::raised::raised;

/// A rule that asks for these members, those with these labels, and at least this many.
pub(crate) fn rule(members: &str, labels: &str, least: u32) -> RosterRule {
    let members = members.split(' ').filter(|id| !id.is_empty());
    RosterRule {
        members: members.map(member).collect(),
        labels: LabelSelector::parse(labels).expect("a legal selector"),
        least,
        ..RosterRule::default()
    }
}

fn member(id: &str) -> MemberId {
    MemberId::parse(id).expect("a legal id")
}

fn set(scope: &str, rule: RosterRule, if_revision: Option<u64>) -> Command {
    Command::SetRoster(SetRoster {
        scope: ResourceScope::parse(scope).expect("a legal scope"),
        rule,
        if_revision: if_revision.map(Revision::new),
    })
}

fn delete(scope: &str, if_revision: Option<u64>) -> Command {
    Command::DeleteRoster(DeleteRoster {
        scope: ResourceScope::parse(scope).expect("a legal scope"),
        if_revision: if_revision.map(Revision::new),
    })
}

fn start(name: &str) -> Command {
    Command::StartMigration(StartMigration {
        resource: resource(name),
        reason: MigrationReason::Manual,
        alias: None,
    })
}

impl Cluster {
    pub(crate) fn sets_roster(&mut self, scope: &str, rule: RosterRule) {
        accepted(self.send(set(scope, rule, None)));
    }

    fn absent(&self, name: &str) -> String {
        self.kept(name).absent.to_string()
    }

    fn dangers(&self, name: &str, text: &str) -> Vec<Why> {
        let (past, now) = (self.state.present(), self.state.log_time());
        let verdict = check_drop(&past, now, &resource(name), &version(text));
        verdict
            .dangers
            .into_iter()
            .map(|danger| danger.why)
            .collect()
    }

    /// A cluster with the newest machine version.
    fn with_evidence() -> Self {
        let mut cluster = Self::formed();
        for command in raised() {
            accepted(cluster.send(command));
        }
        cluster
    }

    fn assumed(&self, name: &str, text: &str) -> Vec<Assumption> {
        let (past, now) = (self.state.present(), self.state.log_time());
        let verdict = check_drop(&past, now, &resource(name), &version(text));
        verdict.assumptions.into_keys().collect()
    }

    pub(crate) fn joins_with(&mut self, id: &str, labels: &[(&str, &str)]) -> Server {
        let labels = Labels::parse(labels.iter().copied()).expect("legal labels");
        let join = Join {
            labels,
            ..join(id, "first")
        };
        let epoch = match accepted(self.send(Command::Join(join))) {
            synod_machine::Answer::Joined { epoch, .. } => epoch,
            other => panic!("a join answers the epoch, not {other:?}"),
        };
        Server {
            id: member(id),
            instance: "first".to_owned(),
            epoch,
        }
    }
}

// Guarantee: V-06
#[test]
fn while_a_named_member_is_missing_nothing_counts() {
    let mut cluster = Cluster::formed();
    cluster.sets_roster("*", rule("a b c", "", 0));
    let v2 = of("pods").decodes("v1 v2").encodes("v2");
    cluster.starts("a", std::slice::from_ref(&v2));
    assert_eq!(cluster.absent("pods"), "b, c");
    assert_eq!(cluster.agreed("pods"), None);
    assert!(cluster.migrations("pods").is_empty());
    let refusal = refused(cluster.send(start("pods")), ErrorKind::NoAgreement);
    assert_eq!(refusal.metadata["absent"], "b, c");
    assert_eq!(
        cluster.dangers("pods", "v9"),
        [
            Why::PersistedUnknown,
            Why::Absent(member("b")),
            Why::Absent(member("c"))
        ]
    );
    cluster.starts("b", std::slice::from_ref(&v2));
    assert_eq!(cluster.absent("pods"), "c");
    let c = cluster.starts("c", std::slice::from_ref(&v2));
    assert_eq!(
        (cluster.absent("pods"), cluster.agreed("pods")),
        (String::new(), Some("v2".to_owned()))
    );
    let work = cluster.claims("pods", "worker");
    // c leaves: the migration is aborted in the same command.
    cluster.leaves_drained(&c);
    assert_eq!(cluster.agreed("pods"), None);
    refused(cluster.send(complete(&work)), ErrorKind::NoAgreement);
    cluster.starts("c", &[v2]);
    cluster.migrates("pods");
    assert_eq!(cluster.dangers("pods", "v1"), []);
}

// Guarantee: V-06
#[test]
fn a_server_that_does_not_take_part_keeps_its_version_from_being_dropped() {
    let mut cluster = Cluster::formed();
    let v2 = of("pods").decodes("v1 v2").encodes("v2");
    cluster.starts("a", &[v2]);
    cluster.migrates("pods");
    // Without a roster the answer covers only the reporting members, and it says so.
    let (past, now) = (cluster.state.present(), cluster.state.log_time());
    let verdict = check_drop(&past, now, &resource("pods"), &version("v1"));
    assert!(verdict.is_safe());
    let of_pods = [(Assumption::NoRoster, [resource("pods")].into())];
    assert_eq!(verdict.assumptions, of_pods.into());
    assert!(!verdict.is_observed);
    let done = &cluster.migrations("pods")[0];
    assert_eq!(done.assumption, Some(Assumption::NoRoster));
    // With a roster that asks for three servers it is not safe, even if discovery shows no server.
    cluster.sets_roster("core.pods", rule("", "", 3));
    assert_eq!(cluster.dangers("pods", "v1"), [Why::AbsentMore(2)]);
    let lines = cluster.state.agreements(&resource("pods"));
    let last = lines.last().expect("the agreement has ended");
    assert_eq!(
        (last.to.as_ref(), &last.cause),
        (None, &Some(AgreementCause::Roster))
    );
    let (past, now) = (cluster.state.present(), cluster.state.log_time());
    let verdict = check_drop(&past, now, &resource("pods"), &version("v1"));
    // What was migrated before stays on trust.
    let assumed = [Assumption::NoRoster, Assumption::RosterMayMiss];
    let of_pods = assumed.map(|assumption| (assumption, [resource("pods")].into()));
    assert_eq!(verdict.assumptions, of_pods.into());
}

#[test]
fn a_migration_that_ends_under_a_roster_assumes_nothing() {
    let mut cluster = Cluster::formed();
    cluster.sets_roster("core.*", rule("a", "", 0));
    cluster.starts("a", &[of("pods")]);
    cluster.migrates("pods");
    assert_eq!(cluster.migrations("pods")[0].assumption, None);
}

#[test]
fn a_roster_that_is_not_there_does_not_say_that_nobody_must_speak() {
    let mut cluster = Cluster::formed();
    cluster.sets_roster("*", rule("x", "", 0));
    for scope in ["core.pods", "core.*"] {
        let refusal = refused(cluster.send(delete(scope, None)), ErrorKind::NotFound);
        assert_eq!(
            refusal.message,
            format!(
                "roster \"{scope}\" does not exist; its resources use the roster of the next wider scope, if any"
            )
        );
        assert_eq!(refusal.metadata["roster"], scope);
    }
}

// Guarantee: V-06
#[test]
fn the_narrowest_roster_alone_counts() {
    let mut cluster = Cluster::formed();
    cluster.sets_roster("*", rule("x", "", 0));
    cluster.sets_roster("apps.*", rule("y", "", 0));
    cluster.sets_roster("apps.deployments", rule("a", "", 0));
    cluster.starts(
        "a",
        &[of("pods"), of("apps.deployments"), of("apps.replicasets")],
    );
    assert_eq!(cluster.absent("pods"), "x");
    assert_eq!(cluster.absent("apps.replicasets"), "y");
    assert_eq!(cluster.absent("apps.deployments"), "");
    accepted(cluster.send(delete("apps.deployments", None)));
    assert_eq!(cluster.absent("apps.deployments"), "y");
    accepted(cluster.send(delete("apps.*", None)));
    assert_eq!(cluster.absent("apps.deployments"), "x");
    accepted(cluster.send(delete("*", None)));
    assert_eq!(cluster.absent("apps.deployments"), "");
    assert_eq!(cluster.agreed("apps.deployments").as_deref(), Some("v1"));
}

// Guarantee: V-06
#[test]
fn members_with_a_label_must_speak_from_when_they_join_until_they_go() {
    let mut cluster = Cluster::formed();
    cluster.sets_roster("*", rule("", "role=api", 0));
    let other = cluster.starts("other", &[of("pods")]);
    assert_eq!(cluster.absent("pods"), "1 more with labels `role=api`");
    let a = cluster.joins_with("a", &[("role", "api")]);
    cluster.reports(&a, &[of("pods")]);
    assert_eq!(cluster.agreed("pods").as_deref(), Some("v1"));
    let work = cluster.claims("pods", "worker");
    // Another member joins: it may write once it has reported, and has not said in which version.
    let b = cluster.joins_with("b", &[("role", "api")]);
    assert_eq!(
        (cluster.absent("pods"), cluster.agreed("pods")),
        ("b".to_owned(), None)
    );
    refused(cluster.send(complete(&work)), ErrorKind::NoAgreement);
    cluster.leaves_drained(&b);
    assert_eq!(cluster.agreed("pods").as_deref(), Some("v1"));
    // A member that reports and leaves is no longer asked for; without the last one, one is
    // missing.
    let c = cluster.joins_with("c", &[("role", "api")]);
    cluster.reports(&c, &[of("pods")]);
    cluster.leaves_drained(&a);
    assert_eq!(cluster.agreed("pods").as_deref(), Some("v1"));
    cluster.pass(Duration::from_secs(16));
    cluster.renews(&other);
    cluster.expires();
    assert_eq!(cluster.absent("pods"), "1 more with labels `role=api`");
}

#[test]
fn a_roster_counts_for_what_is_observed_too() {
    let mut cluster = Cluster::formed();
    cluster.observes("pods", &["v1"]);
    let id = cluster.open("pods").id;
    cluster.sets_roster("*", rule("a", "", 0));
    assert_eq!(cluster.kept("pods").agreement(), None);
    refused(cluster.send(claim(&id, "one")), ErrorKind::Conflict);
    cluster.starts("a", &[of("pods")]);
    assert!(cluster.kept("pods").agreement().is_some());
}

#[test]
fn a_collection_that_is_declared_later_has_its_missing_named_too() {
    let mut cluster = Cluster::formed();
    cluster.sets_roster("*", rule("a", "", 0));
    accepted(cluster.send(Command::CreateCollection(CreateCollection {
        resource: resource("pods"),
        kind: Kind::parse("Widget").expect("a legal kind"),
        namespaced: true,
        rules: synod_model::CollectionRules::default(),
    })));
    assert_eq!(cluster.absent("pods"), "a");
}

#[test]
fn a_roster_is_set_and_deleted_under_a_compare() {
    let mut cluster = Cluster::formed();
    refused(cluster.send(delete("*", None)), ErrorKind::NotFound);
    refused(
        cluster.send(set("*", rule("a", "", 0), Some(7))),
        ErrorKind::NotFound,
    );
    accepted(cluster.send(set("*", rule("a", "", 0), Some(0))));
    let made = cluster.revision();
    refused(
        cluster.send(set("*", rule("b", "", 0), Some(0))),
        ErrorKind::Conflict,
    );
    let same = cluster.send(set("*", rule("a", "", 0), None));
    assert!(!same.changed);
    let changed = cluster.send(set("*", rule("b", "", 0), Some(made.get())));
    let events = cluster
        .state
        .history()
        .next_after(made)
        .expect("it is kept");
    let changes = &events.expect("it changed").changes;
    let [change] = &changes[..] else {
        panic!("one change of one object: {changes:?}");
    };
    let change = change
        .of::<Roster>()
        .expect("it is the roster that changed");
    assert!(change.before.is_some() && change.after.is_some());
    refused(
        cluster.send(delete("*", Some(made.get()))),
        ErrorKind::Conflict,
    );
    accepted(cluster.send(delete("*", Some(changed.revision.get()))));
    let past = cluster.state.at(made).expect("it is kept");
    let then = past.roster(&ResourceScope::All).expect("it was there then");
    assert_eq!(then.rule, rule("a", "", 0));
    assert_eq!(cluster.state.present().rosters(None).count(), 0);
}

#[test]
fn a_restore_keeps_the_rosters() {
    let mut cluster = Cluster::formed();
    cluster.sets_roster("*", rule("a", "", 0));
    cluster.starts("a", &[of("pods")]);
    cluster.is_restored();
    assert_eq!(cluster.absent("pods"), "a");
}

// Guarantee: V-10
#[test]
fn answers_under_a_roster_that_cannot_notice_a_stranger_assume_that_there_is_none() {
    let v2 = of("pods").decodes("v1 v2").encodes("v2");
    let cases = [
        (rule("a", "", 0), false),
        (rule("a", "", 1), false),
        (rule("a", "", 2), true),
        (rule("", "", 1), true),
        (rule("", "tier=control", 0), true),
        (rule("a", "tier=control", 0), true),
    ];
    for (asked, may_miss) in cases {
        for complete in [false, true] {
            let mut cluster = Cluster::with_evidence();
            let asked = RosterRule {
                complete,
                ..asked.clone()
            };
            cluster.sets_roster("*", asked.clone());
            let labelled = cluster.joins_with("b", &[("tier", "control")]);
            cluster.reports(&labelled, std::slice::from_ref(&v2));
            cluster.starts("a", std::slice::from_ref(&v2));
            cluster.migrates("pods");
            let is_assumed = cluster
                .assumed("pods", "v1")
                .contains(&Assumption::RosterMayMiss);
            assert_eq!(is_assumed, may_miss && !complete, "{asked:?}");
            let ended = cluster.migrations("pods");
            let on_success = ended[0].all_assumptions();
            assert_eq!(on_success.contains(&Assumption::RosterMayMiss), is_assumed);
            assert!(cluster.dangers("pods", "v1").is_empty());
        }
    }
}

// Guarantee: V-10
#[test]
fn a_roster_of_all_may_leave_out_what_is_only_observed_until_it_is_reported() {
    let mut cluster = Cluster::with_evidence();
    let asked = RosterRule {
        exempts_observed: true,
        ..rule("a b", "", 0)
    };
    cluster.sets_roster("*", asked);
    cluster.observes("pods", &["v1"]);
    assert!(cluster.kept("pods").absent.is_empty());
    assert!(cluster.kept("pods").agreed_hash.is_some());
    assert!(
        cluster
            .assumed("pods", "v2")
            .contains(&Assumption::NoRoster)
    );
    let trusted = cluster.kept("pods").on_trust;
    let server = cluster.starts("a", &[of("pods").decodes("v1").encodes("v1")]);
    assert_eq!(cluster.absent("pods"), "b");
    assert!(cluster.kept("pods").on_trust > trusted);
    // It stays asked for when its only member is gone.
    cluster.leaves(&server);
    assert_eq!(cluster.absent("pods"), "a, b");
    // A narrower roster cannot leave anything out.
    let narrow = SetRoster {
        scope: ResourceScope::parse("core.pods").expect("a legal scope"),
        rule: RosterRule {
            exempts_observed: true,
            ..rule("a", "", 0)
        },
        if_revision: None,
    };
    assert_eq!(narrow.check().len(), 1);
}

#[test]
fn no_key_and_no_level_is_selected_while_a_member_that_a_roster_names_is_missing() {
    let mut cluster = Cluster::formed();
    for command in raised() {
        accepted(cluster.send(command));
    }
    let key = || of("keys.synod.secrets").serves("");
    let level = || of("features.synod.fast").serves("");
    for scope in ["keys.synod.secrets", "features.synod.fast"] {
        cluster.sets_roster(scope, rule("a b", "", 0));
    }
    let old = [
        key().decodes("k1").prefers("k1"),
        level().decodes("v1").prefers("v1"),
    ];
    let a = cluster.starts("a", &old);
    assert_eq!(cluster.selected("keys.synod.secrets"), None);
    assert_eq!(cluster.selected("features.synod.fast"), None);
    let b = cluster.starts("b", &old);
    assert_eq!(
        cluster.selected("keys.synod.secrets").as_deref(),
        Some("k1")
    );
    assert_eq!(
        cluster.selected("features.synod.fast").as_deref(),
        Some("v1")
    );
    cluster.leaves(&b);
    let new = [
        key().decodes("k1 k2").prefers("k2"),
        level().decodes("v1 v2").prefers("v2"),
    ];
    cluster.reports(&a, &new);
    // The one that is missing could not come back.
    assert_eq!(
        cluster.selected("keys.synod.secrets").as_deref(),
        Some("k1")
    );
    assert_eq!(
        cluster.selected("features.synod.fast").as_deref(),
        Some("v1")
    );
    // Who is not asked for any more is not waited for.
    for scope in ["keys.synod.secrets", "features.synod.fast"] {
        cluster.sets_roster(scope, rule("a", "", 0));
    }
    assert_eq!(
        cluster.selected("keys.synod.secrets").as_deref(),
        Some("k2")
    );
    assert_eq!(
        cluster.selected("features.synod.fast").as_deref(),
        Some("v2")
    );
}
