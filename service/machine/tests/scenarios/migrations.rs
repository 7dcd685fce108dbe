//! Migrations: created and aborted with the agreement, claimed, reported on, completed.

use std::time::Duration;

use synod_machine::{Answer, Command, Holder};
use synod_model::{
    AbortCause, AbortMigration, ErrorKind, FailureClass, Migration, MigrationId, MigrationPhase,
    MigrationReason, ResetStorageStates, RetryMigration, Revision, SettingsPatch, StartMigration,
};

use crate::cluster::{Cluster, TTL, accepted, claim, complete, fail, progress, refused};
use crate::entry::{of, release, resource};

const GRACE: Duration = Duration::from_secs(70);

fn start(name: &str, reason: MigrationReason) -> Command {
    Command::StartMigration(StartMigration {
        resource: resource(name),
        reason,
        alias: None,
    })
}

fn abort(id: &MigrationId) -> Command {
    Command::AbortMigration(AbortMigration { id: id.clone() })
}

fn retry(id: &MigrationId) -> Command {
    Command::RetryMigration(RetryMigration { id: id.clone() })
}

fn reset(name: Option<&str>) -> Command {
    Command::ResetStorageStates(ResetStorageStates {
        resource: name.map(resource),
    })
}

fn phases(cluster: &Cluster, name: &str) -> Vec<MigrationPhase> {
    let migrations = cluster.migrations(name);
    migrations.iter().map(|migration| migration.phase).collect()
}

#[test]
fn the_report_that_brings_an_agreement_creates_the_migration() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[release::second()]);
    let migration = cluster.open("pods");
    assert_eq!(migration.phase, MigrationPhase::Pending);
    assert_eq!(migration.reason, MigrationReason::Agreement);
    assert_eq!(migration.target.to_string(), "v1");
    assert_eq!(migration.id.number(), cluster.revision());
    assert_eq!(
        migration.agreement_revision,
        cluster.kept("pods").agreement_revision
    );
    assert_eq!(
        migration.id.to_string(),
        format!("pods-{}", cluster.revision())
    );
}

// Guarantee: V-16
#[test]
fn done_is_one_version_and_needs_no_further_migration() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    cluster.migrates("pods");
    assert_eq!(cluster.persisted("pods"), ["v1"]);
    assert_eq!(phases(&cluster, "pods"), [MigrationPhase::Succeeded]);
    // Nor do members that join and leave, as long as no other version is written.
    let b = cluster.starts("b", &[release::second()]);
    cluster.leaves(&b);
    cluster.is_replaced(&a, &[release::second()]);
    assert_eq!(phases(&cluster, "pods"), [MigrationPhase::Succeeded]);
}

// Guarantee: MG-01
#[test]
fn a_lost_agreement_aborts_in_the_very_command() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods")]);
    let work = cluster.claims("pods", "one");
    cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v2")]);
    let aborted = cluster.migration(&work.id);
    assert_eq!(aborted.phase, MigrationPhase::Aborted);
    assert_eq!(aborted.aborted, Some(AbortCause::NoAgreement));
    assert_eq!(aborted.metadata.resource_version, cluster.revision());
    // The worker is told that the agreement is gone, not that another worker has the migration.
    refused(cluster.send(complete(&work)), ErrorKind::NoAgreement);
    refused(cluster.send(progress(&work, 3)), ErrorKind::Conflict);
    assert_eq!(cluster.persisted("pods"), ["Unknown", "v1", "v2"]);
}

// Guarantee: MG-02
#[test]
fn an_agreement_that_moves_and_moves_back_is_another_one() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    let work = cluster.claims("pods", "one");
    // The selection moves to v2 and back before the worker reports.
    cluster.reports(&a, &[release::third()]);
    cluster.adopts(&a, "pods");
    cluster.reports(&a, &[release::second()]);
    cluster.adopts(&a, "pods");
    assert_eq!(cluster.agreed("pods").as_deref(), Some("v1"));
    refused(cluster.send(complete(&work)), ErrorKind::NoAgreement);
    assert_eq!(cluster.persisted("pods"), ["Unknown", "v1", "v2"]);
    cluster.migrates("pods");
    assert_eq!(cluster.persisted("pods"), ["v1"]);
}

// Guarantee: MG-03
#[test]
fn a_claim_waits_until_other_versions_have_drained() {
    let mut cluster = Cluster::formed();
    let old = cluster.starts("old", &[of("pods")]);
    cluster.starts("new", &[of("pods").decodes("v1 v2").encodes("v2")]);
    cluster.leaves(&old);
    cluster.pass(Duration::from_secs(10));
    let id = cluster.open("pods").id;
    let refusal = refused(cluster.send(claim(&id, "one")), ErrorKind::Draining);
    assert_eq!(refusal.metadata["retry_after_ms"], "60000");
    cluster.pass(GRACE - Duration::from_secs(10) - Duration::from_millis(1));
    refused(cluster.send(claim(&id, "one")), ErrorKind::Draining);
    cluster.pass(Duration::from_millis(1));
    cluster.migrates("pods");
    assert_eq!(cluster.persisted("pods"), ["v2"]);
}

#[test]
fn a_drain_of_the_target_itself_keeps_nobody_waiting() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods")]);
    let b = cluster.starts("b", &[of("pods")]);
    cluster.leaves(&b);
    assert_eq!(cluster.drains("pods").len(), 1);
    cluster.migrates("pods");
}

// Guarantee: MG-03
#[test]
fn a_replaced_voter_that_could_follow_a_later_selection_is_waited_for() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    cluster.migrates("pods");
    let a = cluster.is_replaced(&a, &[release::second()]);
    cluster.reports(&a, &[release::third()]);
    cluster.adopts(&a, "pods");
    let id = cluster.open("pods").id;
    refused(cluster.send(claim(&id, "one")), ErrorKind::Draining);
    cluster.pass(TTL + GRACE);
    cluster.renews(&a);
    cluster.migrates("pods");
    assert_eq!(cluster.persisted("pods"), ["v2"]);
}

// Guarantee: MG-04
#[test]
fn a_silent_worker_loses_its_claim_and_the_next_goes_on_where_it_stood() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods")]);
    let first = cluster.claims("pods", "first");
    assert_eq!(first.progress.continue_token, None);
    accepted(cluster.send(progress(&first, 500)));
    cluster.pass(TTL - Duration::from_secs(1));
    // A report of progress keeps the claim...
    cluster.renews(&a);
    accepted(cluster.send(progress(&first, 1_000)));
    cluster.pass(TTL - Duration::from_secs(1));
    cluster.renews(&a);
    cluster.expires();
    assert_eq!(cluster.open("pods").phase, MigrationPhase::Running);
    // ...and silence loses it.
    cluster.pass(Duration::from_secs(1));
    cluster.expires();
    assert_eq!(cluster.open("pods").phase, MigrationPhase::Pending);
    let second = cluster.claims("pods", "second");
    assert_eq!(second.progress.done, 1_000);
    let token = second.progress.continue_token.clone().expect("it had one");
    assert_eq!(token.as_str(), "after-1000");
    assert!(second.token > first.token);
    // The first worker was only slow. Its token is fenced.
    for command in [
        progress(&first, 9),
        complete(&first),
        fail(&first, FailureClass::Transient),
    ] {
        refused(cluster.send(command), ErrorKind::Conflict);
    }
    accepted(cluster.send(complete(&second)));
}

#[test]
fn a_new_leader_gives_every_worker_its_time_again() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods")]);
    let work = cluster.claims("pods", "one");
    cluster.pass(TTL);
    cluster.elect();
    cluster.renews(&a);
    cluster.expires();
    accepted(cluster.send(complete(&work)));
}

// Guarantee: MG-04
#[test]
fn one_of_a_resource_runs_at_a_time_the_oldest_first() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods"), of("apps.deployments")]);
    let first = cluster.open("pods").id;
    accepted(cluster.send(start("pods", MigrationReason::Manual)));
    accepted(cluster.send(start("pods", MigrationReason::RewriteAll)));
    let ids: Vec<MigrationId> = cluster
        .migrations("pods")
        .into_iter()
        .map(|m| m.id)
        .collect();
    assert_eq!(ids[0], first);
    let refusal = refused(cluster.send(claim(&ids[1], "one")), ErrorKind::Conflict);
    assert!(refusal.message.contains(&first.to_string()), "{refusal}");
    accepted(cluster.send(claim(&first, "one")));
    refused(cluster.send(claim(&first, "two")), ErrorKind::Conflict);
    refused(cluster.send(claim(&ids[1], "two")), ErrorKind::Conflict);
    // Another resource is independent.
    cluster.claims("apps.deployments", "two");
    accepted(cluster.send(abort(&first)));
    accepted(cluster.send(claim(&ids[1], "two")));
}

#[test]
fn an_older_one_that_is_tried_again_waits_for_the_one_that_runs() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods")]);
    let work = cluster.claims("pods", "one");
    accepted(cluster.send(fail(&work, FailureClass::Transient)));
    accepted(cluster.send(start("pods", MigrationReason::Manual)));
    cluster.claims("pods", "two");
    cluster.pass(Duration::from_secs(1));
    cluster.renews(&a);
    cluster.expires();
    assert_eq!(
        phases(&cluster, "pods"),
        [MigrationPhase::Pending, MigrationPhase::Running]
    );
    let refusal = refused(cluster.send(claim(&work.id, "one")), ErrorKind::Conflict);
    assert!(refusal.message.contains("runs"), "{refusal}");
}

#[test]
fn progress_is_kept_beside_the_migration_which_shows_it_from_time_to_time() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods")]);
    let work = cluster.claims("pods", "one");
    assert!(cluster.send(progress(&work, 1)).changed);
    let at = cluster.revision();
    for done in 2..10 {
        cluster.pass(Duration::from_millis(600));
        assert!(!cluster.send(progress(&work, done)).changed);
    }
    assert_eq!((cluster.revision(), cluster.open("pods").done), (at, 1));
    assert_eq!(
        cluster
            .state
            .migration_progress(&work.id)
            .unwrap()
            .progress
            .done,
        9
    );
    cluster.pass(Duration::from_millis(200));
    assert!(cluster.send(progress(&work, 10)).changed);
    assert_eq!(cluster.open("pods").done, 10);
    // Equal progress changes nothing, however long ago it was reported.
    cluster.pass(Duration::from_secs(9));
    assert!(!cluster.send(progress(&work, 10)).changed);
    accepted(cluster.send(progress(&work, 11)));
    accepted(cluster.send(complete(&work)));
    assert_eq!(cluster.migration(&work.id).done, 11, "the end shows all");
}

// Guarantee: MG-18
#[test]
fn a_failed_migration_is_tried_again_later_each_time_and_not_for_ever() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods")]);
    let id = cluster.open("pods").id;
    for seconds in [1, 2, 4, 8, 16, 32, 64] {
        let work = cluster.claims("pods", "one");
        accepted(cluster.send(fail(&work, FailureClass::Transient)));
        assert_eq!(cluster.migration(&id).phase, MigrationPhase::Failed);
        cluster.renews(&a);
        cluster.pass(Duration::from_millis(seconds * 1_000 - 1));
        cluster.renews(&a);
        assert!(!cluster.expires().changed, "not before {seconds} s");
        cluster.pass(Duration::from_millis(1));
        cluster.renews(&a);
        cluster.expires();
        assert_eq!(cluster.migration(&id).phase, MigrationPhase::Pending);
    }
    let work = cluster.claims("pods", "one");
    accepted(cluster.send(fail(&work, FailureClass::Transient)));
    cluster.pass(Duration::from_secs(3_600));
    assert!(cluster.due().retries.is_empty());
    // Until an operator retries it.
    cluster.renews(&a);
    accepted(cluster.send(retry(&id)));
    assert_eq!(cluster.migration(&id).failures, 0);
    cluster.migrates("pods");
}

// Guarantee: MG-18
#[test]
fn what_is_permanent_waits_for_somebody() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods")]);
    for class in [
        FailureClass::NotSupported,
        FailureClass::Forbidden,
        FailureClass::Undecodable,
    ] {
        let work = cluster.claims("pods", "one");
        accepted(cluster.send(fail(&work, class)));
        let failed = cluster.migration(&work.id);
        assert_eq!(failed.failure.expect("it failed").class, class);
        cluster.pass(Duration::from_secs(1));
        assert!(cluster.due().retries.is_empty());
        refused(cluster.send(claim(&work.id, "two")), ErrorKind::Conflict);
        accepted(cluster.send(retry(&work.id)));
    }
    refused(
        cluster.send(retry(&cluster.open("pods").id)),
        ErrorKind::Conflict,
    );
}

#[test]
fn a_failure_of_an_older_agreement_is_never_tried_again() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods").decodes("v1 v2").encodes("v1")]);
    let work = cluster.claims("pods", "one");
    accepted(cluster.send(fail(&work, FailureClass::Transient)));
    cluster.reports(&a, &[of("pods").decodes("v1 v2").encodes("v2")]);
    cluster.pass(Duration::from_secs(5));
    assert!(cluster.due().retries.is_empty());
    refused(cluster.send(retry(&work.id)), ErrorKind::NoAgreement);
    assert_eq!(
        phases(&cluster, "pods"),
        [MigrationPhase::Failed, MigrationPhase::Pending]
    );
    accepted(cluster.send(abort(&work.id)));
    refused(cluster.send(abort(&work.id)), ErrorKind::Conflict);
}

#[test]
fn somebody_can_ask_for_a_migration_of_what_is_agreed_on() {
    let mut cluster = Cluster::formed();
    let manual = || start("pods", MigrationReason::Manual);
    refused(cluster.send(manual()), ErrorKind::NotFound);
    cluster.starts("a", &[of("pods")]);
    cluster.migrates("pods");
    let Answer::MigrationStarted(id) = accepted(cluster.send(manual())) else {
        panic!("a start answers which one");
    };
    assert_eq!(cluster.open("pods").id, id);
    let refusal = refused(cluster.send(manual()), ErrorKind::AlreadyExists);
    assert_eq!(refusal.metadata["migration"], id.to_string());
    // A rotated key needs all objects written, though all are in the right version.
    accepted(cluster.send(start("pods", MigrationReason::RewriteAll)));
    cluster.starts("b", &[of("pods").decodes("v1 v2").encodes("v2")]);
    refused(cluster.send(manual()), ErrorKind::NoAgreement);
    let reasons: Vec<_> = cluster
        .migrations("pods")
        .iter()
        .map(|m| m.aborted)
        .collect();
    let broken = Some(AbortCause::NoAgreement);
    assert_eq!(reasons, [None, broken, broken]);
}

#[test]
fn only_the_newest_that_ended_are_remembered() {
    let mut cluster = Cluster::with(SettingsPatch {
        migrations_kept: Some(3),
        ..SettingsPatch::default()
    });
    cluster.starts("a", &[of("pods")]);
    cluster.migrates("pods");
    let first = cluster.migrations("pods")[0].id.clone();
    for _ in 0..4 {
        accepted(cluster.send(start("pods", MigrationReason::Manual)));
        cluster.migrates("pods");
    }
    let kept: Vec<Revision> = cluster
        .migrations("pods")
        .iter()
        .map(|m| m.id.number())
        .collect();
    assert_eq!(kept.len(), 4, "three, and the last one");
    assert!(kept.is_sorted());
    refused(cluster.send(retry(&first)), ErrorKind::NotFound);
    assert!(cluster.state.migration_progress(&first).is_none());
}

// Guarantee: V-16
#[test]
fn a_reset_begins_from_the_start() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods"), of("apps.deployments")]);
    cluster.migrates("pods");
    let work = cluster.claims("apps.deployments", "one");
    refused(cluster.send(reset(Some("batch.jobs"))), ErrorKind::NotFound);
    accepted(cluster.send(reset(None)));
    assert_eq!(cluster.persisted("pods"), ["Unknown", "v1"]);
    assert_eq!(
        phases(&cluster, "pods"),
        [MigrationPhase::Succeeded, MigrationPhase::Pending]
    );
    // A worker that was half-way may have missed objects that nothing is known of.
    let aborted = cluster.migration(&work.id);
    assert_eq!(aborted.aborted, Some(AbortCause::StorageUnknown));
    refused(cluster.send(complete(&work)), ErrorKind::Conflict);
    cluster.migrates("apps.deployments");
    assert_eq!(cluster.persisted("apps.deployments"), ["v1"]);
}

#[test]
fn a_reset_without_an_entry_unselects() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    accepted(cluster.send(reset(Some("pods"))));
    assert_eq!(cluster.selected("pods").as_deref(), Some("v1"));
    assert_eq!(cluster.persisted("pods"), ["Unknown", "v1"]);
    cluster.leaves_drained(&a);
    accepted(cluster.send(reset(Some("pods"))));
    assert_eq!(cluster.selected("pods"), None);
    assert_eq!(cluster.persisted("pods"), ["Unknown"]);
    assert_eq!(cluster.kept("pods").selected_revision, cluster.revision());
}

#[test]
fn what_is_migrated_is_told_to_who_could_not_decode_the_rest() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[release::second()]);
    cluster.reports(&a, &[release::third()]);
    cluster.adopts(&a, "pods");
    cluster.set(SettingsPatch {
        enforce_persisted: Some([resource("pods")].into()),
        ..SettingsPatch::default()
    });
    let new = cluster.joins("new");
    let report = crate::cluster::report(&new, &[release::fourth()], false);
    refused(cluster.send(report), ErrorKind::NotDecodable);
    cluster.migrates("pods");
    cluster.reports(&new, &[release::fourth()]);
    let status = cluster
        .version("pods")
        .expect("it is reported")
        .row
        .status
        .clone();
    assert_eq!(status.decodable.status.as_str(), "True");
}

#[test]
fn the_condition_of_who_decodes_all_follows_the_end_of_a_migration() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods").decodes("v1 v2").encodes("v1")]);
    cluster.reports(&a, &[of("pods").decodes("v2").encodes("v2")]);
    let condition = |cluster: &Cluster| {
        let view = cluster.version("pods").expect("it is reported");
        (
            view.row.status.decodable.status.as_str(),
            view.row.metadata.resource_version,
        )
    };
    assert_eq!(condition(&cluster).0, "False");
    cluster.migrates("pods");
    assert_eq!(condition(&cluster), ("True", cluster.revision()));
}

#[test]
fn members_that_store_two_kinds_under_one_name_persist_both() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods")]);
    cluster.starts("b", &[of("pods").of_kind("Gadget")]);
    assert_eq!(cluster.agreed("pods").as_deref(), Some("v1"));
    cluster.migrates("pods");
    assert_eq!(cluster.persisted("pods"), ["v1", "v1"]);
}

#[test]
fn a_migration_survives_a_checkpoint_with_its_claim_and_its_progress() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods")]);
    let work = cluster.claims("pods", "one");
    accepted(cluster.send(progress(&work, 7)));
    cluster.restart_from_checkpoint();
    cluster.pass(Duration::from_millis(100));
    assert!(
        !cluster.send(progress(&work, 8)).changed,
        "it showed 7 just now"
    );
    let holders = cluster.state.due(cluster.now().after(TTL), 9).holders;
    assert!(holders.contains(&Holder::Claim(work.id.clone())));
    accepted(cluster.send(complete(&work)));
}

/// The polluted migration of KEP-2339: during a rolling upgrade, one server does not show what all of them write.
// Guarantee: MG-01
#[test]
fn a_rolling_upgrade_pollutes_no_migration() {
    let old = of("pods").decodes("v1 v2").encodes("v1");
    let new = of("pods").decodes("v1 v2").encodes("v2");
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", std::slice::from_ref(&old));
    let b = cluster.starts("b", std::slice::from_ref(&old));
    cluster.migrates("pods");
    let mut naive = NaiveTrigger::default();
    let mut store = vec!["v1"; 4];
    naive.sees("v1");
    naive.migrates(&mut store, &["v1"], |_| {});
    assert_eq!(naive.persisted, ["v1"]);

    // a is upgraded, and the naive trigger polls it. Its migration writes v2, while b still writes v1 behind it.
    let a = cluster.is_replaced(&a, std::slice::from_ref(&new));
    naive.sees("v2");
    naive.migrates(&mut store, &["v2"], |store| store[0] = "v1");
    assert!(store.contains(&"v1"), "b wrote it");
    assert_eq!(
        naive.persisted,
        ["v2"],
        "and the trigger says that it cannot be there"
    );

    // Synod knows that they disagree: it creates no migration, and v1 stays in `persisted`.
    assert!(
        cluster
            .migrations("pods")
            .iter()
            .all(|migration| !migration.is_open())
    );
    refused(
        cluster.send(start("pods", MigrationReason::Manual)),
        ErrorKind::NoAgreement,
    );
    assert_eq!(cluster.persisted("pods"), ["v1", "v2"]);

    // When b is upgraded too, a migration is created, and begins when no write of b's can land any more.
    let b = cluster.is_replaced(&b, std::slice::from_ref(&new));
    let id = cluster.open("pods").id;
    refused(cluster.send(claim(&id, "one")), ErrorKind::Draining);
    cluster.pass(TTL + GRACE);
    cluster.renew_all(&[&a, &b]);
    cluster.migrates("pods");
    assert_eq!(cluster.persisted("pods"), ["v2"]);
}

/// The behaviour of the storage version migrator's trigger: it asks one server, and trusts the answer.
#[derive(Default)]
struct NaiveTrigger {
    current: &'static str,
    persisted: Vec<&'static str>,
}

impl NaiveTrigger {
    fn sees(&mut self, version: &'static str) {
        self.current = version;
        self.persisted.push(version);
    }

    /// Rewrites every object in the encoding of the server that it talks to, while others write too.
    fn migrates(
        &mut self,
        store: &mut [&'static str],
        encodes: &[&'static str],
        meanwhile: impl Fn(&mut [&'static str]),
    ) {
        for i in 0..store.len() {
            store[i] = encodes[i % encodes.len()];
            if i == store.len() / 2 {
                meanwhile(store);
            }
        }
        self.persisted = vec![self.current];
    }
}

#[test]
fn what_is_migrated_costs_the_rule_nothing_but_its_own_resource() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of("pods"), of("apps.deployments")]);
    let others = cluster.migrations("apps.deployments");
    let migrated = |cluster: &Cluster| -> Vec<Migration> { cluster.migrations("pods") };
    cluster.migrates("pods");
    cluster.reports(&a, &[of("pods").decodes("v1 v2").encodes("v2")]);
    assert_eq!(migrated(&cluster).len(), 2);
    assert_eq!(cluster.migrations("apps.deployments"), others);
}
