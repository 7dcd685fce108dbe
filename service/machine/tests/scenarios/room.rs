//! Commands that make the state grow in small steps: observations, drains, and repeated rosters.

use std::time::Duration;

use synod_machine::Command;
use synod_model::limits::{ENCODINGS_MAX, OBSERVED_HASHES_MAX};
use synod_model::{
    ErrorKind, ObserveStorage, ResourceScope, SetRoster, SettingsPatch, StorageVersionHash,
};

use crate::cluster::{Cluster, accepted, observe, refused};
use crate::entry::{of, resource};
use crate::rosters::rule;

const GRACE: Duration = Duration::from_secs(70);

fn quota(bytes: u64) -> SettingsPatch {
    SettingsPatch {
        state_quota_bytes: Some(bytes),
        ..SettingsPatch::default()
    }
}

fn look(hashes: impl Iterator<Item = usize>) -> Command {
    let hash = |number: usize| StorageVersionHash::from_bytes((number as u64).to_be_bytes());
    Command::ObserveStorage(ObserveStorage::unnamed(
        resource("pods"),
        hashes.map(hash).collect(),
    ))
}

/// Ended drains mean nothing, and one for each version that ever existed would stay for ever.
#[test]
fn a_drain_that_is_over_goes_when_something_else_changes() {
    let mut cluster = Cluster::formed();
    cluster.observes("pods", &["v1"]);
    cluster.observes("pods", &["v2"]);
    let a = cluster.starts("a", &[of("pods").decodes("v1 v2").encodes("v2")]);
    cluster.leaves(&a);
    let kept = cluster.kept("pods");
    assert_eq!((kept.drains.len(), kept.hash_drains.len()), (1, 2));
    cluster.pass(GRACE - Duration::from_millis(1));
    cluster.observes("pods", &["v2", "v3"]);
    let kept = cluster.kept("pods");
    assert_eq!((kept.drains.len(), kept.hash_drains.len()), (1, 2));
    cluster.pass(Duration::from_millis(1));
    cluster.observes("pods", &["v2"]);
    let kept = cluster.kept("pods");
    assert!(kept.drains.is_empty());
    assert_eq!(kept.hash_drains.len(), 1, "v3 was shown until now");
}

// Guarantee: V-15
#[test]
fn a_look_that_shows_more_needs_room_and_one_that_does_not_needs_none() {
    let mut cluster = Cluster::formed();
    cluster.observes("pods", &["v1", "v2"]);
    cluster.set(quota(0));
    accepted(cluster.send(observe("pods", &["v1"])));
    refused(
        cluster.send(observe("pods", &["v1", "v3"])),
        ErrorKind::Quota,
    );
    cluster.set(quota(u64::MAX));
    accepted(cluster.send(observe("pods", &["v1", "v3"])));
}

// Guarantee: V-15
#[test]
fn a_server_that_shows_another_encoding_each_time_does_not_fill_the_state() {
    let mut cluster = Cluster::formed();
    cluster.observes("pods", &["v1"]);
    let mut shown = 0;
    let kept = loop {
        let outcome = cluster.send(look(shown..shown + OBSERVED_HASHES_MAX));
        shown += OBSERVED_HASHES_MAX;
        let kept = cluster.kept("pods");
        assert!(kept.persisted.len() <= ENCODINGS_MAX);
        if outcome.result.is_err() {
            refused(outcome, ErrorKind::Quota);
            break kept;
        }
    };
    assert!(kept.persisted.len() > ENCODINGS_MAX - OBSERVED_HASHES_MAX);
    // An observation of a known encoding is still accepted.
    accepted(cluster.send(look(0..1)));
}

// Guarantee: V-15
#[test]
fn a_roster_that_grows_needs_room_and_one_that_shrinks_needs_none() {
    let mut cluster = Cluster::formed();
    cluster.sets_roster("*", rule("a b", "", 0));
    cluster.set(quota(0));
    let set = |rule| {
        Command::SetRoster(SetRoster {
            scope: ResourceScope::All,
            rule,
            if_revision: None,
        })
    };
    refused(cluster.send(set(rule("a b c", "", 0))), ErrorKind::Quota);
    accepted(cluster.send(set(rule("a c", "", 0))));
    accepted(cluster.send(set(rule("a", "", 0))));
    refused(
        cluster.send(set(rule("a", "role=api", 0))),
        ErrorKind::Quota,
    );
}
