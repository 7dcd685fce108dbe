//! Migrations of collections: objects are counted by encoding, so a worker's word is not needed.

use synod_machine::Command;
use synod_model::{Attributes, ErrorKind, MigrationPhase, ResetStorageStates};

use crate::cluster::{Cluster, accepted, claim, complete, refused};
use crate::entry::{of, resource};
use crate::shelf::{WIDGETS, content, widget};

/// Two objects in v1, and an agreement on v2.
fn upgraded() -> Cluster {
    let mut cluster = Cluster::with_widgets();
    cluster.stores(&widget("a/one"), Attributes::default());
    cluster.stores(&widget("a/two"), Attributes::default());
    cluster.starts("a", &[of(WIDGETS).decodes("v1 v2").encodes("v2")]);
    cluster
}

fn rewrites(cluster: &mut Cluster, name: &str, version: &str) {
    cluster.updates(&widget(name), Attributes::default(), content(version, "{}"));
}

// Guarantee: MG-09
#[test]
fn a_migration_ends_only_when_nothing_else_is_counted() {
    let mut cluster = upgraded();
    assert_eq!(cluster.persisted(WIDGETS), ["v1", "v2"]);
    let work = cluster.claims(WIDGETS, "one");
    let refusal = refused(cluster.send(complete(&work)), ErrorKind::Conflict);
    assert_eq!(refusal.metadata["encoding"], "v1");
    assert_eq!(refusal.metadata["count"], "2");
    rewrites(&mut cluster, "a/one", "v2");
    refused(cluster.send(complete(&work)), ErrorKind::Conflict);
    // It is deleted while the others are rewritten: only existing objects count.
    cluster.deletes(&widget("a/two"), None);
    accepted(cluster.send(complete(&work)));
    assert_eq!(cluster.persisted(WIDGETS), ["v2"]);
    assert_eq!(cluster.migration(&work.id).phase, MigrationPhase::Succeeded);
}

// Guarantee: MG-09
#[test]
fn a_write_behind_the_worker_is_counted_before_the_end_and_migrated_anew_after_it() {
    let mut cluster = upgraded();
    let work = cluster.claims(WIDGETS, "one");
    rewrites(&mut cluster, "a/one", "v2");
    rewrites(&mut cluster, "a/two", "v2");
    rewrites(&mut cluster, "a/one", "v1");
    refused(cluster.send(complete(&work)), ErrorKind::Conflict);
    rewrites(&mut cluster, "a/one", "v2");
    accepted(cluster.send(complete(&work)));
    assert_eq!(cluster.persisted(WIDGETS), ["v2"]);
    // Every member decodes v1, so writing it is allowed; but it is migrated again.
    rewrites(&mut cluster, "a/two", "v1");
    assert_eq!(cluster.persisted(WIDGETS), ["v1", "v2"]);
    assert_eq!(cluster.open(WIDGETS).id.number(), cluster.revision());
}

#[test]
fn a_collection_needs_no_drain() {
    let mut cluster = Cluster::with_widgets();
    cluster.stores(&widget("a/one"), Attributes::default());
    let old = cluster.starts("old", &[of(WIDGETS).decodes("v1 v2").encodes("v1")]);
    cluster.starts("new", &[of(WIDGETS).decodes("v1 v2").encodes("v2")]);
    cluster.leaves(&old);
    assert!(!cluster.drains(WIDGETS).is_empty(), "it left undrained");
    let id = cluster.open(WIDGETS).id;
    accepted(cluster.send(claim(&id, "one")));
}

#[test]
fn a_reset_forgets_nothing_that_is_counted() {
    let mut cluster = Cluster::with_widgets();
    cluster.stores(&widget("a/one"), Attributes::default());
    let a = cluster.starts("a", &[of(WIDGETS).decodes("v1 v2").encodes("v2")]);
    cluster.leaves(&a);
    accepted(
        cluster.send(Command::ResetStorageStates(ResetStorageStates {
            resource: Some(resource(WIDGETS)),
        })),
    );
    assert_eq!(cluster.persisted(WIDGETS), ["Unknown", "v1"]);
}
