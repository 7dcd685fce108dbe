//! `ForgetResource`: removing the storage state of a resource that no member reports.

use std::time::Duration;

use synod_machine::{Change, StorageStateRow};
use synod_model::{ErrorKind, ObjectKind};

use crate::cluster::{Cluster, accepted, forget, refused};
use crate::entry::{of, resource};

const GRACE: Duration = Duration::from_secs(70);

fn widgets(version: &'static str) -> crate::entry::Says {
    of("example.com.widgets").decodes("v1 v2").prefers(version)
}

// Guarantee: V-14
#[test]
fn a_forgotten_resource_begins_anew_and_is_gone_from_every_row() {
    let mut cluster = Cluster::formed();
    let untouched = cluster.state.bytes();
    let a = cluster.starts("a", &[widgets("v2")]);
    cluster.leaves_drained(&a);
    assert_eq!(cluster.persisted("example.com.widgets").len(), 2);
    let reported = cluster.revision();
    accepted(cluster.send(forget("example.com.widgets")));

    let present = cluster.state.present();
    let name = resource("example.com.widgets");
    assert!(present.storage_state(&name).is_none());
    assert_eq!(cluster.state.agreements(&name).count(), 0);
    // Only the history has grown.
    assert!(cluster.state.bytes() < untouched + 4_096);
    let past = cluster.state.at(reported).unwrap();
    assert!(past.storage_state(&name).is_some());
    let events = cluster.state.history().next_after(reported).unwrap();
    let [migrations @ .., state] = &events.unwrap().changes[..] else {
        panic!("the state goes at last");
    };
    let state = state.of::<StorageStateRow>().expect("it goes, too");
    assert!(state.before.is_some() && state.after.is_none());
    let goes =
        |change: &Change| change.object.kind() == ObjectKind::Migration && change.after.is_none();
    assert!(!migrations.is_empty() && migrations.iter().all(goes));
    cluster.restart_from_checkpoint();

    let before = cluster.revision();
    cluster.starts("b", &[widgets("v1")]);
    let kept = cluster.kept("example.com.widgets");
    assert!(kept.selected_revision > before);
    assert_eq!(
        cluster.selected("example.com.widgets").as_deref(),
        Some("v1")
    );
    let unknown = synod_model::Persisted::Unknown;
    assert!(
        kept.persisted.contains(&unknown),
        "nobody knows what is stored"
    );
}

// Guarantee: V-14
#[test]
fn a_resource_is_not_forgotten_while_it_is_reported_or_written() {
    let mut cluster = Cluster::formed();
    let forgets = || forget("example.com.widgets");
    refused(cluster.send(forgets()), ErrorKind::NotFound);
    let a = cluster.starts("a", &[widgets("v1")]);
    refused(cluster.send(forgets()), ErrorKind::Conflict);
    cluster.leaves(&a);
    let refusal = refused(cluster.send(forgets()), ErrorKind::Draining);
    assert!(
        refusal.message.contains("v1 may land for 70000 ms"),
        "{refusal}"
    );
    cluster.pass(GRACE - Duration::from_millis(1));
    refused(cluster.send(forgets()), ErrorKind::Draining);
    cluster.pass(Duration::from_millis(1));
    accepted(cluster.send(forgets()));
    refused(cluster.send(forgets()), ErrorKind::NotFound);
}

/// What discovery shows now is evidence: a reset would let it drain, so forgetting must not skip that.
// Guarantee: V-14
#[test]
fn a_resource_that_discovery_shows_is_not_forgotten_before_what_it_shows_has_drained() {
    let mut cluster = Cluster::formed();
    let forgets = || forget("example.com.widgets");
    cluster.observes("example.com.widgets", &["v1", "v2"]);
    let refusal = refused(cluster.send(forgets()), ErrorKind::Conflict);
    assert!(refusal.message.contains("end its observer"), "{refusal}");
    // The observation is past its deadline, and the leader has not ended it yet.
    cluster.pass(Duration::from_secs(1_201));
    refused(cluster.send(forgets()), ErrorKind::Conflict);
    cluster.expires();
    refused(cluster.send(forgets()), ErrorKind::Draining);
    cluster.pass(GRACE);
    accepted(cluster.send(forgets()));
}
