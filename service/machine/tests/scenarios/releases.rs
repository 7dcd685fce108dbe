//! Claims that their workers give back before they have run out.

use std::time::Duration;

use synod_machine::{Command, Holder, Row};
use synod_model::{
    ErrorKind, FailureClass, Feature, MigrationPhase, MigrationReason, RELEASES_SINCE,
    ReleaseMigration, StartMigration, Switch,
};

use crate::cluster::{Cluster, Work, accepted, claim, complete, fail, progress, refused, request};
use crate::entry::{of, resource};
use crate::raised::raised_to;
use crate::switched::switch;

// Guarantee: MG-05
#[test]
fn a_claim_that_is_given_back_is_the_next_workers_at_once_who_goes_on_where_it_stood() {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[of("pods")]);
    let first = cluster.claims("pods", "first");
    accepted(cluster.send(progress(&first, 500)));
    // Shown a moment ago: the migration does not show this one.
    accepted(cluster.send(progress(&first, 700)));
    assert_eq!(cluster.open("pods").done, 500);
    let released = cluster.send(gives_back(&first));
    assert!(released.changed, "watchers and the history see it");
    accepted(released);
    let migration = cluster.open("pods");
    assert_eq!(migration.phase, MigrationPhase::Pending);
    assert_eq!(migration.claim, None);
    assert_eq!(migration.done, 700, "nobody says any more how far it is");
    assert_eq!((migration.failures, migration.ended), (0, None));
    let second = cluster.claims("pods", "second");
    assert_eq!(second.progress.done, 700);
    let token = second.progress.continue_token.clone().expect("it had one");
    assert_eq!(token.as_str(), "after-700");
    assert!(second.token > first.token);
    // The claim of the second worker has a deadline of its own, and the first one is fenced.
    for command in [
        progress(&first, 9),
        complete(&first),
        fail(&first, FailureClass::Transient),
        gives_back(&first),
    ] {
        let refusal = refused(cluster.send(command), ErrorKind::Conflict);
        assert!(refusal.message.contains("\"second\""), "{refusal}");
    }
    accepted(cluster.send(complete(&second)));
    refused(cluster.send(gives_back(&second)), ErrorKind::Conflict);
}

// Guarantee: MG-05
#[test]
fn a_claim_is_given_back_once_and_a_retry_hears_the_first_answer() {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[of("pods")]);
    let session = cluster.opens_session();
    let work = cluster.claims("pods", "one");
    let id = request(session, 1, 1);
    let first = cluster.send_as(id, gives_back(&work));
    assert!(first.changed);
    let second = cluster.claims("pods", "two");
    // The answer was lost, so it is sent again, by when the migration is another worker's.
    let again = cluster.send_as(id, gives_back(&work));
    assert_eq!(again, first);
    assert_eq!(cluster.open("pods").phase, MigrationPhase::Running);
    // Without a session, or under another number, it is a claim that has ended.
    let refusal = refused(cluster.send(gives_back(&work)), ErrorKind::Conflict);
    assert!(refusal.message.contains("\"two\""), "{refusal}");
    accepted(cluster.send(gives_back(&second)));
    let refusal = refused(cluster.send(gives_back(&second)), ErrorKind::Conflict);
    assert!(refusal.message.contains("has ended"), "{refusal}");
}

// Guarantee: MG-05
#[test]
fn what_is_given_back_has_no_deadline_and_waits_its_turn() {
    let mut cluster = Cluster::upgraded();
    let a = cluster.starts("a", &[of("pods")]);
    let failed = cluster.claims("pods", "one");
    accepted(cluster.send(fail(&failed, FailureClass::Transient)));
    accepted(cluster.send(Command::StartMigration(StartMigration {
        resource: resource("pods"),
        reason: MigrationReason::Manual,
        alias: None,
    })));
    // The later one runs when the older one is to be tried again, and is given back then: the older one comes first.
    let later = cluster.claims("pods", "two");
    cluster.pass(Duration::from_secs(1));
    cluster.renews(&a);
    cluster.expires();
    accepted(cluster.send(gives_back(&later)));
    let runs_out = |row: &Row| matches!(row, Row::Deadline(Holder::Claim(_), _));
    assert!(!cluster.state.rows().any(|row| runs_out(&row)));
    let refusal = refused(cluster.send(claim(&later.id, "two")), ErrorKind::Conflict);
    assert!(refusal.message.contains("comes first"), "{refusal}");
    accepted(cluster.send(claim(&failed.id, "two")));
}

#[test]
fn a_worker_may_let_go_while_migrations_are_off_and_its_place_survives_a_checkpoint() {
    let mut cluster = Cluster::upgraded();
    cluster.starts("a", &[of("pods")]);
    let work = cluster.claims("pods", "one");
    accepted(cluster.send(progress(&work, 7)));
    accepted(cluster.send(switch(Feature::Migrations, Switch::Off)));
    accepted(cluster.send(gives_back(&work)));
    accepted(cluster.send(switch(Feature::Migrations, Switch::On)));
    cluster.restart_from_checkpoint();
    let next = cluster.claims("pods", "two");
    assert_eq!(next.progress.done, 7);
}

// Guarantee: MG-05
#[test]
fn nothing_is_given_back_before_every_replica_knows_how() {
    let mut cluster = Cluster::formed();
    assert!(cluster.state.machine_version() < RELEASES_SINCE);
    cluster.starts("a", &[of("pods")]);
    let work = cluster.claims("pods", "one");
    let refusal = refused(cluster.send(gives_back(&work)), ErrorKind::Unavailable);
    assert_eq!(refusal.metadata["not_executed"], "true");
    assert_eq!(refusal.metadata["migration"], work.id.to_string());
    assert_eq!(gives_back(&work).machine_version(), RELEASES_SINCE);
    assert_eq!(cluster.open("pods").phase, MigrationPhase::Running);
    for command in raised_to(RELEASES_SINCE) {
        accepted(cluster.send(command));
    }
    accepted(cluster.send(gives_back(&work)));
}

pub(crate) fn gives_back(work: &Work) -> Command {
    Command::ReleaseMigration(ReleaseMigration {
        id: work.id.clone(),
        token: work.token,
        stop: None,
    })
}
