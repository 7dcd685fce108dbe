//! What is refused while a feature is switched off, what goes on, and what happens when it is on again.

use std::time::Duration;

use synod_machine::{Aftermath, Answer, Command, FollowSwitches};
use synod_model::limits::AFTERMATH_STEPS_MAX;
use synod_model::{
    AbortMigration, Attributes, ErrorKind, FailureClass, Feature, MigrationPhase, MigrationReason,
    Operation, SWITCHES_SINCE, Settings, SettingsPatch, StartMigration, Switch, Transact,
    UpdateSettings,
};

use crate::cluster::{Cluster, TTL, accepted, claim, complete, fail, progress, refused, request};
use crate::entry::{of, release, resource};
use crate::raised::raised;
use crate::shelf::{WIDGETS, content, create, declare, delete, patch, update, widget};
use crate::switched::switch;

impl Cluster {
    /// A cluster in which machine version 2 is in force.
    pub(crate) fn upgraded() -> Self {
        let mut cluster = Self::formed();
        for command in raised() {
            accepted(cluster.send(command));
        }
        cluster
    }

    fn switches(&mut self, feature: Feature, to: Switch) {
        accepted(self.send(switch(feature, to)));
    }

    /// The feature's refusal of a command, which changes nothing but the record of it.
    fn is_off(&mut self, feature: Feature, command: Command) {
        let digest = self.state.digest();
        let refusal = refused(self.send(command), ErrorKind::SwitchedOff);
        assert_eq!(refusal.metadata["setting"], feature.setting());
        let command = format!("synod settings set {feature}=on");
        assert!(refusal.message.contains(&command), "{refusal}");
        assert_eq!(self.state.digest(), digest);
    }
}

// Guarantee: U-01
#[test]
fn a_switch_waits_for_the_machine_version_that_knows_it() {
    let mut cluster = Cluster::formed();
    assert!(cluster.state.machine_version() < SWITCHES_SINCE);
    let off = || switch(Feature::Leases, Switch::Off);
    refused(cluster.send(off()), ErrorKind::Unavailable);
    // Even one that changes nothing: a replica of the older version could not read it.
    let on = switch(Feature::Leases, Switch::On);
    refused(cluster.send(on), ErrorKind::Unavailable);
    let [announce, raise] = raised();
    let Command::AnnounceReplica(mut older) = announce.clone() else {
        unreachable!("it is an announcement")
    };
    (older.machine_version, older.binary) = (1, "0.1.9".to_owned());
    accepted(cluster.send(Command::AnnounceReplica(older)));
    let refusal = refused(cluster.send(off()), ErrorKind::Unavailable);
    assert!(
        refusal
            .message
            .contains("run the newer release on replica 1 (0.1.9)"),
        "{refusal}"
    );
    assert_eq!(refusal.metadata["not_executed"], "true");
    accepted(cluster.send(announce));
    let refusal = refused(cluster.send(off()), ErrorKind::Unavailable);
    assert!(refusal.message.contains("in a moment"), "{refusal}");
    accepted(cluster.send(raise));
    accepted(cluster.send(off()));
    let off: Vec<Feature> = cluster.state.settings().switched_off().collect();
    assert_eq!(off, [Feature::Leases]);
}

#[test]
fn a_switch_survives_a_checkpoint_and_is_gone_without_a_trace_when_it_is_on_again() {
    let mut cluster = Cluster::upgraded();
    cluster.switches(Feature::Objects, Switch::Off);
    cluster.restart_from_checkpoint();
    cluster.is_off(
        Feature::Objects,
        Command::CreateCollection(declare(WIDGETS, true, Default::default())),
    );
    cluster.switches(Feature::Objects, Switch::On);
    let (now, then) = (cluster.state.settings(), Settings::default());
    assert_eq!(
        Settings {
            revision: then.revision,
            ..(**now).clone()
        },
        then
    );
}

// Guarantee: U-03
#[test]
fn collections_and_objects_stand_still_while_they_are_off_and_are_there_when_they_are_on_again() {
    let mut cluster = Cluster::upgraded();
    accepted(cluster.send(Command::CreateCollection(declare(
        WIDGETS,
        true,
        Default::default(),
    ))));
    let one = widget("a/one");
    let kept = cluster.stores(&one, Attributes::default());
    cluster.stores_for(&widget("a/late"), Duration::from_secs(60));
    cluster.switches(Feature::Objects, Switch::Off);
    let creates = || create(&widget("a/two"), Attributes::default(), content("v1", "{}"));
    let refused = [
        Command::CreateObject(creates()),
        Command::UpdateObject(update(&one, Attributes::default(), content("v1", "[]"))),
        Command::PatchObject(patch(&one, "{\"a\":1}")),
        Command::DeleteObject(delete(&one, None)),
        Command::Transact(Transact {
            compares: Vec::new(),
            operations: vec![Operation::Create(creates())],
            reads: Vec::new(),
            fences: Default::default(),
        }),
        Command::CreateCollection(declare("example.io.gadgets", true, Default::default())),
    ];
    for command in refused {
        cluster.is_off(Feature::Objects, command);
    }
    // Time goes on: what has an end of its own ends.
    cluster.pass(Duration::from_secs(61));
    cluster.expires();
    assert!(!cluster.has(&widget("a/late")));
    assert_eq!(cluster.object(&one), kept);
    cluster.switches(Feature::Objects, Switch::On);
    cluster.stores(&widget("a/two"), Attributes::default());
    assert_eq!(cluster.object(&one), kept);
}

#[test]
fn a_request_of_a_session_that_was_refused_stays_refused_and_the_next_one_is_carried_out() {
    let mut cluster = Cluster::upgraded();
    let session = cluster.opens_session();
    cluster.switches(Feature::Objects, Switch::Off);
    let declares = || Command::CreateCollection(declare(WIDGETS, true, Default::default()));
    let first = cluster.send_as(request(session, 1, 1), declares());
    refused(first, ErrorKind::SwitchedOff);
    cluster.switches(Feature::Objects, Switch::On);
    let again = cluster.send_as(request(session, 1, 1), declares());
    refused(again, ErrorKind::SwitchedOff);
    accepted(cluster.send_as(request(session, 2, 2), declares()));
    // And what was answered before the switch is answered again after it.
    cluster.switches(Feature::Objects, Switch::Off);
    accepted(cluster.send_as(request(session, 2, 2), declares()));
}

// Guarantee: U-06
#[test]
fn while_votes_are_off_what_is_selected_stands_still_and_servers_report_all_the_same() {
    let mut cluster = Cluster::upgraded();
    let a = cluster.starts("a", &[release::second()]);
    let selected = cluster.selected("pods");
    assert!(selected.is_some());
    cluster.switches(Feature::Votes, Switch::Off);
    // An upgrade goes on: the new release prefers another version, encodes the selected one, and its other resources are
    // reported with it.
    let b = cluster.starts(
        "b",
        &[
            release::third(),
            of("configmaps").decodes("v1").encodes("v1"),
            of("jobs.batch").decodes("v1").prefers("v1"),
        ],
    );
    let a = cluster.is_replaced(&a, &[release::third()]);
    assert_eq!(cluster.selected("pods"), selected);
    assert_eq!(cluster.encoding(&b, "pods"), selected);
    assert_eq!(cluster.agreed("configmaps").as_deref(), Some("v1"));
    // Where nothing was selected, nothing is: the voter's gate for this one resource stays closed.
    assert_eq!(cluster.selected("jobs.batch"), None);
    assert_eq!(cluster.encoding(&b, "jobs.batch"), None);
    cluster.switches(Feature::Votes, Switch::On);
    // Nobody had to report again.
    assert_ne!(cluster.selected("pods"), selected);
    assert_eq!(cluster.selected("jobs.batch").as_deref(), Some("v1"));
    assert_eq!(cluster.encoding(&b, "jobs.batch").as_deref(), Some("v1"));
    assert_eq!(cluster.encoding(&a, "pods"), selected);
    cluster.adopts(&a, "pods");
    assert_eq!(cluster.encoding(&a, "pods"), cluster.selected("pods"));
}

// Guarantee: U-05
#[test]
fn what_follows_from_switches_comes_in_bounded_commands_and_survives_a_checkpoint_between_them() {
    let names: Vec<String> = (0..AFTERMATH_STEPS_MAX / 2 + 500)
        .map(|number| format!("r{number}.example.io"))
        .collect();
    let mut cluster = Cluster::upgraded();
    cluster.switches(Feature::Votes, Switch::Off);
    cluster.switches(Feature::Migrations, Switch::Off);
    let mut says: Vec<_> = names
        .iter()
        .map(|name| of(name).decodes("v1").prefers("v1"))
        .collect();
    says.push(of("configmaps").decodes("v1").encodes("v1"));
    let a = cluster.starts("a", &says);
    let selected = |cluster: &Cluster| {
        let names = names.iter();
        names
            .filter(|name| cluster.selected(name).is_some())
            .count()
    };
    let migrates = |cluster: &Cluster| {
        let resource = resource("configmaps");
        cluster.state.migrations_of(&resource).next().is_some()
    };
    assert_eq!(selected(&cluster), 0);
    let mut patch = SettingsPatch::default();
    (patch.votes, patch.migrations) = (Some(Switch::On), Some(Switch::On));
    accepted(cluster.send(Command::UpdateSettings(UpdateSettings {
        patch,
        if_revision: None,
    })));
    // A resource costs one step, and one for its entry.
    assert!((1..=AFTERMATH_STEPS_MAX / 2).contains(&selected(&cluster)));
    assert!(!migrates(&cluster), "it is not its turn yet");
    let unfinished: Vec<Feature> = cluster.state.aftermaths().map(Aftermath::feature).collect();
    assert_eq!(unfinished, [Feature::Votes, Feature::Migrations]);
    // Who reports meanwhile is decided at once, as ever.
    let left = names.iter().find(|name| cluster.selected(name).is_none());
    let left = left.unwrap();
    cluster.reports(&a, &[of(left).decodes("v1 v2").prefers("v1")]);
    assert_eq!(cluster.selected(left).as_deref(), Some("v1"));
    cluster.restart_from_checkpoint();
    accepted(cluster.send(Command::FollowSwitches(FollowSwitches {})));
    assert_eq!(selected(&cluster), names.len());
    assert!(migrates(&cluster));
    // Another step for each migration that the votes have called for.
    accepted(cluster.send(Command::FollowSwitches(FollowSwitches {})));
    assert_eq!(cluster.state.aftermaths().count(), 0);
}

// Guarantee: U-05
#[test]
fn a_switch_that_moves_back_takes_back_what_it_has_not_done_yet() {
    let says: Vec<_> = (0..AFTERMATH_STEPS_MAX / 2 + 500)
        .map(|number| {
            of(&format!("r{number}.example.io"))
                .decodes("v1")
                .prefers("v1")
        })
        .collect();
    let mut cluster = Cluster::upgraded();
    cluster.switches(Feature::Votes, Switch::Off);
    cluster.starts("a", &says);
    cluster.switches(Feature::Votes, Switch::On);
    assert_eq!(cluster.state.aftermaths().count(), 1);
    cluster.switches(Feature::Votes, Switch::Off);
    assert_eq!(cluster.state.aftermaths().count(), 0);
    let digest = cluster.state.digest();
    let follows = cluster.send(Command::FollowSwitches(FollowSwitches {}));
    assert!(!follows.changed);
    assert_eq!(cluster.state.digest(), digest);
}

#[test]
fn a_voter_can_adopt_what_was_selected_before_votes_were_switched_off() {
    let mut cluster = Cluster::upgraded();
    let a = cluster.starts("a", &[release::second()]);
    let before = cluster.encoding(&a, "pods");
    cluster.reports(&a, &[release::third()]);
    assert_ne!(cluster.selected("pods"), before);
    cluster.switches(Feature::Votes, Switch::Off);
    cluster.adopts(&a, "pods");
    assert_eq!(cluster.encoding(&a, "pods"), cluster.selected("pods"));
}

#[test]
fn what_fixed_servers_encode_is_no_vote_and_is_followed_while_votes_are_off() {
    let mut cluster = Cluster::upgraded();
    let a = cluster.starts("a", &[of("pods").decodes("v1 v2").prefers("v1")]);
    assert_eq!(cluster.selected("pods").as_deref(), Some("v1"));
    cluster.switches(Feature::Votes, Switch::Off);
    cluster.leaves(&a);
    cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v2")]);
    assert_eq!(cluster.selected("pods").as_deref(), Some("v2"));
}

// Guarantee: U-03
#[test]
fn while_migrations_are_off_none_is_created_or_worked_at_and_what_was_finished_is_recorded() {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[of("pods").decodes("v1").encodes("v1")]);
    let work = cluster.claims("pods", "w");
    cluster.switches(Feature::Migrations, Switch::Off);
    let starts = Command::StartMigration(StartMigration {
        resource: resource("pods"),
        reason: MigrationReason::RewriteAll,
        alias: None,
    });
    cluster.is_off(Feature::Migrations, starts);
    cluster.is_off(Feature::Migrations, progress(&work, 1));
    cluster.is_off(Feature::Migrations, claim(&work.id, "w"));
    // The worker had rewritten everything: that is a fact.
    assert!(matches!(
        accepted(cluster.send(complete(&work))),
        Answer::MigrationCompleted(_) | Answer::MigrationSucceeded { .. }
    ));
    assert_eq!(cluster.migration(&work.id).phase, MigrationPhase::Succeeded);
    // An agreement on another resource calls for a migration, which comes when migrations are on again.
    cluster.starts("b", &[of("jobs.batch").decodes("v1").encodes("v1")]);
    assert_eq!(cluster.agreed("jobs.batch").as_deref(), Some("v1"));
    assert!(cluster.migrations("jobs.batch").is_empty());
    cluster.switches(Feature::Migrations, Switch::On);
    assert_eq!(
        cluster.open("jobs.batch").reason,
        MigrationReason::Agreement
    );
    assert_eq!(
        cluster.migrations("pods").len(),
        1,
        "what was migrated is not migrated again"
    );
}

#[test]
fn a_claim_ends_by_its_deadline_while_migrations_are_off_and_a_worker_may_let_go() {
    let mut cluster = Cluster::upgraded();
    let a = cluster.starts("a", &[of("pods").decodes("v1").encodes("v1")]);
    let b = cluster.starts("b", &[of("jobs.batch").decodes("v1").encodes("v1")]);
    let lost = cluster.claims("pods", "w");
    let failed = cluster.claims("jobs.batch", "w");
    cluster.switches(Feature::Migrations, Switch::Off);
    accepted(cluster.send(fail(&failed, FailureClass::Transient)));
    cluster.pass(TTL / 2);
    cluster.renew_all(&[&a, &b]);
    cluster.pass(TTL / 2);
    cluster.expires();
    assert_eq!(cluster.migration(&lost.id).phase, MigrationPhase::Pending);
    accepted(cluster.send(Command::AbortMigration(AbortMigration { id: failed.id })));
    cluster.is_off(Feature::Migrations, claim(&lost.id, "w"));
    cluster.switches(Feature::Migrations, Switch::On);
    accepted(cluster.send(claim(&lost.id, "w")));
    assert_eq!(
        cluster.migrations("jobs.batch").len(),
        1,
        "what was called off is not had back"
    );
}
