//! Many clients increment one object while its leaders die.

use std::time::Duration;

use synod_client::{
    Client, CollectionRules, Error, ErrorKind, Outcome, OutcomeAnswer, ReadOptions, RequestKey,
    TtlChange, Verdict,
};
use tokio::task::JoinSet;

use super::{V1, create, declare, key, named, numbers};
use crate::cluster::{Cluster, endpoint, pass, within};
use crate::network::Weather;

/// What one client knows of its increments.
#[derive(Debug, Default)]
struct Tally {
    acknowledged: u64,
    /// Increments of which it is not known whether they were executed.
    unknown: Vec<RequestKey>,
}

const CLIENTS: usize = 64;
const INCREMENTS: usize = 6;

/// Increments as often as required, and never counts an increment as lost that may have been made.
async fn increment(client: Client) -> Tally {
    let objects = numbers(&client, V1);
    let counter = named("a", "counter");
    let mut tally = Tally::default();
    while tally.acknowledged + (tally.unknown.len() as u64) < INCREMENTS as u64 {
        let incremented = objects.guaranteed_update(&counter, None, |draft| {
            draft.value += 1;
            Ok::<_, Error>(())
        });
        match incremented.await {
            Ok(_) => tally.acknowledged += 1,
            Err(error) if error.execution() == Verdict::Unknown => {
                let key = error.request_key().expect("it was sent in a session");
                tally.unknown.push(key.clone());
            }
            Err(error) => assert!(
                error.kind() == ErrorKind::Conflict || error.retryable(),
                "{error}"
            ),
        }
    }
    tally
}

/// Whether an increment of unknown outcome was made.
async fn was_made(client: &Client, key: &RequestKey) -> bool {
    match within(client.outcome(key)).await.unwrap() {
        Outcome::NotExecuted { .. } => false,
        Outcome::Executed { answer, .. } => match answer {
            OutcomeAnswer::Object(result) => result.changed,
            OutcomeAnswer::Refused(_) => false,
            other => panic!("an update is not answered so: {other:?}"),
        },
    }
}

// Guarantee: O-04
#[tokio::test(start_paused = true)]
async fn every_increment_is_counted_once_while_leaders_die() {
    let mut cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    create(&numbers(&client, V1), "a", "counter", 0).await;
    let mut running = JoinSet::new();
    for _ in 0..CLIENTS {
        let other = cluster.client().await.with_timeout(Duration::from_secs(5));
        running.spawn(increment(other));
    }
    for _ in 0..2 {
        pass(Duration::from_millis(500)).await;
        let leader = cluster.leader(&client).await;
        cluster.kill(leader);
        pass(Duration::from_secs(3)).await;
        cluster.start_replica(leader).await;
    }
    let mut acknowledged = 0;
    let mut unknown = Vec::new();
    while let Some(tally) = tokio::time::timeout(Duration::from_secs(600), running.join_next())
        .await
        .expect("increments come to an end")
    {
        let tally = tally.unwrap();
        acknowledged += tally.acknowledged;
        unknown.extend(tally.unknown);
    }
    // No increment is on its way any more once its deadline has passed.
    pass(Duration::from_secs(6)).await;
    let mut made = 0;
    for key in &unknown {
        made += u64::from(was_made(&client, key).await);
    }
    let stored = within(
        client
            .raw_objects()
            .get(&key("a", "counter"), ReadOptions::default()),
    )
    .await
    .unwrap()
    .object;
    let counter = synod_client::Codec::decode(
        &super::Numbers(crate::cluster::version(V1)),
        &stored.key,
        &stored.content,
    );
    assert_eq!(counter.unwrap(), acknowledged + made);
    // The object's generation counts the same.
    assert_eq!(stored.metadata.generation, acknowledged + made + 1);
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_answer_was_lost_is_made_once_over_a_fail_over_and_a_restart_of_all() {
    let mut cluster = Cluster::start(3).await;
    let client = cluster.client_of(vec![1]).await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    create(&objects, "a", "counter", 0).await;
    // Replica 1 executes the write, and its answer never arrives.
    cluster.network.set(&endpoint(1), Weather::Mute);
    let short = numbers(&client.with_timeout(Duration::from_secs(2)), V1);
    let mut stored = within(
        numbers(&cluster.client_of(vec![2]).await, V1)
            .get(&named("a", "counter"), ReadOptions::default()),
    )
    .await
    .unwrap();
    stored.value = 1;
    let lost = within(short.update(stored, TtlChange::Keep))
        .await
        .unwrap_err();
    assert_eq!(lost.execution(), Verdict::Unknown);
    let asked = lost.request_key().expect("it had a session").clone();
    let other = cluster.client_of(vec![2, 3]).await;
    let first = within(other.outcome(&asked)).await.unwrap();
    let Outcome::Executed {
        revision,
        changed: true,
        answer: OutcomeAnswer::Object(result),
        ..
    } = first
    else {
        panic!("it was executed: {first:?}");
    };
    assert_eq!(result.resource_version, revision);

    cluster.network.set(&endpoint(1), Weather::Fair);
    let leader = cluster.leader(&other).await;
    cluster.kill(leader);
    let after = cluster.client().await;
    same_outcome(&after, &asked, revision).await;
    cluster.start_replica(leader).await;
    for number in 1..=3 {
        cluster.kill(number);
    }
    for number in 1..=3 {
        cluster.start_replica(number).await;
    }
    let after = cluster.client().await;
    same_outcome(&after, &asked, revision).await;
    let read = numbers(&after, V1)
        .get(&named("a", "counter"), ReadOptions::default())
        .await;
    let read = read.unwrap();
    assert_eq!(read.value, 1);
    assert_eq!(read.object.metadata.resource_version, revision);
}

async fn same_outcome(client: &Client, key: &RequestKey, expected: synod_client::Revision) {
    match within(client.outcome(key)).await.unwrap() {
        Outcome::Executed {
            revision,
            changed: true,
            answer: OutcomeAnswer::Object(_),
            ..
        } => assert_eq!(revision, expected),
        other => panic!("it was executed: {other:?}"),
    }
}
