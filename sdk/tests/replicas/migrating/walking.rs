//! The walk of a migration: by key, whatever is written meanwhile and however little history is kept.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::FutureExt as _;
use synod_client::{
    ApiVersion, Attributes, Client, Codec, CodecError, CollectionStore, Content, ContinueToken,
    ErrorKind, FailureClass, Fences, Labels, ListObjects, MediaType, Migration, MigrationId,
    MigrationReason, Migrator, NewObject, ObjectKey, Objects, Preconditions, Settings, Store,
    StoreError, StorePage, StoredObject, TtlChange, UpdateObject, Worked,
};

use super::{ITEMS, LOOSE, encodes, newest, options};
use crate::cluster::{Cluster, legal, pass, resource, version, within};
use crate::objects::{V1, V2, WIDGETS, declare, named};

/// How many objects there are, and how many revisions the history keeps.
const OBJECTS: u64 = 400;
const KEPT: u64 = 100;

/// Numbers in a stand-in for encryption: no two encodings are the same bytes.
#[derive(Clone, Debug)]
struct Sealed {
    key: &'static str,
    preferred: &'static str,
    encoded: Arc<AtomicU64>,
}

impl Sealed {
    fn with(key: &'static str) -> Self {
        Self {
            key,
            preferred: V1,
            encoded: Arc::new(AtomicU64::new(0)),
        }
    }
}

impl Codec<u64> for Sealed {
    fn preferred(&self) -> ApiVersion {
        version(self.preferred)
    }

    fn encode(
        &self,
        _: &ObjectKey,
        value: &u64,
        encoding: &ApiVersion,
    ) -> Result<Content, CodecError> {
        let nonce = self.encoded.fetch_add(1, Ordering::Relaxed);
        // A walk that does not end fails here instead of blocking the tests for ever.
        if nonce > 4 * OBJECTS {
            return Err("it is encoded again and again".into());
        }
        let text = format!(
            r#"{{"key":"{}","nonce":{nonce},"number":{value}}}"#,
            self.key
        );
        Ok(Content {
            encoding: encoding.clone(),
            media_type: MediaType::JSON,
            data: text.into_bytes().into(),
        })
    }

    fn decode(&self, _: &ObjectKey, content: &Content) -> Result<u64, CodecError> {
        let text = std::str::from_utf8(&content.data)?;
        let number = text.trim_end_matches('}').rsplit(':').next();
        Ok(number.ok_or("it is no number")?.parse()?)
    }
}

/// A cluster of this many replicas that keeps little history, and a larger collection under the old key.
async fn filled(replicas: u64) -> (Cluster, Client) {
    let settings = Settings {
        history_revisions: KEPT,
        ..Settings::default()
    };
    let cluster = Cluster::start_with(replicas, settings).await;
    let client = cluster.client().await;
    declare(&client, LOOSE).await;
    let objects = sealed(&client, "old");
    for number in 0..OBJECTS {
        store(&objects, &name(number), number).await;
    }
    (cluster, client)
}

fn sealed(client: &Client, key: &'static str) -> Objects<u64> {
    client.objects(resource(WIDGETS), Sealed::with(key))
}

fn name(number: u64) -> String {
    format!("w-{number:03}")
}

async fn store(objects: &Objects<u64>, name: &str, number: u64) {
    let new = NewObject::new(named("a", name), number);
    within(objects.create(new)).await.unwrap();
}

async fn rewrite_all(client: &Client) -> MigrationId {
    let widgets = resource(WIDGETS);
    // The agreement has started a migration of its own, which has nothing to do and comes first.
    let first = newest(client, WIDGETS).await.id;
    let store = CollectionStore::new(client.clone(), Sealed::with("old"));
    let worker = Migrator::new(client.clone(), store, options("first"));
    let worked = within(worker.run_one(&first)).await.unwrap();
    assert!(
        matches!(worked, Some(Worked::Completed { .. })),
        "it is completed"
    );
    let started = client.start_migration(&widgets, MigrationReason::RewriteAll);
    within(started).await.unwrap().id
}

/// All objects at the end of a test.
async fn stored(client: &Client) -> Vec<StoredObject> {
    let list = ListObjects::new(resource(WIDGETS));
    let page = within(client.raw_objects().list(&list).all())
        .await
        .unwrap();
    page.items.into_iter().map(|item| item.object).collect()
}

fn check_sealed_anew(objects: &[StoredObject]) {
    for object in objects {
        let text = String::from_utf8_lossy(&object.content.data);
        assert!(text.contains(r#""key":"new""#), "{}: {text}", object.key);
    }
}

/// How often the content of an object was written since it was created.
fn times_written(object: &StoredObject) -> u64 {
    object.metadata.generation - 1
}

/// Changes an object's labels and leaves its content as it is. Returns false if another writer was faster.
async fn relabel(client: &Client, object: StoredObject, label: &str) -> bool {
    let update = UpdateObject {
        key: object.key,
        attributes: Attributes {
            labels: legal(Labels::parse([("turn", label)])),
            ..object.attributes
        },
        content: object.content,
        ttl: TtlChange::Keep,
        preconditions: Preconditions {
            uid: None,
            resource_version: Some(object.metadata.resource_version),
        },
        fences: Fences::default(),
    };
    match within(client.raw_objects().update(update)).await {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
            false
        }
    }
}

/// Writes for ever: new objects, new numbers and new labels, each under the new key, and counts its writes.
async fn write_on(client: &Client, written: &AtomicU64) {
    let objects = sealed(client, "new");
    for turn in 0.. {
        // Both ahead of the worker and behind it.
        let at = named("a", &name(turn * 37 % OBJECTS));
        let mut stored = within(objects.get(&at, Default::default())).await.unwrap();
        let has_written = match turn % 3 {
            0 => {
                store(&objects, &format!("{}-new-{turn}", at.name()), turn).await;
                true
            }
            1 => {
                stored.value = turn;
                within(objects.update(stored, TtlChange::Keep))
                    .await
                    .is_ok()
            }
            _ => relabel(client, stored.object, &turn.to_string()).await,
        };
        written.fetch_add(u64::from(has_written), Ordering::Relaxed);
    }
}

// Guarantee: MG-22
#[tokio::test(start_paused = true)]
async fn more_objects_than_the_history_holds_are_rewritten_once_each_whoever_writes_beside() {
    let (_cluster, client) = filled(1).await;
    let _membership = encodes(&client, WIDGETS, V1).await;
    let id = rewrite_all(&client).await;
    let codec = Sealed::with("new");
    let store = CollectionStore::new(client.clone(), codec.clone()).page_size(20);
    let worker = Migrator::new(client.clone(), store, options("one"));
    let written = AtomicU64::new(0);
    let worked = tokio::select! {
        biased;
        worked = Box::pin(worker.run_one(&id)) => worked.unwrap(),
        () = Box::pin(write_on(&client, &written)) => unreachable!("it writes for ever"),
    };
    assert!(
        matches!(worked, Some(Worked::Completed { .. })),
        "it is completed"
    );
    let objects = stored(&client).await;
    check_sealed_anew(&objects);
    let written = written.load(Ordering::Relaxed);
    assert!(written > KEPT, "{written} were written beside");
    let rewritten = codec.encoded.load(Ordering::Relaxed);
    assert!(
        rewritten <= OBJECTS + written,
        "{rewritten} rewrites of {OBJECTS} objects, beside {written} writes"
    );
    let all: u64 = objects.iter().map(times_written).sum();
    assert!(all <= OBJECTS + written, "{all} writes of contents in all");
}

// Guarantee: MG-22
#[tokio::test(start_paused = true)]
async fn another_worker_goes_on_from_the_token_after_compaction_and_a_restart_of_all_replicas() {
    let (mut cluster, client) = filled(3).await;
    let _membership = encodes(&client, WIDGETS, V1).await;
    let id = rewrite_all(&client).await;
    let codec = Sealed::with("new");
    let worker = || {
        let store = CollectionStore::new(client.clone(), codec.clone()).page_size(20);
        Migrator::new(client.clone(), store, options("worker"))
    };
    let first = worker();
    // The worker dies in the middle of a page.
    let working = tokio::spawn({
        let id = id.clone();
        async move { first.run_one(&id).await }
    });
    while codec.encoded.load(Ordering::Relaxed) < OBJECTS / 2 - 5 {
        assert!(!working.is_finished());
        pass(std::time::Duration::from_millis(1)).await;
    }
    working.abort();
    let others = sealed(&client, "new");
    for number in 0..2 * KEPT {
        store(&others, &format!("behind-{number}"), number).await;
    }
    let saved = within(client.migration(&id, Default::default())).await;
    let saved = saved.unwrap().progress.unwrap().continue_token.unwrap();
    let list = ListObjects::new(resource(WIDGETS)).with_page_size(20);
    let mut pinned = client.raw_objects().list(&list).resumed(saved.as_str());
    let gone = within(pinned.next()).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Compacted, "{gone}");
    for number in 1..=3 {
        cluster.kill(number);
    }
    for number in 1..=3 {
        cluster.start_replica(number).await;
    }
    for number in 1..=3 {
        cluster.serving(number).await;
    }
    let second = worker();
    let worked = within(async {
        loop {
            // The claim of the dead worker has to end first.
            match second.run_one(&id).await.unwrap() {
                None => pass(std::time::Duration::from_secs(1)).await,
                Some(worked) => return worked,
            }
        }
    });
    assert!(
        matches!(worked.await, Worked::Completed { .. }),
        "it is completed"
    );
    let objects = stored(&client).await;
    check_sealed_anew(&objects);
    for object in &objects {
        let expected = u64::from(object.key.name.name().starts_with("w-"));
        assert_eq!(times_written(object), expected, "{}", object.key);
    }
}

// Guarantee: MG-23
#[tokio::test(start_paused = true)]
async fn what_is_changed_beside_its_content_is_rewritten_all_the_same() {
    let (_cluster, client) = filled(1).await;
    let _membership = encodes(&client, WIDGETS, V1).await;
    let id = rewrite_all(&client).await;
    // Some objects change before they are listed, and some between the list and the rewrite.
    for object in stored(&client).await.into_iter().step_by(2) {
        assert!(relabel(&client, object, "before").await);
    }
    let codec = Sealed::with("new");
    let met = Arc::new(Mutex::new(std::collections::BTreeSet::new()));
    let recode = {
        let (client, met) = (client.clone(), Arc::clone(&met));
        move |object: StoredObject, target: ApiVersion| {
            let (client, met, codec) = (client.clone(), Arc::clone(&met), codec.clone());
            async move {
                if met.lock().unwrap().insert(object.key.clone()) {
                    assert!(relabel(&client, object.clone(), "between").await);
                }
                let number = codec.decode(&object.key, &object.content).unwrap();
                Ok(codec.encode(&object.key, &number, &target).unwrap())
            }
            .boxed()
        }
    };
    let store = CollectionStore::recoded_by(client.clone(), recode).page_size(50);
    let worker = Migrator::new(client.clone(), store, options("one"));
    let worked = within(worker.run_one(&id)).await.unwrap();
    assert!(
        matches!(worked, Some(Worked::Completed { .. })),
        "it is completed"
    );
    let objects = stored(&client).await;
    check_sealed_anew(&objects);
    assert_eq!(met.lock().unwrap().len(), objects.len());
    assert!(objects.iter().all(|object| times_written(object) == 1));
}

#[tokio::test(start_paused = true)]
async fn what_was_stored_in_another_version_after_the_start_is_rewritten_too() {
    let (_cluster, client) = filled(1).await;
    let _membership = encodes(&client, WIDGETS, V1).await;
    let id = rewrite_all(&client).await;
    let other = Sealed {
        preferred: V2,
        ..Sealed::with("new")
    };
    let others: Objects<u64> = client.objects(resource(WIDGETS), other);
    store(&others, "late", 1).await;
    let codec = Sealed::with("new");
    let worker = CollectionStore::new(client.clone(), codec.clone());
    let worker = Migrator::new(client.clone(), worker, options("one"));
    let worked = within(worker.run_one(&id)).await.unwrap();
    assert!(
        matches!(worked, Some(Worked::Completed { .. })),
        "it is completed"
    );
    let objects = stored(&client).await;
    let target = version(V1);
    assert!(
        objects
            .iter()
            .all(|object| object.content.encoding == target)
    );
    assert_eq!(codec.encoded.load(Ordering::Relaxed), OBJECTS + 1);
}

/// A store whose second page has always expired, and that has no token to continue with.
#[derive(Default)]
struct Fading(AtomicUsize);

impl Store for &Fading {
    type Object = usize;

    async fn list_page(
        &self,
        _: &Migration,
        token: Option<&ContinueToken>,
    ) -> Result<StorePage<usize>, StoreError> {
        match token {
            Some(_) => Err(StoreError::Expired(None)),
            None => Ok(StorePage {
                objects: (0..10).collect(),
                next: Some(legal(ContinueToken::parse("10"))),
                remaining: None,
            }),
        }
    }

    async fn rewrite(&self, _: &Migration, _: &usize) -> Result<(), StoreError> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            1_000.. => Err(StoreError::Refused("it never ends".to_owned())),
            _ => Ok(()),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_can_only_begin_anew_is_given_up_before_long() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let _membership = encodes(&client, ITEMS, V2).await;
    let store = Fading::default();
    let worker = Migrator::new(client.clone(), &store, options("one"));
    let id = newest(&client, ITEMS).await.id;
    let worked = pin!(within(worker.run_one(&id))).await.unwrap();
    let Some(Worked::Failed(failure)) = worked else {
        panic!("it cannot come to its end: {worked:?}");
    };
    assert_eq!(failure.class, FailureClass::Transient, "{failure:?}");
    assert!(store.0.load(Ordering::Relaxed) <= 70);
}
