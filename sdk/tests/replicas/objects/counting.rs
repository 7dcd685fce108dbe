//! Many clients increment one object while its leaders die.

use std::time::Duration;

use synod_client::{
    Client, CollectionRules, Error, ErrorKind, Outcome, OutcomeAnswer, ReadOptions, RequestKey,
    Verdict,
};
use tokio::task::JoinSet;

use super::{V1, create, declare, key, named, numbers};
use crate::cluster::{Cluster, pass, within};

/// What one client knows of its increments.
#[derive(Debug, Default)]
struct Tally {
    acknowledged: u64,
    /// Those of which it is not known whether they were executed.
    unknown: Vec<RequestKey>,
}

const CLIENTS: usize = 64;
const INCREMENTS: usize = 6;

/// Increments as often as it is to, and never gives one up for lost that may have been made.
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

/// Whether an increment of which nobody knew was made.
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
    // Nothing is on its way any more once its deadline has passed.
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
