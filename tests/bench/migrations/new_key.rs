//! Rewrites every object for a new key, while others write to the same collection.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use synod_client::{
    ApiVersion, Codec, CodecError, CollectionStore, Content, ListObjects, MigrationReason,
    Migrator, MigratorOptions, ObjectKey, ReadOptions, SettingsPatch, Worked, WorkerName,
};
use tokio::time::Instant;

use crate::replicas::Replicas;
use crate::stored::{LEGAL, fill, key, resource, version};
use crate::writers::{Write, Written, write_until};
use crate::{AT_ONCE, BYTES, WRITES_PER_SECOND, agree};

/// The collection that is rewritten.
const ROTATED: &str = "secrets.example.io";

/// The number of objects, unless an argument gives another.
const OBJECTS: usize = 100_000;

/// The number of revisions that the history keeps: the worker's own writes trim a revision within moments.
const HISTORY: NonZeroU64 = NonZeroU64::new(1_000).expect("it is not zero");

/// A codec with a new key: it never encodes to the same bytes twice, and counts its encodings.
#[derive(Clone, Default)]
struct NewKey(Arc<AtomicU64>);

impl Codec<Content> for NewKey {
    fn preferred(&self) -> ApiVersion {
        version("example.io/v1")
    }

    fn decode(&self, _: &ObjectKey, content: &Content) -> Result<Content, CodecError> {
        Ok(content.clone())
    }

    fn encode(
        &self,
        _: &ObjectKey,
        value: &Content,
        version: &ApiVersion,
    ) -> Result<Content, CodecError> {
        let nonce = self.0.fetch_add(1, Ordering::Relaxed);
        let sealed = "y".repeat(BYTES);
        Ok(Content {
            encoding: version.clone(),
            data: Bytes::from(format!(r#"{{"nonce":{nonce},"sealed":"{sealed}"}}"#)),
            ..value.clone()
        })
    }
}

pub(crate) async fn measure() {
    let mut arguments = std::env::args();
    let objects = arguments.find_map(|word| word.parse().ok());
    let objects: usize = objects.unwrap_or(OBJECTS);
    let replicas = Replicas::start().await;
    let client = replicas.client().await;
    fill(&replicas, ROTATED, objects).await;
    let patch = SettingsPatch {
        history_revisions: Some(HISTORY.get()),
        ..SettingsPatch::default()
    };
    let patched = client.update_settings(patch, None).await;
    patched.expect("the settings can be changed");
    agree(&client, &[ROTATED], version("example.io/v1")).await;
    let rotated = resource(ROTATED);
    let started = client.start_migration(&rotated, MigrationReason::RewriteAll);
    let id = started.await.expect("there is an agreement").id;

    let codec = NewKey::default();
    let store = CollectionStore::new(client.clone(), codec.clone());
    let worker = WorkerName::parse("one").expect(LEGAL);
    let options = MigratorOptions::new(worker, BTreeSet::from([rotated]));
    let worker = Migrator::new(client.clone(), store, options.objects_at_once(AT_ONCE));
    // Spread over the whole collection, before and after the worker's position. One in eleven writes creates an object.
    let write = |number: u64| Write {
        key: key(ROTATED, number as usize * 7_919 % (objects + objects / 10)),
        bytes: Some(BYTES),
    };
    let begin = Instant::now();
    let working = async {
        let worked = worker.run_one(&id).await.expect("the cluster answers");
        assert!(
            matches!(worked, Some(Worked::Completed { .. })),
            "it is completed"
        );
    };
    let written = Box::pin(write_until(&replicas, write, working)).await;
    let taken = begin.elapsed();
    let rewrites = count(&replicas, objects, &written).await;
    told(objects, rewrites, &codec, written.len(), taken);
}

/// The number of objects that the worker wrote. It must not write an object more than once.
async fn count(replicas: &Replicas, objects: usize, written: &[Written]) -> u64 {
    let mut others: BTreeMap<&ObjectKey, u64> = BTreeMap::new();
    for write in written {
        *others.entry(&write.key).or_default() += 1;
    }
    let client = replicas.client().await;
    let mut list = ListObjects::new(resource(ROTATED)).with_page_size(5_000);
    list.read = ReadOptions::linearizable();
    let all = client.raw_objects().list(&list).all().await;
    let all = all.expect("nobody writes any more").items;
    assert!(all.len() >= objects, "none was lost");
    let mut rewrites = 0;
    for object in all.into_iter().map(|item| item.object) {
        let by_others = others.get(&object.key).copied().unwrap_or_default();
        let is_new = object.key >= key(ROTATED, objects);
        // The first write to a new object created it, and does not count in its generation.
        let by_others = by_others - u64::from(is_new);
        let contents = object.metadata.generation - 1;
        assert!(
            (by_others..=by_others + 1).contains(&contents),
            "{} was written {contents} times, and {by_others} times by others",
            object.key
        );
        rewrites += contents - by_others;
    }
    rewrites
}

fn told(objects: usize, rewrites: u64, codec: &NewKey, written: usize, taken: Duration) {
    let tried = codec.0.load(Ordering::Relaxed);
    assert!(
        tried <= (objects + written) as u64,
        "it was tried {tried} times"
    );
    println!(
        "a worker rewrites {objects} objects for a new key, with {HISTORY} revisions kept and {WRITES_PER_SECOND}/s \
         writes to the same collection: {:.0} objects/s",
        objects as f64 / taken.as_secs_f64()
    );
    println!(
        "{rewrites} rewrites, {tried} tried, beside {written} writes: {:.3} of objects, {:.3} of objects and writes; \
         none twice",
        rewrites as f64 / objects as f64,
        rewrites as f64 / (objects + written) as f64
    );
}
