//! Migrations under names of one's own, and their deletion at any time.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use synod_machine::{Answer, Command, Holder, Row, State, StateStatus, check_drop};
use synod_model::{
    ALIASES_SINCE, AbortMigration, DELETE_MIGRATION_SINCE, DeleteMigration, ErrorKind,
    FailureClass, Feature, Migration, MigrationAlias, MigrationId, MigrationPhase, MigrationReason,
    Preconditions, Revision, SettingsPatch, StartMigration, Switch, Uid,
};

use crate::cluster::{
    Cluster, Work, accepted, claim, complete, fail, forget, progress, refused, request,
};
use crate::entry::{of, resource, version};
use crate::raised::raised;
use crate::releases::gives_back;
use crate::rosters::rule;
use crate::switched::switch;

fn alias(text: &str) -> MigrationAlias {
    MigrationAlias::parse(text).expect("the story uses legal names")
}

fn start(name: &str, reason: MigrationReason, named: &str) -> Command {
    Command::StartMigration(StartMigration {
        resource: resource(name),
        reason,
        alias: Some(alias(named)),
    })
}

fn delete(id: &MigrationId) -> Command {
    delete_if(id, Preconditions::default())
}

fn delete_if(id: &MigrationId, preconditions: Preconditions) -> Command {
    Command::DeleteMigration(DeleteMigration {
        id: id.clone(),
        preconditions,
    })
}

impl Cluster {
    /// Starts a migration of pods by request, under a name.
    fn starts_as(&mut self, named: &str) -> MigrationId {
        let started = self.send(start("pods", MigrationReason::Manual, named));
        match accepted(started) {
            Answer::MigrationStarted(id) => id,
            other => panic!("a start answers the id, not {other:?}"),
        }
    }

    /// The migration of this name, now or at a revision.
    fn called(&self, named: &str, at: Revision) -> Option<MigrationId> {
        let past = self.state.at(at).expect("it is within reach");
        let found = past.migration_of(&alias(named));
        found.map(|migration| migration.id.clone())
    }

    fn has_deadline_of(&self, id: &MigrationId) -> bool {
        let of = |holder: &Holder| match holder {
            Holder::Claim(of) | Holder::Retry(of) => of == id,
            _ => false,
        };
        let mut rows = self.state.rows();
        rows.any(|row| matches!(&row, Row::Deadline(holder, _) if of(holder)))
    }
}

// Guarantee: MG-06
#[test]
fn a_name_is_one_migrations_until_that_is_deleted_and_another_ones_then() {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[of("pods"), of("apps.deployments")]);
    let begun = cluster.revision();
    let first = cluster.starts_as("mine");
    let had = cluster.revision();
    assert_eq!(first.number(), had, "the id is what it was");
    assert_eq!(cluster.migration(&first).alias, Some(alias("mine")));
    // Of another resource, and for another reason, it is the same name.
    for (name, reason) in [
        ("apps.deployments", MigrationReason::Manual),
        ("pods", MigrationReason::RewriteAll),
        ("pods", MigrationReason::Manual),
        ("batch.unknown", MigrationReason::Manual),
    ] {
        let again = cluster.send(start(name, reason, "mine"));
        let refusal = refused(again, ErrorKind::AlreadyExists);
        assert_eq!(refusal.metadata["migration"], first.to_string());
        assert_eq!(refusal.metadata["alias"], "mine");
    }
    // Under another name it is the second of its reason.
    let other = cluster.send(start("pods", MigrationReason::Manual, "yours"));
    let refusal = refused(other, ErrorKind::AlreadyExists);
    assert_eq!(refusal.metadata["migration"], first.to_string());
    assert!(!refusal.metadata.contains_key("alias"));

    accepted(cluster.send(delete(&first)));
    let gone = cluster.revision();
    let second = cluster.starts_as("mine");
    let now = cluster.revision();
    assert_ne!(first, second);
    cluster.restart_from_checkpoint();
    let called: Vec<_> = [begun, had, gone, now]
        .map(|at| cluster.called("mine", at))
        .into();
    assert_eq!(called, [None, Some(first), None, Some(second)]);
    let again = cluster.send(start("pods", MigrationReason::RewriteAll, "mine"));
    refused(again, ErrorKind::AlreadyExists);
}

/// Brings the migration of pods that began by itself to a phase.
fn brought_to(phase: MigrationPhase) -> (Cluster, Work) {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[of("pods").decodes("v1 v2")]);
    let work = cluster.claims("pods", "one");
    accepted(cluster.send(progress(&work, 7)));
    let abort = Command::AbortMigration(AbortMigration {
        id: work.id.clone(),
    });
    let command = match phase {
        MigrationPhase::Pending => gives_back(&work),
        MigrationPhase::Running => progress(&work, 8),
        MigrationPhase::Succeeded => complete(&work),
        MigrationPhase::Failed => fail(&work, FailureClass::Transient),
        MigrationPhase::Aborted => abort,
    };
    accepted(cluster.send(command));
    assert_eq!(cluster.migration(&work.id).phase, phase);
    (cluster, work)
}

const PHASES: [MigrationPhase; 5] = [
    MigrationPhase::Pending,
    MigrationPhase::Running,
    MigrationPhase::Succeeded,
    MigrationPhase::Failed,
    MigrationPhase::Aborted,
];

// Guarantee: MG-06
#[test]
fn a_migration_is_deleted_in_each_phase_and_its_worker_is_told_by_its_next_word() {
    for phase in PHASES {
        let (mut cluster, work) = brought_to(phase);
        let before = cluster.revision();
        let deleted = cluster.send(delete(&work.id));
        assert!(deleted.changed, "{phase}");
        accepted(deleted);
        // Watchers see its end, and what its worker may still write if it had one.
        let events = cluster.state.history().next_after(before).unwrap();
        let (ends, others): (Vec<_>, Vec<_>) = (events.expect("it made a revision").changes)
            .iter()
            .partition(|change| change.of::<Migration>().is_some());
        let is_running = phase == MigrationPhase::Running;
        assert_eq!(
            (ends.len(), others.len()),
            (1, usize::from(is_running)),
            "{phase}"
        );
        let change = ends[0].of::<Migration>().expect("it is the migration's");
        assert_eq!(change.key, &work.id);
        assert_eq!(change.before.map(|row| row.phase), Some(phase));
        assert_eq!(change.after, None);
        assert!(!cluster.has_deadline_of(&work.id), "{phase}");
        assert!(cluster.state.migration_progress(&work.id).is_none());
        for command in [
            progress(&work, 9),
            complete(&work),
            fail(&work, FailureClass::Transient),
            gives_back(&work),
            claim(&work.id, "two"),
            delete(&work.id),
        ] {
            let refusal = refused(cluster.send(command), ErrorKind::NotFound);
            assert_eq!(refusal.metadata["migration"], work.id.to_string());
        }
        cluster.pass(Duration::from_secs(3));
        cluster.expires();
        cluster.restart_from_checkpoint();
        assert!(cluster.migrations("pods").is_empty(), "{phase}");
    }
}

impl Cluster {
    fn status(&self) -> StateStatus {
        self.kept("pods")
    }

    /// What an operator is told who wants to drop a version of pods.
    fn told_of_dropping(&self, of: &str) -> (Vec<String>, bool) {
        let (past, now) = (self.state.present(), self.state.log_time());
        let verdict = check_drop(&past, now, &resource("pods"), &version(of));
        let whys = verdict.dangers.iter();
        let whys = whys.map(|danger| format!("{:?}", danger.why)).collect();
        (whys, verdict.assumptions.is_empty())
    }
}

/// What is persisted, what drains and what is on trust stand in the storage state, and only an end that a worker has
/// reported takes anything from it. A deletion is no end, and does not take one back; of a claim it leaves a drain.
// Guarantee: MG-06
#[test]
fn nothing_is_safer_by_a_deletion() {
    for phase in PHASES {
        let (mut cluster, work) = brought_to(phase);
        let answers = |cluster: &Cluster| {
            (
                cluster.told_of_dropping("v1"),
                cluster.told_of_dropping("v2"),
            )
        };
        let (before, status) = (answers(&cluster), cluster.status());
        accepted(cluster.send(delete(&work.id)));
        if phase == MigrationPhase::Running {
            let drains = cluster.status().claim_drains;
            assert_eq!(drains.keys().collect::<Vec<_>>(), [&work.token]);
            assert_eq!(status.claim_drains.len(), 0);
            continue;
        }
        assert_eq!(answers(&cluster), before, "{phase}");
        assert_eq!(cluster.status(), status, "{phase}");
        let is_known = phase == MigrationPhase::Succeeded;
        assert_eq!(
            cluster.told_of_dropping("v2").0.is_empty(),
            is_known,
            "{phase}"
        );
    }
    // Nor is what is on trust.
    let (mut cluster, work) = brought_to(MigrationPhase::Succeeded);
    cluster.sets_roster("*", rule("a", "", 0));
    let (answer, status) = (cluster.told_of_dropping("v2"), cluster.status());
    assert!(status.on_trust.is_some() && !answer.1, "{answer:?}");
    accepted(cluster.send(delete(&work.id)));
    assert_eq!(
        (cluster.told_of_dropping("v2"), cluster.status()),
        (answer, status)
    );
}

/// The rule of an abort on request: an agreement is not asked twice, and the next one gets its migration.
// Guarantee: MG-06
#[test]
fn what_an_agreement_began_may_be_deleted_and_begins_anew_with_the_next_agreement_or_by_request() {
    let mut cluster = Cluster::upgraded();
    let v1 = of("pods").decodes("v1 v2");
    let a = cluster.starts("a", std::slice::from_ref(&v1));
    let id = cluster.open("pods").id;
    accepted(cluster.send(delete(&id)));
    cluster.reports(&a, &[v1]);
    assert!(cluster.migrations("pods").is_empty(), "an equal report");
    let started = cluster.starts_as("again");
    accepted(cluster.send(delete(&started)));
    cluster.reports(&a, &[of("pods").decodes("v1 v2").encodes("v2")]);
    let next = cluster.open("pods");
    assert_eq!(next.reason, MigrationReason::Agreement);
    assert_eq!(next.alias, None);
    assert_eq!(cluster.persisted("pods"), ["Unknown", "v1", "v2"]);
}

#[test]
fn what_came_after_a_deleted_migration_has_its_turn() {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[of("pods")]);
    let first = cluster.claims("pods", "one");
    let second = cluster.starts_as("second");
    refused(cluster.send(claim(&second, "two")), ErrorKind::Conflict);
    accepted(cluster.send(delete(&first.id)));
    accepted(cluster.send(claim(&second, "two")));
    // The worker of the deleted one is fenced, and the other one is not disturbed.
    refused(cluster.send(complete(&first)), ErrorKind::NotFound);
    assert_eq!(cluster.open("pods").id, second);
}

#[test]
fn a_deletion_of_another_migration_than_is_there_is_refused() {
    let (mut cluster, work) = brought_to(MigrationPhase::Pending);
    let metadata = cluster.migration(&work.id).metadata;
    let meant = |uid, resource_version| Preconditions {
        uid,
        resource_version,
    };
    for (preconditions, told) in [
        (meant(Some(Uid::from_bytes([9; 16])), None), "UID"),
        (
            meant(Some(metadata.uid), Some(Revision::new(1))),
            "ResourceVersion",
        ),
    ] {
        let refusal = refused(
            cluster.send(delete_if(&work.id, preconditions)),
            ErrorKind::Conflict,
        );
        assert!(refusal.message.contains(told), "{refusal}");
        let at = metadata.resource_version.to_string();
        assert_eq!(refusal.metadata["resource_version"], at);
    }
    let right = meant(Some(metadata.uid), Some(metadata.resource_version));
    accepted(cluster.send(delete_if(&work.id, right)));
}

#[test]
fn a_deletion_is_carried_out_once_and_a_retry_hears_the_first_answer() {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[of("pods")]);
    let session = cluster.opens_session();
    let first = cluster.starts_as("mine");
    let id = request(session, 1, 1);
    let deleted = cluster.send_as(id, delete(&first));
    let second = cluster.starts_as("mine");
    assert_eq!(cluster.send_as(id, delete(&first)), deleted);
    let called = cluster.called("mine", cluster.revision());
    assert_eq!(called, Some(second), "the new one stays");
}

// Guarantee: MG-06
#[test]
fn names_and_deletions_wait_until_every_replica_knows_them() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of("pods")]);
    let id = cluster.open("pods").id;
    let named = start("pods", MigrationReason::Manual, "mine");
    assert_eq!(named.machine_version(), ALIASES_SINCE);
    assert_eq!(delete(&id).machine_version(), DELETE_MIGRATION_SINCE);
    let refusal = refused(cluster.send(named.clone()), ErrorKind::Unavailable);
    assert_eq!(refusal.metadata["alias"], "mine");
    let refusal = refused(cluster.send(delete(&id)), ErrorKind::Unavailable);
    assert_eq!(refusal.metadata["migration"], id.to_string());
    assert_eq!(refusal.metadata["not_executed"], "true");
    assert_eq!(cluster.open("pods").id, id);
    for command in raised() {
        accepted(cluster.send(command));
    }
    accepted(cluster.send(named));
    accepted(cluster.send(delete(&id)));
}

#[test]
fn migrations_are_deleted_while_they_are_switched_off_and_none_is_started() {
    let (mut cluster, work) = brought_to(MigrationPhase::Running);
    accepted(cluster.send(switch(Feature::Migrations, Switch::Off)));
    let named = start("pods", MigrationReason::Manual, "mine");
    refused(cluster.send(named), ErrorKind::SwitchedOff);
    accepted(cluster.send(delete(&work.id)));
}

#[test]
fn a_name_is_free_once_its_migration_is_forgotten() {
    let mut cluster = Cluster::upgraded();
    cluster.set(SettingsPatch {
        migrations_kept: Some(1),
        ..SettingsPatch::default()
    });
    let a = cluster.starts("a", &[of("pods")]);
    cluster.migrates("pods");
    for named in ["one", "two", "three"] {
        cluster.starts_as(named);
        cluster.migrates("pods");
    }
    let now = cluster.revision();
    assert_eq!(cluster.called("one", now), None, "only some are kept");
    let last = cluster.called("three", now);
    assert!(last.is_some());
    cluster.starts_as("one");
    // With what is known of the resource all its migrations go.
    cluster.leaves_drained(&a);
    accepted(cluster.send(forget("pods")));
    cluster.restart_from_checkpoint();
    assert_eq!(cluster.called("one", cluster.revision()), None);
    cluster.starts("a", &[of("pods")]);
    cluster.starts_as("three");
}

#[test]
fn a_name_survives_a_restore_of_the_cluster() {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[of("pods")]);
    let id = cluster.starts_as("mine");
    cluster.is_restored();
    cluster.restart_from_checkpoint();
    assert_eq!(cluster.called("mine", cluster.revision()), Some(id.clone()));
    accepted(cluster.send(delete(&id)));
    assert_eq!(cluster.called("mine", cluster.revision()), None);
}

#[test]
fn two_migrations_of_one_name_are_no_state() {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[of("pods")]);
    cluster.starts_as("mine");
    let rows = cluster.state.rows().map(|row| match row {
        Row::Migration(migration) => Row::Migration(Arc::new(Migration {
            alias: Some(alias("mine")),
            ..(*migration).clone()
        })),
        row => row,
    });
    let rows: Vec<Row> = rows.collect();
    let named: BTreeSet<String> = rows
        .iter()
        .filter_map(|row| match row {
            Row::Migration(migration) => Some(migration.id.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(named.len(), 2);
    let fault = State::from_rows(rows).expect_err("two have it");
    assert!(fault.to_string().contains("two rows of one key"), "{fault}");
}
