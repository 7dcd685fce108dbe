//! Leases, and the queues of those who wait for them, survive when replicas are killed.

use std::collections::BTreeMap;
use std::time::Duration;

use synod_client::{
    Client, ErrorKind, FencingToken, HolderIdentity, LeaseKey, LeaseView, Lock, LockOptions,
    ReadOptions, Ttl,
};
use synod_proto::v1;
use tokio::task::JoinHandle;

use crate::agreement::agree;
use crate::cluster::{Cluster, IDS};
use crate::waiting::{LIMIT, eventually, rounds, within};
use crate::watch_log::WatchLog;
use crate::watcher::Watcher;

/// Long, so that no lease expires in these tests.
const TTL_MS: u64 = 10 * 60 * 1_000;

fn key() -> LeaseKey {
    LeaseKey::new("default", "lock").expect("it is a key")
}

fn held_by(holder: &str) -> LockOptions {
    LockOptions::new(key())
        .holder(HolderIdentity::parse(holder).expect("it is an identity"))
        .ttl(Ttl::from_millis(TTL_MS).expect("it is within bounds"))
}

async fn lease(client: &Client) -> LeaseView {
    let read = client.lease(&key(), ReadOptions::linearizable()).await;
    read.expect("the lease is there")
}

/// Checks at each replica that the lease is held with this token, and that no one else can get it.
async fn is_held(cluster: &Cluster, token: FencingToken) {
    for id in cluster.awake() {
        let client = cluster.client_of(id).await.with_timeout(LIMIT);
        let hold = lease(&client).await.item.lease.hold;
        assert_eq!(hold.map(|hold| hold.token), Some(token), "replica {id}");
        let renewed = client.send_renew_lease(&key(), token, None).await;
        assert_eq!(renewed.ok(), Some(Duration::from_millis(TTL_MS)));
        let other = client.try_lock(held_by("somebody-else")).await;
        let refused = other.expect_err("it is held");
        assert_eq!(refused.kind(), ErrorKind::Conflict, "replica {id}");
    }
}

/// The tokens of all holds that a watch saw, in order.
fn tokens(log: &WatchLog) -> Vec<u64> {
    let events = log.groups().iter().flat_map(|group| &group.events);
    let holds = events.filter_map(|event| match &event.object {
        Some(v1::event::Object::Lease(lease)) => lease.hold.as_ref(),
        _ => None,
    });
    let mut tokens: Vec<u64> = holds.map(|hold| hold.token).collect();
    tokens.dedup();
    tokens
}

// Guarantee: L-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_is_held_outlives_the_leader_and_all_replicas_and_tokens_only_grow() {
    let mut cluster = Cluster::start().await;
    let from = agree(&cluster).await.next();
    let watcher = Watcher::start(cluster.endpoints(), from);
    let client = cluster.client().await.with_timeout(LIMIT);
    let mut given = Vec::new();
    for round in 0..rounds(2) {
        let lock = client.try_lock(held_by(&format!("holder-{round}"))).await;
        let lock = lock.expect("it is free");
        let token = lock.token();
        assert!(given.last() < Some(&token), "{token:?} after {given:?}");
        given.push(token);

        let leader = cluster.leader().await;
        cluster.kill(leader).await;
        is_held(&cluster, token).await;
        cluster.restart(leader).await;
        cluster.kill_all().await;
        IDS.into_iter().for_each(|id| cluster.launch(id));
        for id in IDS {
            cluster.serving(id).await;
        }
        is_held(&cluster, token).await;
        lock.check().expect("its holder may act under it");
        lock.release().await.expect("it can be released");
        let late = client.send_renew_lease(&key(), token, None).await;
        let late = late.expect_err("a token that was given up renews nothing");
        assert_eq!(late.kind(), ErrorKind::StaleEpoch);
    }
    let end = agree(&cluster).await;
    watcher.reached(end).await;
    let seen = tokens(&watcher.log());
    let given: Vec<u64> = given.iter().map(|token| token.revision().get()).collect();
    assert_eq!(seen, given, "what watchers see is what holders have");
    cluster.finish().await;
}

/// Starts to wait for the lease in the background, and returns once it has this place in the queue.
async fn waits(client: &Client, holder: &str, place: u64) -> JoinHandle<Lock> {
    let (waiting, options) = (client.clone(), held_by(holder));
    let task = tokio::spawn(async move { waiting.lock(options).await.expect("it waits") });
    eventually(&format!("{holder} in the queue"), async || {
        let waiting = lease(client).await.item.waiting;
        (waiting == Some(place))
            .then_some(())
            .ok_or_else(|| format!("{waiting:?} wait"))
    })
    .await;
    task
}

// Guarantee: L-07
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_for_a_lease_keeps_the_place_when_the_leader_is_killed() {
    let mut cluster = Cluster::start().await;
    let client = cluster.client().await.with_timeout(LIMIT);
    let first = client.try_lock(held_by("first")).await;
    let first = first.expect("it is free");
    let second = waits(&client, "second", 1).await;
    let third = waits(&client, "third", 2).await;
    for round in 0..rounds(2) {
        let leader = cluster.leader().await;
        cluster.kill(leader).await;
        let waiters = lease(&client).await.waiters;
        let waiters: Vec<_> = waiters.iter().map(|(holder, _)| holder.as_str()).collect();
        assert_eq!(waiters, ["second", "third"], "round {round}");
        assert!(!second.is_finished() && !third.is_finished());
        cluster.restart(leader).await;
    }
    let mut tokens = BTreeMap::from([(first.token(), "first")]);
    first.release().await.expect("it can be released");
    let second = within("the lease for the second", second).await;
    let second = second.expect("no panic");
    assert!(!third.is_finished(), "the third came after the second");
    tokens.insert(second.token(), "second");
    second.release().await.expect("it can be released");
    let third = within("the lease for the third", third).await;
    tokens.insert(third.expect("no panic").token(), "third");
    let order: Vec<_> = tokens.into_values().collect();
    assert_eq!(order, ["first", "second", "third"], "tokens grow");
    cluster.finish().await;
}
