//! Measures migrations: how fast two workers rewrite the objects of two collections, and what that costs other writers;
//! and how often an object is rewritten for a new key while others write to the same collection, and while the history
//! keeps far fewer revisions than the migration takes.
//!
//! `cargo bench --package synod-tests --bench migrations -- new key 10000` takes the second figure with 10,000 objects.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use synod_client::{
    ApiVersion, Client, CollectionStore, MemberEpoch, MigrationPhase, Migrator, MigratorOptions,
    ObjectKind, ReportEntry, Stance, StatementNumber, StoredIn, WorkerName,
};
use tokio::time::{Instant, sleep};

#[path = "../processes/process.rs"]
#[expect(dead_code, reason = "the tests of processes use the rest of it")]
mod process;
#[path = "../processes/program.rs"]
mod program;
#[path = "peers/replicas.rs"]
#[expect(dead_code, reason = "the other figures use the rest of it")]
mod replicas;
#[path = "peers/sample.rs"]
#[expect(dead_code, reason = "the other figures use the rest of it")]
mod sample;
#[path = "../processes/waiting.rs"]
#[expect(dead_code, reason = "the tests of processes use the rest of it")]
mod waiting;

#[path = "migrations/new_key.rs"]
mod new_key;
#[path = "migrations/stored.rs"]
mod stored;
#[path = "peers/wanted.rs"]
mod wanted;
#[path = "objects/writers.rs"]
#[expect(dead_code, reason = "the figures of objects use the rest of it")]
mod writers;

use replicas::{Replicas, long_lived};
use stored::{LEGAL, Same, fill, key, kind, resource, version};
use wanted::Wanted;
use writers::{Write, Written, write_until};

/// The migrated collections. A migration is claimed by one worker at a time, so two workers need two.
const MIGRATED: [&str; 2] = ["gadgets.example.io", "widgets.example.io"];

/// The number of objects in each of them.
const EACH: usize = 50_000;

/// The number of objects that a worker writes at the same time.
const AT_ONCE: NonZeroUsize = NonZeroUsize::new(16).expect("it is not zero");

/// The collection that others write to all the time.
const WRITTEN: &str = "others.example.io";

/// Bytes of data of each object.
const BYTES: usize = 256;

/// Writes per second, before and during the migrations.
const WRITES_PER_SECOND: u64 = 200;

/// How long writes are measured before the migrations.
const SPAN: Duration = Duration::from_secs(15);

fn main() {
    // One thread for the load, as the servers share the same cores.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let wanted = Wanted::by_arguments();
    runtime.block_on(async {
        if wanted.has("two workers") {
            let replicas = Replicas::start().await;
            for name in MIGRATED {
                fill(&replicas, name, EACH).await;
            }
            fill(&replicas, WRITTEN, 1_000).await;
            measure(&replicas).await;
        }
        if wanted.has("new key") {
            Box::pin(new_key::measure()).await;
        }
    });
}

async fn measure(replicas: &Replicas) {
    let write = |number: u64| Write {
        key: key(WRITTEN, number as usize % 1_000),
        bytes: Some(BYTES),
    };
    let before = write_until(replicas, write, sleep(SPAN)).await;
    agree(
        &replicas.client().await,
        &MIGRATED,
        version("example.io/v2"),
    )
    .await;
    let begin = Instant::now();
    let mut workers = Vec::new();
    for name in ["one", "two"] {
        let client = replicas.client().await;
        let store = CollectionStore::new(client.clone(), Same);
        let worker = WorkerName::parse(name).expect(LEGAL);
        let resources = MIGRATED.map(resource);
        let options = MigratorOptions::new(worker, BTreeSet::from(resources));
        let options = options.objects_at_once(AT_ONCE);
        let worker = Migrator::new(client, store, options);
        workers.push(tokio::spawn(async move { worker.run().await }));
    }
    let client = replicas.client().await;
    let during = write_until(replicas, write, Box::pin(completed(&client))).await;
    let taken = begin.elapsed();
    for worker in workers {
        worker.abort();
    }
    let rate = (MIGRATED.len() * EACH) as f64 / taken.as_secs_f64();
    println!("two workers migrate 100,000 objects: {rate:.0} objects/s");
    for (name, per_mille) in [("p50", 500), ("p99", 990)] {
        let [before, during] = [&before, &during].map(|written| quantile(written, per_mille));
        println!(
            "{name} of ordinary writes at {WRITES_PER_SECOND}/s: {:.2} times as long during as before",
            during.as_secs_f64() / before.as_secs_f64()
        );
    }
}

/// Makes a member encode this version from now on, and decode both.
async fn agree(client: &Client, names: &[&str], encoding: ApiVersion) {
    let joined = client.send_join(long_lived("server")).await;
    let joined = joined.expect("a member can join");
    let member = MemberEpoch {
        member: long_lived("server").id,
        epoch: joined.epoch,
        cluster: Some(joined.header.cluster),
    };
    let both = ["example.io/v1", "example.io/v2"].map(version);
    let entries = names.iter().map(|name| ReportEntry {
        resource: resource(name),
        kind: kind(name),
        decodable: both.iter().cloned().collect(),
        served: both.iter().cloned().collect(),
        stance: Stance::Fixed {
            encoding: encoding.clone(),
        },
        serve_until: None,
        stored: StoredIn::Collection,
        equivalents: BTreeSet::new(),
    });
    static SAID: AtomicU64 = AtomicU64::new(1);
    let number = StatementNumber::new(SAID.fetch_add(1, Ordering::Relaxed));
    let number = number.expect("it is above zero");
    let reported = client.send_report(&member, number, entries.collect(), false);
    let reported = reported.await;
    reported.expect("it can report");
}

/// Waits until all migrations are completed.
async fn completed(client: &Client) {
    let reflector = client.reflect(vec![ObjectKind::Migration]).await;
    let reflector = reflector.expect("the cluster can be watched");
    loop {
        let revision = reflector.revision();
        let migrations = reflector.migrations();
        let succeeded = |phase| phase == MigrationPhase::Succeeded;
        let done = migrations.iter().filter(|one| succeeded(one.phase));
        if done.count() == MIGRATED.len() {
            return;
        }
        let changed = reflector.changed(revision).await;
        changed.expect("the cluster can be watched");
    }
}

fn quantile(written: &[Written], per_mille: usize) -> Duration {
    let mut taken: Vec<Duration> = written.iter().map(|write| write.taken).collect();
    taken.sort();
    taken[(taken.len() - 1) * per_mille / 1_000]
}
