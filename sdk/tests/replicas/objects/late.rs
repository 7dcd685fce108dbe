//! Writes that are acknowledged so late that their revision is no longer kept: they were made, and no other writer's
//! object is taken for their result.

use synod_client::{
    CollectionRules, Error, ErrorKind, NewObject, Objects, Patch, PatchFormat, Preconditions,
    ReadOptions, Settings, Stored, TtlChange, Updated,
};

use super::{V1, answered_late, create, declare, impatient, named, numbers};
use crate::cluster::{Cluster, version, within};

/// Three replicas that keep only the last revision, a client whose answers come late, and another client.
struct Stage {
    cluster: Cluster,
    late: Objects<u64>,
    others: Objects<u64>,
}

impl Stage {
    /// With the object `a/w`, whose value is 1.
    async fn new() -> Self {
        let settings = Settings {
            history_revisions: 1,
            ..Settings::default()
        };
        let cluster = Cluster::start_with(3, settings).await;
        let client = cluster.client_of(vec![2, 3]).await;
        declare(&client, CollectionRules::default()).await;
        let late = numbers(&impatient(&cluster).await, V1);
        create(&late, "a", "w", 1).await;
        Self {
            cluster,
            late,
            others: numbers(&client, V1),
        }
    }

    /// The object as the other client reads it.
    async fn seen(&self, name: &str) -> Stored<u64> {
        let name = named("a", name);
        let read = self.others.get(&name, ReadOptions::default());
        within(read).await.unwrap()
    }

    /// The other client reads the object and changes it twice.
    async fn overwritten(&self, name: &str) -> Stored<u64> {
        let seen = self.seen(name).await;
        for value in [100, 101] {
            set(&self.others, name, None, value).await.unwrap();
        }
        seen
    }

    /// The other client reads the object and deletes it.
    async fn deleted(&self, name: &str) -> Stored<u64> {
        let seen = self.seen(name).await;
        let name = named("a", name);
        let gone = self.others.delete(&name, seen.preconditions(), None);
        within(gone).await.unwrap();
        create(&self.others, "a", "something-else", 0).await;
        seen
    }
}

async fn set(
    objects: &Objects<u64>,
    name: &str,
    cached: Option<Stored<u64>>,
    value: u64,
) -> Result<Updated<u64>, Error> {
    let name = named("a", name);
    let set = objects.guaranteed_update(&name, cached, |draft| {
        draft.value = value;
        Ok(())
    });
    within(set).await
}

// Guarantee: O-03
#[tokio::test(start_paused = true)]
async fn an_update_that_is_answered_late_has_its_own_object_and_then_overwrites_nobody() {
    let stage = Stage::new().await;
    let mut stored = stage.seen("w").await;
    stored.value = 2;
    let updating = stage.late.update(stored, TtlChange::Keep);
    let (updated, seen) = answered_late(&stage.cluster, updating, stage.overwritten("w")).await;
    let mut updated = updated.unwrap();
    assert_eq!(updated.stored, seen);
    assert!(updated.changed && !updated.deleted);

    updated.stored.value = 3;
    let next = within(stage.late.update(updated.stored, TtlChange::Keep)).await;
    assert_eq!(next.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(stage.seen("w").await.value, 101);
}

// Guarantee: O-03
#[tokio::test(start_paused = true)]
async fn an_update_that_is_answered_when_its_object_has_gone_was_made() {
    let stage = Stage::new().await;
    let cached = stage.seen("w").await;
    let updating = set(&stage.late, "w", Some(cached), 2);
    let (updated, seen) = answered_late(&stage.cluster, updating, stage.deleted("w")).await;
    let updated = updated.unwrap();
    assert_eq!(updated.stored, seen);
    assert!(updated.changed && !updated.deleted);
}

#[tokio::test(start_paused = true)]
async fn a_creation_that_is_answered_late_has_its_own_object() {
    let stage = Stage::new().await;
    let creating = stage.late.create(NewObject::new(named("a", "x"), 7));
    let (created, seen) = answered_late(&stage.cluster, creating, stage.overwritten("x")).await;
    assert_eq!(created.unwrap(), seen);
}

// Guarantee: O-03
#[tokio::test(start_paused = true)]
async fn a_creation_that_is_answered_when_its_object_has_gone_was_made() {
    let stage = Stage::new().await;
    let creating = stage.late.create(NewObject::new(named("a", "x"), 7));
    let (created, mut seen) = answered_late(&stage.cluster, creating, stage.deleted("x")).await;
    // The time of creation is not known any more.
    seen.object.metadata.created = Default::default();
    assert_eq!(created.unwrap(), seen);
}

// Guarantee: O-03
#[tokio::test(start_paused = true)]
async fn a_patch_that_is_answered_late_was_made_and_names_no_other_object() {
    for goes in [false, true] {
        let stage = Stage::new().await;
        let patch = Patch {
            encoding: version(V1),
            format: PatchFormat::Merge,
            document: br#"{"n":7}"#.to_vec().into(),
        };
        let name = named("a", "w");
        let patching = stage.late.patch(&name, patch, Preconditions::default());
        let meanwhile = async {
            if goes {
                stage.deleted("w").await
            } else {
                stage.overwritten("w").await
            }
        };
        let (patched, seen) = answered_late(&stage.cluster, patching, meanwhile).await;
        let patched = patched.unwrap();
        assert_eq!(
            (seen.value, patched.changed, patched.stored),
            (7, true, None)
        );
        assert_eq!(patched.uid, seen.object.metadata.uid);
        let version = seen.object.metadata.resource_version;
        assert_eq!(patched.resource_version, version);
    }
}
