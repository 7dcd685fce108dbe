//! Calls that overlap: they share a pipeline, and break with it as lone calls break with their connection.

use std::time::Duration;

use futures::future::join_all;
use synod_client::{CollectionRules, ObjectKind, ReadOptions, WatchOptions};
use tokio::time::sleep;

use crate::cluster::{Cluster, id, within};
use crate::objects::{V1, create, declare, numbers};

#[tokio::test(start_paused = true)]
async fn only_calls_that_overlap_open_a_pipeline_and_then_share_it() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let read = || async { client.member(&id("a"), ReadOptions::default()).await };
    for _ in 0..10 {
        within(read()).await.unwrap_err();
    }
    assert_eq!(cluster.started(1, "Pipeline", "Open").await, 0);
    for _ in 0..3 {
        within(join_all((0..100).map(|_| read()))).await;
    }
    assert_eq!(cluster.started(1, "Pipeline", "Open").await, 1);
    assert_eq!(cluster.started(1, "Membership", "Get").await, 310);
}

#[tokio::test(start_paused = true)]
async fn a_change_is_executed_once_when_its_pipeline_breaks() {
    let mut cluster = Cluster::start(3).await;
    let client = cluster.client_of(vec![1, 2, 3]).await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    // A second execution would be refused, as the object is there.
    let round = |round: u64| {
        let objects = &objects;
        join_all((0..100).map(move |number| async move {
            create(
                objects,
                "default",
                &format!("object-{round}-{number}"),
                number,
            )
            .await;
        }))
    };
    within(round(0)).await;
    assert_eq!(cluster.started(1, "Pipeline", "Open").await, 1);
    let killed = async {
        sleep(Duration::from_millis(2)).await;
        cluster.kill(1);
    };
    tokio::join!(within(round(1)), killed);
    within(round(2)).await;
    let opened = [2, 3].map(|number| cluster.started(number, "Pipeline", "Open"));
    let opened: u64 = join_all(opened).await.into_iter().sum();
    assert!(opened > 0, "the calls after it overlap, too");
}

#[tokio::test(start_paused = true)]
async fn watches_share_the_pipeline_and_each_gets_every_event() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    declare(&client, CollectionRules::default()).await;
    let objects = numbers(&client, V1);
    let mut watches = Vec::new();
    for _ in 0..20 {
        let options = WatchOptions::new().kinds(vec![ObjectKind::Object]);
        watches.push(within(client.watch(options)).await.unwrap());
    }
    assert_eq!(cluster.started(1, "Pipeline", "Open").await, 1);
    for number in 0..5 {
        create(&objects, "default", &format!("object-{number}"), number).await;
    }
    for watch in &mut watches {
        for number in 0..5 {
            let seen = crate::watch::events(watch).await;
            assert_eq!(seen.events[0].name, format!("object-{number}"));
        }
    }
    drop(watches);
    // Nothing of a watch that was dropped is left, and the pipeline goes on.
    create(&objects, "default", "last", 5).await;
    assert_eq!(cluster.started(1, "Pipeline", "Open").await, 1);
}
