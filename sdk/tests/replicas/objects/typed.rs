use std::cell::Cell;

use synod_client::{
    Attributes, ClusterId, CollectionRules, Compare, CreateObject, Current, DeleteObject,
    EncodingVersion, Error, ErrorKind, Fences, Finalizers, InstanceId, Join, Labels, LeaseKey,
    LeaseToken, LockOptions, MemberEpoch, MetadataPatch, NewObject, ObjectPatch, Operation, Patch,
    PatchFormat, Preconditions, ReadOptions, ReadResult, Transact, Ttl, TtlChange, UpdateObject,
    UpdateStep,
};

use super::{Numbers, V1, create, declare, key, named, numbers};
use crate::cluster::{Cluster, id, legal, version, within};

// Guarantee: O-01
#[tokio::test(start_paused = true)]
async fn an_object_is_created_read_changed_and_deleted() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    let new = NewObject::new(named("a", "w"), 1);
    let created = within(objects.create(new.clone())).await.unwrap();
    assert_eq!(created.value, 1);
    assert_eq!(created.object.metadata.generation, 1);
    let again = within(objects.create(new)).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::AlreadyExists);

    // The client's own write is read on another replica.
    let other = cluster.client_of(vec![3]).await;
    let elsewhere = numbers(&other, V1);
    let name = named("a", "w");
    let read = within(elsewhere.get(&name, ReadOptions::default()));
    let mut read = read.await.unwrap();
    assert_eq!(read, created);

    read.value = 2;
    let updated = within(objects.update(read.clone(), TtlChange::Keep))
        .await
        .unwrap();
    assert!(updated.changed && !updated.deleted);
    let lost = within(objects.update(read, TtlChange::Keep))
        .await
        .unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::Conflict);
    assert_eq!(objects.current(&lost), Some(updated.stored.clone()));
    // An update that changes nothing is not written.
    let same = within(objects.update(updated.stored.clone(), TtlChange::Keep)).await;
    let same = same.unwrap();
    assert!(!same.changed);
    assert_eq!(same.stored, updated.stored);

    assert!(
        within(objects.delete(&named("a", "w"), same.stored.preconditions(), None))
            .await
            .unwrap()
            .result
            .deleted
    );
    let gone = within(objects.get(&named("a", "w"), ReadOptions::default())).await;
    assert_eq!(gone.unwrap_err().kind(), ErrorKind::NotFound);
}

// Guarantee: O-13
#[tokio::test(start_paused = true)]
async fn a_dry_run_checks_everything_and_changes_nothing() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let before = within(client.status()).await.unwrap().header.revision;
    let raw = client.raw_objects().dry_run();
    let content =
        synod_client::Codec::encode(&Numbers(version(V1)), &key("a", "w"), &1, &version(V1));
    let create = CreateObject {
        key: key("a", "w"),
        attributes: Attributes::default(),
        content: content.unwrap(),
        ttl: None,
        fences: Fences::default(),
    };
    let would = within(raw.create(create.clone())).await.unwrap();
    assert!(would.result.created);
    assert_eq!(would.object.unwrap().content, create.content);
    let status = within(client.status()).await.unwrap();
    assert_eq!(status.header.revision, before);
    let absent = UpdateObject {
        key: key("a", "w"),
        attributes: Attributes::default(),
        content: create.content,
        ttl: TtlChange::Keep,
        preconditions: Preconditions::default(),
        fences: Fences::default(),
    };
    let refused = within(raw.update(absent)).await.unwrap_err();
    assert!(
        [ErrorKind::NotFound, ErrorKind::InvalidArgument].contains(&refused.kind()),
        "{refused}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_object_is_left_out_of_answers_and_is_there_where_it_is_needed() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = client.raw_objects().without_objects();
    let content = |value| {
        let codec = Numbers(version(V1));
        synod_client::Codec::encode(&codec, &key("a", "w"), &value, &version(V1)).unwrap()
    };
    let create = CreateObject {
        key: key("a", "w"),
        attributes: Attributes::default(),
        content: content(1),
        ttl: None,
        fences: Fences::default(),
    };
    let created = within(objects.create(create)).await.unwrap();
    assert!(created.result.created && created.object.is_none());

    // Who changes an object step by step is given it.
    let encoded = EncodingVersion::new(version(V1));
    let mut updater = objects.updater(key("a", "w"), None, &encoded);
    within(updater.begin()).await.unwrap();
    let written = updater.write(Attributes::default(), content(2), false);
    let UpdateStep::Done(updated) = within(written).await.unwrap() else {
        panic!("nobody else writes")
    };
    let name = key("a", "w");
    let read = objects.get(&name, ReadOptions::default());
    let stored = within(read).await.unwrap().object;
    assert_eq!(stored.content, content(2));
    assert_eq!(updated.stored.object, stored);
}

// Guarantee: O-01
#[tokio::test(start_paused = true)]
async fn a_guaranteed_update_begins_with_a_cache_and_goes_on_from_what_stands() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    create(&objects, "a", "w", 1).await;
    let name = named("a", "w");
    let stale = within(objects.get(&name, ReadOptions::default()))
        .await
        .unwrap();
    let mut newer = stale.clone();
    newer.value = 10;
    within(objects.update(newer, TtlChange::Keep))
        .await
        .unwrap();

    // The cache is behind: the write conflicts, and the refusal contains the present object.
    let seen = Cell::new(Vec::new());
    let updated = objects.guaranteed_update(&name, Some(stale.clone()), |draft| {
        let mut values = seen.take();
        values.push(draft.value);
        seen.set(values);
        draft.value += 1;
        Ok::<_, Error>(())
    });
    assert_eq!(within(updated).await.unwrap().stored.value, 11);
    assert_eq!(seen.take(), [1, 10]);

    // A change that fails on the cached object is applied to the present one.
    let only_new = objects.guaranteed_update(&name, Some(stale.clone()), |draft| {
        if draft.value < 11 {
            return Err(Refused::ByTheProgram);
        }
        draft.value += 1;
        Ok(())
    });
    assert_eq!(within(only_new).await.unwrap().stored.value, 12);
    let never = objects.guaranteed_update(&name, None, |_| Err(Refused::ByTheProgram));
    assert_eq!(within(never).await.unwrap_err(), Refused::ByTheProgram);
}

#[derive(Debug, PartialEq, Eq)]
enum Refused {
    ByTheProgram,
    ByTheCluster(ErrorKind),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::ByTheCluster(error.kind())
    }
}

#[tokio::test(start_paused = true)]
async fn a_guaranteed_update_believes_no_cache_that_nothing_is_to_be_done() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    create(&objects, "a", "w", 5).await;
    let name = named("a", "w");
    let stale = within(objects.get(&name, ReadOptions::default()))
        .await
        .unwrap();
    let mut newer = stale.clone();
    newer.value = 6;
    within(objects.update(newer, TtlChange::Keep))
        .await
        .unwrap();
    let set = |value| {
        move |draft: &mut synod_client::Draft<u64>| {
            draft.value = value;
            Ok::<_, Error>(())
        }
    };
    let back = objects.guaranteed_update(&name, Some(stale), set(5));
    let back = within(back).await.unwrap();
    assert!(back.changed);
    let again = within(objects.guaranteed_update(&name, None, set(5))).await;
    let again = again.unwrap();
    assert!(!again.changed);
    assert_eq!(again.stored, back.stored);
    let name = named("a", "x");
    let absent = objects.guaranteed_update(&name, None, |_| Err(Refused::ByTheProgram));
    assert_eq!(
        within(absent).await.unwrap_err(),
        Refused::ByTheCluster(ErrorKind::NotFound)
    );
}

#[tokio::test(start_paused = true)]
async fn finalizers_keep_an_object_until_the_last_one_is_taken() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    let new = NewObject {
        attributes: Attributes {
            labels: legal(Labels::parse([("app", "web")])),
            finalizers: legal(Finalizers::parse(["example.io/clean"])),
            ..Attributes::default()
        },
        ..NewObject::new(named("a", "w"), 1)
    };
    within(objects.create(new)).await.unwrap();
    let deleted = within(objects.delete(&named("a", "w"), Preconditions::default(), None))
        .await
        .unwrap();
    assert!(deleted.result.changed && !deleted.result.deleted);
    let name = named("a", "w");
    let waiting = within(objects.get(&name, ReadOptions::default()));
    let mut waiting = waiting.await.unwrap();
    assert!(waiting.object.deletion.is_some());
    waiting.object.attributes.finalizers = Finalizers::default();
    let updated = within(objects.update(waiting, TtlChange::Keep))
        .await
        .unwrap();
    assert!(updated.deleted);
    assert_eq!(updated.stored.value, 1);
}

#[tokio::test(start_paused = true)]
async fn a_patch_changes_what_is_stored_and_names_the_version_it_was_made_for() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    create(&objects, "a", "w", 1).await;
    let patch = |encoding: &str, document: &'static str| Patch {
        encoding: version(encoding),
        format: PatchFormat::Merge,
        document: document.as_bytes().into(),
    };
    let name = named("a", "w");
    let any = Preconditions::default();
    let patched = objects.patch(&name, patch(V1, r#"{"n":7}"#), any);
    let patched = within(patched).await.unwrap();
    let stored = patched.stored.unwrap();
    assert_eq!((stored.value, patched.changed), (7, true));
    let metadata = &stored.object.metadata;
    assert_eq!(patched.uid, metadata.uid);
    assert_eq!(patched.resource_version, metadata.resource_version);
    let other = objects.patch(&name, patch("example.io/v2", r#"{"n":8}"#), any);
    let other = within(other).await.unwrap_err();
    assert_eq!(other.kind(), ErrorKind::Conflict);
    assert_eq!(objects.current(&other).map(|stored| stored.value), Some(7));
    let broken = objects.patch(&name, patch(V1, "[]"), any);
    let broken = within(broken).await.unwrap_err();
    assert_eq!(broken.kind(), ErrorKind::InvalidArgument);
    let labels = MetadataPatch {
        format: PatchFormat::Merge,
        document: br#"{"labels":{"app":"web"}}"#.to_vec().into(),
    };
    let labelled = objects.patch(&name, labels, any);
    let labelled = within(labelled).await.unwrap();
    assert!(labelled.changed && !labelled.deleted);
    let stored = labelled.stored.unwrap();
    assert_eq!(stored.object.attributes.labels.get("app"), Some("web"));
    assert_eq!(stored.value, 7);
    let forever = ObjectPatch {
        ttl: TtlChange::Remove,
        ..ObjectPatch::default()
    };
    let forever = within(objects.patch(&name, forever, any)).await.unwrap();
    assert!(!forever.changed, "it had no TTL");
    let nothing = objects.patch(&name, ObjectPatch::default(), any);
    let nothing = within(nothing).await.unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::InvalidArgument);
    // The codec cannot decode the result: the patch was made nevertheless.
    let strange = objects.patch(&name, patch(V1, r#"{"n":"many"}"#), any);
    let strange = within(strange).await.unwrap();
    assert_eq!((strange.changed, strange.stored), (true, None));
    let read = within(objects.get(&name, ReadOptions::default())).await;
    assert_eq!(read.unwrap_err().kind(), ErrorKind::NotDecodable);
}

// Guarantee: O-12
#[tokio::test(start_paused = true)]
async fn a_transaction_writes_all_or_reads() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    create(&objects, "a", "one", 1).await;
    let name = named("a", "one");
    let one = within(objects.get(&name, ReadOptions::default()));
    let one = one.await.unwrap();
    let transact = || Transact {
        compares: vec![
            Compare::ResourceVersion(key("a", "one"), one.object.metadata.resource_version),
            Compare::Absent(key("a", "two")),
        ],
        operations: vec![
            Operation::Delete(DeleteObject {
                key: key("a", "one"),
                propagation: None,
                preconditions: Preconditions::default(),
                fences: Fences::default(),
            }),
            Operation::Create(CreateObject {
                key: key("a", "two"),
                attributes: Attributes::default(),
                content: one.object.content.clone(),
                ttl: None,
                fences: Fences::default(),
            }),
        ],
        reads: vec![key("a", "one"), key("a", "two")],
        fences: Fences::default(),
    };
    let raw = client.raw_objects();
    let done = within(raw.transact(transact())).await.unwrap();
    assert!(done.succeeded && done.changed);
    assert!(done.results[0].deleted && done.results[1].created);
    assert_eq!(done.results[1].resource_version, done.header.revision);
    let lost = within(raw.transact(transact())).await.unwrap();
    assert!(!lost.succeeded && !lost.changed);
    assert_eq!(lost.reads[0], ReadResult::Absent);
    let ReadResult::Found(two) = &lost.reads[1] else {
        panic!("it is there: {:?}", lost.reads[1])
    };
    assert_eq!(two.key, key("a", "two"));
}

// Guarantee: O-14
#[tokio::test(start_paused = true)]
async fn a_member_that_was_replaced_writes_no_more() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let join = |instance: &str| Join {
        id: id("server"),
        instance: legal(InstanceId::parse(instance)),
        ttl: Ttl::MAX,
        labels: Labels::default(),
        version: Default::default(),
        endpoint: Default::default(),
        lost_epoch: None,
        gated: true,
    };
    let first = within(client.send_join(join("one"))).await.unwrap();
    let fenced = numbers(&client, V1).fenced_by(MemberEpoch {
        member: id("server"),
        epoch: first.epoch,
        cluster: Some(first.header.cluster),
    });
    create(&fenced, "a", "w", 1).await;
    within(client.send_join(join("two"))).await.unwrap();
    let late = within(fenced.create(NewObject::new(named("a", "x"), 1))).await;
    assert_eq!(late.unwrap_err().kind(), ErrorKind::StaleEpoch);
}

#[tokio::test(start_paused = true)]
async fn a_write_under_a_lock_is_refused_once_another_holds_it() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let key = legal(LeaseKey::new("a", "lock"));
    let lock = within(client.try_lock(LockOptions::new(key.clone()))).await;
    let first = lock.unwrap();
    let mine = numbers(&client, V1).under_lease(first.proof());
    create(&mine, "a", "w", 1).await;
    let copy = LeaseToken {
        cluster: Some(ClusterId::from_bytes([7; 16])),
        ..first.proof()
    };
    let foreign = numbers(&client, V1).under_lease(copy);
    let foreign = within(foreign.create(NewObject::new(named("a", "x"), 1))).await;
    assert_eq!(foreign.unwrap_err().kind(), ErrorKind::StaleEpoch);
    within(first.release()).await.unwrap();
    let second = within(client.try_lock(LockOptions::new(key))).await;
    let late = within(mine.create(NewObject::new(named("a", "x"), 1))).await;
    let late = late.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::StaleEpoch);
    assert!(matches!(late.current(), Some(Current::Lease(_))), "{late}");
    let theirs = numbers(&client, V1).under_lease(second.unwrap().proof());
    create(&theirs, "a", "x", 1).await;
}
