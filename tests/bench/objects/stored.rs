//! The objects: their names, their content, and three replicas full of them.

use std::ops::Range;

use bytes::Bytes;
use synod_client::{
    ApiVersion, Attributes, Client, CollectionRules, Content, CreateCollection, CreateObject, Kind,
    MediaType, Namespace, ObjectKey, ObjectName, Operation, Settings, SettingsPatch, Transact,
};
use synod_client::{GroupResource, ReadOptions};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::replicas::Replicas;
use crate::sample::print_time;
use crate::{BYTES, MANY, NAMESPACES};

pub(crate) const LEGAL: &str = "every name is legal";

/// How many objects are stored by one transaction.
const AT_ONCE: usize = 128;

/// The number of transactions in flight.
const CALLERS: usize = 8;

pub(crate) fn resource() -> GroupResource {
    GroupResource::parse_qualified("widgets.example.io").expect(LEGAL)
}

pub(crate) fn namespace(at: usize) -> Namespace {
    Namespace::parse(&format!("namespace-{}", at % NAMESPACES)).expect(LEGAL)
}

/// Consecutive objects are in different namespaces, under the same name in each.
pub(crate) fn key(at: usize) -> ObjectKey {
    let name = ObjectName::parse(&format!("widget-{:06}", at / NAMESPACES)).expect(LEGAL);
    ObjectKey::new(resource(), Some(&namespace(at)), &name)
}

pub(crate) fn content(number: u64, bytes: usize) -> Content {
    let mut data = format!(r#"{{"number":{number},"filled":""#);
    while data.len() < bytes - 2 {
        data.push('x');
    }
    data.push_str("\"}");
    Content {
        encoding: ApiVersion::parse("example.io/v1").expect(LEGAL),
        media_type: MediaType::JSON,
        data: Bytes::from(data),
    }
}

pub(crate) fn create(key: ObjectKey, number: u64) -> CreateObject {
    CreateObject {
        key,
        attributes: Attributes::default(),
        content: content(number, BYTES),
        ttl: None,
        fences: Default::default(),
    }
}

/// Declares the collection, and makes room for the objects.
pub(crate) async fn declare(client: &Client) {
    let rules = CollectionRules {
        unconditional_update: true,
        create_on_update: true,
        ..CollectionRules::default()
    };
    let create = CreateCollection {
        resource: resource(),
        kind: Kind::parse("Widget").expect(LEGAL),
        namespaced: true,
        rules,
    };
    let declared = client.collections().create(create).await;
    declared.expect("a collection can be declared");
    let patch = SettingsPatch {
        state_quota_bytes: Some(4 * Settings::default().state_quota_bytes),
        ..SettingsPatch::default()
    };
    let raised = client.update_settings(patch, None);
    raised.await.expect("the quota can be raised");
}

/// Fills the replicas, and prints how long that takes.
pub(crate) async fn fill(replicas: &Replicas) {
    declare(&replicas.client().await).await;
    let before = replicas.resident_kib();
    let begin = Instant::now();
    store_all(replicas, 0..MANY).await;
    print_time("three replicas store 1,000,000 objects", begin.elapsed());
    let after = replicas.resident_kib();
    let grown = (after.median() - before.median()) * 1_024.0 / MANY as f64;
    let name = "memory of a replica for each object, history and log included";
    println!("{name:<64} {grown:>10.0} B");
}

/// Stores the objects of these numbers.
pub(crate) async fn store_all(replicas: &Replicas, numbers: Range<usize>) {
    let Range { start, end } = numbers;
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let client = replicas.client().await;
        callers.spawn(async move {
            let mut at = start + caller * AT_ONCE;
            while at < end {
                store(&client, at, (at + AT_ONCE).min(end)).await;
                at += CALLERS * AT_ONCE;
            }
        });
    }
    while let Some(ended) = callers.join_next().await {
        ended.expect("the objects are stored");
    }
}

async fn store(client: &Client, from: usize, to: usize) {
    let creates = (from..to).map(|at| Operation::Create(create(key(at), at as u64)));
    let transact = Transact {
        compares: Vec::new(),
        operations: creates.collect(),
        reads: Vec::new(),
        fences: Default::default(),
    };
    let stored = client.raw_objects().transact(transact).await;
    stored.expect("the objects are stored");
}

/// Kills a follower, and prints how long it takes to serve again.
pub(crate) async fn start_again(replicas: &mut Replicas) {
    let follower = (replicas.leader().await + 1) % 3;
    replicas.kill(follower).await;
    let begin = Instant::now();
    replicas.launch(follower);
    replicas.serving(follower).await;
    print_time("a killed replica serves again", begin.elapsed());
    let client = replicas.client_of(follower).await;
    let read = client
        .raw_objects()
        .get(&key(MANY - 1), ReadOptions::linearizable())
        .await;
    read.expect("it has all objects");
}
