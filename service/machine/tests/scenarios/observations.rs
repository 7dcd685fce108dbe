//! Discovery mode: what servers show that do not report.

use std::time::Duration;

use synod_model::{AbortCause, ErrorKind, MigrationPhase, Persisted, SettingsPatch};

use crate::cluster::{Cluster, accepted, claim, complete, hash, observe, progress, refused};
use crate::entry::of;

const CRONJOBS: &str = "batch.cronjobs";
const DAY: Duration = Duration::from_secs(24 * 3_600);
const PERIOD: Duration = Duration::from_secs(600);

/// The persisted encodings by the names that the stories have for their hashes.
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

/// A day of polls: one each period.
fn a_day_of(cluster: &mut Cluster, version: &str) {
    for _ in 0..DAY.as_secs() / PERIOD.as_secs() {
        cluster.pass(PERIOD);
        cluster.observes(CRONJOBS, &[version]);
    }
}

/// The life of the StorageState of CronJob as the storage version hash's design tells it.
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
    // It begins from its own start, not from the other's.
    let work = cluster.claims(CRONJOBS, "one");
    assert_eq!(work.progress.continue_token, None);
    accepted(cluster.send(complete(&work)));
    assert_eq!(persisted(&cluster), ["v2alpha1"]);

    // Day four: nothing happens, and nothing is done.
    a_day_of(&mut cluster, "v2alpha1");
    assert_eq!(cluster.migrations(CRONJOBS).len(), 3);
}

#[test]
fn an_observer_that_was_away_too_long_knows_nothing() {
    let mut cluster = Cluster::formed();
    cluster.observes(CRONJOBS, &["v1"]);
    cluster.migrates(CRONJOBS);
    cluster.pass(PERIOD * 2 + Duration::from_millis(1));
    cluster.observes(CRONJOBS, &["v1"]);
    assert_eq!(persisted(&cluster), ["Unknown", "v1"]);
    let work = cluster.claims(CRONJOBS, "one");
    // Again, while one is under way: what it has rewritten may be another version by now.
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
    assert!(cluster.kept(CRONJOBS).observed.is_empty());
    assert_eq!(
        cluster.kept(CRONJOBS).agreement_revision,
        cluster.revision()
    );
    refused(
        cluster.send(observe(CRONJOBS, &["v1"])),
        ErrorKind::Conflict,
    );
    // When it has gone, nobody knows what was written before the first look.
    cluster.leaves_drained(&a);
    cluster.observes(CRONJOBS, &["v1"]);
    assert_eq!(cluster.persisted(CRONJOBS), ["Unknown", "v1"]);
    assert_eq!(cluster.open(CRONJOBS).phase, MigrationPhase::Pending);
}

#[test]
fn what_a_member_wrote_drains_before_an_observed_migration_begins() {
    let mut cluster = Cluster::formed();
    let a = cluster.starts("a", &[of(CRONJOBS)]);
    cluster.leaves(&a);
    cluster.observes(CRONJOBS, &["v2"]);
    let id = cluster.open(CRONJOBS).id;
    refused(cluster.send(claim(&id, "one")), ErrorKind::Draining);
    cluster.pass(Duration::from_secs(70));
    cluster.migrates(CRONJOBS);
}
