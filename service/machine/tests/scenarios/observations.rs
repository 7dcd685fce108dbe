//! Observations of discovery: what servers that do not report show.

use std::time::Duration;

use synod_machine::{Change, Command, ObjectRef};
use synod_model::{
    AbortCause, AbortMigration, AgreementCause, ErrorKind, MigrationReason, ObjectKind, Persisted,
    ResetStorageStates, SettingsPatch, StartMigration,
};

use crate::cluster::{Cluster, accepted, claim, complete, hash, progress, refused};
use crate::entry::{of, resource};

const CRONJOBS: &str = "batch.cronjobs";
const DAY: Duration = Duration::from_secs(24 * 3_600);
const PERIOD: Duration = Duration::from_secs(600);
/// How long an encoding that is no longer shown may still be written.
const GRACE: Duration = Duration::from_secs(70);

/// The persisted encodings, by the names that the scenarios use for their hashes.
fn persisted(cluster: &Cluster) -> Vec<&'static str> {
    let kept = cluster.kept(CRONJOBS).persisted;
    let name = |persisted: &Persisted| match persisted.hash() {
        None => "Unknown",
        Some(found) => ["v1", "v2", "v2alpha1", "v2beta1"]
            .into_iter()
            .find(|version| hash(version) == found)
            .expect("a version of these stories"),
    };
    let mut names: Vec<_> = kept.iter().map(name).collect();
    names.sort_unstable();
    names
}

/// A day of observations: one in each period.
fn a_day_of(cluster: &mut Cluster, version: &str) {
    for _ in 0..DAY.as_secs() / PERIOD.as_secs() {
        cluster.pass(PERIOD);
        cluster.observes(CRONJOBS, &[version]);
    }
}

/// The life of the StorageState of CronJob as the storage version hash's design describes it.
// Guarantee: MG-02
#[test]
fn the_life_of_cronjobs_from_a_to_b_to_a() {
    let mut cluster = Cluster::formed();
    // Day one: the cluster is at 1.14, and an observer is installed.
    cluster.observes(CRONJOBS, &["v2alpha1"]);
    assert_eq!(persisted(&cluster), ["Unknown"]);
    let first = cluster.open(CRONJOBS);
    assert_eq!(first.target.hash, hash("v2alpha1"));
    assert_eq!(first.target.version, None);
    cluster.migrates(CRONJOBS);
    assert_eq!(persisted(&cluster), ["v2alpha1"]);
    a_day_of(&mut cluster, "v2alpha1");
    assert_eq!(cluster.migrations(CRONJOBS).len(), 1);

    // Day two: the observer crashes and is back in time.
    let revision = cluster.revision();
    cluster.pass(PERIOD * 2);
    cluster.observes(CRONJOBS, &["v2alpha1"]);
    assert_eq!(cluster.revision(), revision, "only the heartbeat has moved");
    assert_eq!(persisted(&cluster), ["v2alpha1"]);

    // Day three: the cluster is upgraded to 1.15, and the migration to v2beta1 gets half-way.
    cluster.pass(PERIOD);
    cluster.observes(CRONJOBS, &["v2beta1"]);
    assert_eq!(persisted(&cluster), ["v2alpha1", "v2beta1"]);
    cluster.pass(GRACE);
    let work = cluster.claims(CRONJOBS, "one");
    accepted(cluster.send(progress(&work, 500)));

    // The same day: an issue is found, and the cluster is downgraded to 1.14.
    cluster.pass(PERIOD);
    cluster.observes(CRONJOBS, &["v2alpha1"]);
    let aborted = cluster.migration(&work.id);
    assert_eq!(aborted.aborted, Some(AbortCause::AgreementMoved));
    refused(cluster.send(complete(&work)), ErrorKind::NoAgreement);
    assert_eq!(persisted(&cluster), ["v2alpha1", "v2beta1"]);
    let back = cluster.open(CRONJOBS);
    assert_eq!(back.target.hash, hash("v2alpha1"));
    // It begins from its own start, not where the earlier one stopped.
    cluster.pass(GRACE);
    let work = cluster.claims(CRONJOBS, "one");
    assert_eq!(work.progress.continue_token, None);
    accepted(cluster.send(complete(&work)));
    assert_eq!(persisted(&cluster), ["v2alpha1"]);

    // Day four: nothing changes, and no migration is created.
    a_day_of(&mut cluster, "v2alpha1");
    assert_eq!(cluster.migrations(CRONJOBS).len(), 3);
}

// Guarantee: MG-20
#[test]
fn an_observer_that_was_away_too_long_knows_nothing() {
    let mut cluster = Cluster::formed();
    cluster.observes(CRONJOBS, &["v1"]);
    cluster.migrates(CRONJOBS);
    cluster.pass(PERIOD * 2 + Duration::from_millis(1));
    cluster.observes(CRONJOBS, &["v1"]);
    assert_eq!(persisted(&cluster), ["Unknown", "v1"]);
    let work = cluster.claims(CRONJOBS, "one");
    // Again, while a migration runs: what it has rewritten may be in another version by now.
    cluster.pass(PERIOD * 3);
    cluster.observes(CRONJOBS, &["v1"]);
    let aborted = cluster.migration(&work.id);
    assert_eq!(aborted.aborted, Some(AbortCause::StorageUnknown));
    assert_ne!(cluster.open(CRONJOBS).id, work.id);
}

#[test]
fn the_period_is_a_setting() {
    let mut cluster = Cluster::with(SettingsPatch {
        discovery_period: Some(Duration::from_secs(1)),
        ..SettingsPatch::default()
    });
    cluster.observes(CRONJOBS, &["v1"]);
    cluster.migrates(CRONJOBS);
    cluster.pass(Duration::from_secs(2));
    cluster.observes(CRONJOBS, &["v1"]);
    assert_eq!(persisted(&cluster), ["v1"]);
    cluster.pass(Duration::from_millis(2_001));
    cluster.observes(CRONJOBS, &["v1"]);
    assert_eq!(persisted(&cluster), ["Unknown", "v1"]);
}

#[test]
fn servers_that_show_different_hashes_agree_on_nothing() {
    let mut cluster = Cluster::formed();
    cluster.observes(CRONJOBS, &["v1"]);
    cluster.migrates(CRONJOBS);
    // A rolling upgrade, seen by an observer that asks every server.
    cluster.observes(CRONJOBS, &["v1", "v2"]);
    assert_eq!(cluster.kept(CRONJOBS).agreement(), None);
    assert_eq!(persisted(&cluster), ["v1", "v2"]);
    assert!(cluster.migrations(CRONJOBS).iter().all(|it| !it.is_open()));
    cluster.observes(CRONJOBS, &["v2"]);
    cluster.pass(GRACE);
    cluster.migrates(CRONJOBS);
    assert_eq!(persisted(&cluster), ["v2"]);
}

#[test]
fn who_reports_a_resource_says_more_than_discovery() {
    let mut cluster = Cluster::formed();
    cluster.observes(CRONJOBS, &["v1"]);
    cluster.migrates(CRONJOBS);
    let a = cluster.starts("a", &[of(CRONJOBS)]);
    // The same encoding, now with its name: there is nothing to migrate.
    assert_eq!(cluster.persisted(CRONJOBS), ["v1"]);
    let agreed = cluster.kept(CRONJOBS).agreement();
    assert_eq!(agreed, Some(cluster.revision()));
    cluster.observes(CRONJOBS, &["v1"]);
    assert_eq!(cluster.kept(CRONJOBS).agreement(), agreed);
    // When the member has gone, what discovery shows is the agreement again.
    cluster.leaves_drained(&a);
    assert_eq!(cluster.kept(CRONJOBS).agreed_hash, Some(hash("v1")));
    assert_eq!(cluster.persisted(CRONJOBS), ["v1"]);
}

// Guarantee: V-11
#[test]
fn a_server_that_does_not_take_part_ends_the_agreement_when_it_is_seen() {
    let mut cluster = Cluster::formed();
    // One of three servers takes part.
    let a = cluster.starts("a", &[of(CRONJOBS).decodes("v1 v2").encodes("v2")]);
    cluster.migrates(CRONJOBS);
    assert_eq!(cluster.persisted(CRONJOBS), ["v2"]);
    cluster.observes(CRONJOBS, &["v1", "v2"]);
    let kept = cluster.kept(CRONJOBS);
    assert!(kept.contradicted && kept.agreement().is_none());
    assert_eq!(cluster.persisted(CRONJOBS), ["v1", "v2"]);
    let lines = cluster.state.agreements(&resource(CRONJOBS));
    let last = lines.last().expect("the agreement has ended");
    assert_eq!(
        (last.to.as_ref(), &last.cause),
        (None, &Some(AgreementCause::Observed))
    );
    refused(cluster.send(start(CRONJOBS)), ErrorKind::NoAgreement);
    // No observer looks any more. Evidence against the members stays, and more may have been written since.
    cluster.pass(DAY);
    cluster.renews(&a);
    cluster.expires();
    assert!(cluster.kept(CRONJOBS).contradicted);
    assert_eq!(cluster.persisted(CRONJOBS), ["Unknown", "v1", "v2"]);
    cluster.observes(CRONJOBS, &["v2"]);
    assert!(cluster.kept(CRONJOBS).agreement().is_some());
    cluster.pass(GRACE);
    cluster.renews(&a);
    cluster.migrates(CRONJOBS);
    assert_eq!(cluster.persisted(CRONJOBS), ["v2"]);
}

// Guarantee: V-11
#[test]
fn evidence_that_agrees_with_the_members_goes_when_nobody_looks() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of(CRONJOBS)]);
    cluster.migrates(CRONJOBS);
    cluster.observes(CRONJOBS, &["v1"]);
    let agreed = cluster.kept(CRONJOBS).agreement();
    cluster.pass(DAY);
    cluster.renews(&a);
    cluster.expires();
    let kept = cluster.kept(CRONJOBS);
    assert_eq!((kept.agreement(), kept.observation), (agreed, None));
    assert_eq!(cluster.persisted(CRONJOBS), ["v1"]);
}

// Guarantee: V-11
#[test]
fn a_reset_takes_evidence_against_the_members_away() {
    let mut cluster = Cluster::formed();
    cluster.starts("a", &[of(CRONJOBS)]);
    cluster.observes(CRONJOBS, &["v2"]);
    assert!(cluster.kept(CRONJOBS).contradicted);
    accepted(
        cluster.send(Command::ResetStorageStates(ResetStorageStates {
            resource: Some(resource(CRONJOBS)),
        })),
    );
    let kept = cluster.kept(CRONJOBS);
    assert!(kept.observation.is_none() && kept.agreement().is_some());
    assert_eq!(cluster.persisted(CRONJOBS), ["Unknown", "v1"]);
}

/// After the deadline, claims and completions are refused by themselves: no further observation is needed.
// Guarantee: MG-21
#[test]
fn an_observation_ends_at_its_deadline_for_claims_and_ends_too() {
    let mut cluster = Cluster::formed();
    cluster.observes(CRONJOBS, &["v1"]);
    let work = cluster.claims(CRONJOBS, "one");
    cluster.pass(DAY);
    // The claim is as old; what matters here is that completion is refused for lack of an agreement.
    refused(cluster.send(complete(&work)), ErrorKind::NoAgreement);
    cluster.expires();
    assert_eq!(cluster.kept(CRONJOBS).agreement(), None);
    assert_eq!(persisted(&cluster), ["Unknown"]);
    let aborted = cluster.migration(&work.id);
    assert_eq!(aborted.aborted, Some(AbortCause::StorageUnknown));
    refused(cluster.send(start(CRONJOBS)), ErrorKind::NoAgreement);
    cluster.observes(CRONJOBS, &["v1"]);
    assert_ne!(cluster.open(CRONJOBS).id, work.id);
}

// Guarantee: MG-21
#[test]
fn what_discovery_shows_no_more_drains() {
    let mut cluster = Cluster::formed();
    cluster.observes(CRONJOBS, &["v1"]);
    cluster.migrates(CRONJOBS);
    cluster.observes(CRONJOBS, &["v2"]);
    let id = cluster.open(CRONJOBS).id;
    refused(cluster.send(claim(&id, "one")), ErrorKind::Draining);
    cluster.pass(GRACE);
    cluster.migrates(CRONJOBS);
    assert_eq!(persisted(&cluster), ["v2"]);
}

/// An abort is intended: the next equal observation creates no migration, as an equal report creates none.
#[test]
fn an_equal_look_begins_no_migration_after_one_was_called_off() {
    let mut cluster = Cluster::formed();
    cluster.observes(CRONJOBS, &["v1"]);
    let id = cluster.open(CRONJOBS).id;
    accepted(cluster.send(Command::AbortMigration(AbortMigration { id })));
    cluster.observes(CRONJOBS, &["v1"]);
    assert!(cluster.migrations(CRONJOBS).iter().all(|it| !it.is_open()));
    accepted(cluster.send(start(CRONJOBS)));
    cluster.migrates(CRONJOBS);
}

/// A watcher sees each object change once in a command, and no migration that never could be claimed.
#[test]
fn a_member_and_an_observation_that_end_at_once_change_each_object_once() {
    let mut cluster = Cluster::formed();
    let b = cluster.starts("b", &[of("pods")]);
    cluster.starts("a", &[of(CRONJOBS), of("pods")]);
    cluster.observes(CRONJOBS, &["v1"]);
    cluster.observes("pods", &["v1", "v2"]);
    cluster.pass(DAY);
    cluster.renews(&b);
    let before = cluster.revision();
    cluster.expires();
    let events = cluster.state.history().next_after(before);
    let events = events.expect("it is kept").expect("somebody has gone");
    let pods = ObjectRef::StorageVersion(resource("pods"));
    let pods = |change: &&Change| change.object == pods;
    let is_made =
        |change: &&Change| change.object.kind() == ObjectKind::Migration && change.before.is_none();
    assert_eq!(events.changes.iter().filter(pods).count(), 1);
    assert_eq!(events.changes.iter().filter(is_made).count(), 0);
    assert_eq!(persisted(&cluster), ["Unknown", "v1"]);
}

/// A server that showed it may have stopped just now, with a write on its way.
// Guarantee: MG-21
#[test]
fn what_a_reset_forgets_drains() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of(CRONJOBS)]);
    cluster.observes(CRONJOBS, &["v1", "v2"]);
    accepted(
        cluster.send(Command::ResetStorageStates(ResetStorageStates {
            resource: Some(resource(CRONJOBS)),
        })),
    );
    let id = cluster.open(CRONJOBS).id;
    refused(cluster.send(claim(&id, "one")), ErrorKind::Draining);
    cluster.pass(GRACE);
    cluster.renews(&a);
    accepted(cluster.send(claim(&id, "one")));
}

fn start(name: &str) -> Command {
    Command::StartMigration(StartMigration {
        resource: resource(name),
        reason: MigrationReason::Manual,
        alias: None,
    })
}

#[test]
fn what_a_member_wrote_drains_before_an_observed_migration_begins() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of(CRONJOBS)]);
    cluster.leaves(&a);
    cluster.observes(CRONJOBS, &["v2"]);
    let id = cluster.open(CRONJOBS).id;
    refused(cluster.send(claim(&id, "one")), ErrorKind::Draining);
    cluster.pass(GRACE);
    cluster.migrates(CRONJOBS);
}
