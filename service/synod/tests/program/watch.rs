//! Tests of `synod watch` as a process.

use std::collections::BTreeSet;

use serde_json::Value;
use synod_client::{ReadOptions, SettingsPatch, WallTime};

use crate::cluster::{Cluster, Server};
use crate::program::{LIMIT, Running, synod};
use crate::stand_in::{StandIn, fixture};

async fn document(watch: &mut Running) -> Value {
    serde_json::from_str(&watch.line().await.expect("the watch has ended")).unwrap()
}

/// The revisions of the documents, up to the given one.
async fn revisions_up_to(watch: &mut Running, last: u64) -> Vec<u64> {
    let mut revisions = Vec::new();
    while revisions.last().is_none_or(|revision| *revision < last) {
        let document = document(watch).await;
        revisions.push(
            document["events"]["revision"]
                .as_str()
                .unwrap()
                .parse()
                .unwrap(),
        );
    }
    revisions
}

#[tokio::test]
async fn a_watch_prints_what_is_asked_for_line_by_line() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let mut members = cluster.begin(&["watch", "--from=1", "--kinds=member"]);
    let server = Server::join(&client, "server-a").await;
    server.encodes("pods", "v1").await;
    let seen = document(&mut members).await;
    let event = &seen["events"]["events"][0];
    assert_eq!(event["type"], "EVENT_TYPE_ADDED");
    assert_eq!(event["member"]["metadata"]["name"], "server-a");

    let mut pods = cluster.begin(&[
        "watch",
        "--from=1",
        "--kinds=storage-version",
        "--names=pods",
    ]);
    let seen = document(&mut pods).await;
    let event = &seen["events"]["events"][0];
    assert_eq!(event["kind"], "OBJECT_KIND_STORAGE_VERSION");
    assert_eq!(
        event["storageVersion"]["changedEntries"][0]["encodingVersion"],
        "v1"
    );
}

#[tokio::test]
async fn a_watch_goes_on_at_another_replica_without_a_gap() {
    let mut cluster = Cluster::start().await;
    let client = cluster.client().await;
    let mut watch = cluster.begin(&["watch", "--from=1", "--kinds=settings"]);
    let mut changed = BTreeSet::new();
    let mut last = 0;
    for (round, killed) in [None, Some(0), Some(1), Some(2)].into_iter().enumerate() {
        if let Some(place) = killed {
            cluster.kill(place).await;
        }
        for step in 0..3 {
            let members_max = u32::try_from(1_000 + 10 * round + step).unwrap();
            let patch = SettingsPatch {
                members_max: Some(members_max),
                ..SettingsPatch::default()
            };
            client
                .with_timeout(LIMIT)
                .update_settings(patch, None)
                .await
                .unwrap();
            let now = client
                .with_timeout(LIMIT)
                .settings(ReadOptions::linearizable())
                .await
                .unwrap();
            last = now.settings.revision.get();
            changed.insert(last);
        }
        if let Some(place) = killed {
            cluster.restart(place).await;
        }
    }
    let seen = revisions_up_to(&mut watch, last).await;
    assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
    // The first events are the settings with which the cluster began, and what every cluster of these tests changes of them.
    assert_eq!(seen[2..], changed.into_iter().collect::<Vec<_>>());
}

#[tokio::test]
async fn a_history_that_is_gone_becomes_a_resync() {
    let mut part = fixture::part();
    part.watches.insert(0, vec![fixture::compacted(40, 47)]);
    let stand_in = StandIn::start(part).await;
    let mut watch = Running::start(synod(&[
        "watch",
        "--from=5",
        "--endpoints",
        &stand_in.endpoint(),
    ]));
    let first = document(&mut watch).await;
    assert_eq!(first["resync"]["revision"], "47", "{first}");
    let kinds: BTreeSet<&str> = first["resync"]["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|event| event["type"].as_str())
        .collect();
    assert_eq!(kinds, BTreeSet::from(["EVENT_TYPE_ADDED"]));
}

#[tokio::test]
async fn bookmarks_are_printed_only_if_asked_for() {
    for (more, expected) in [(&[][..], "events"), (&["--bookmarks"], "bookmark")] {
        let stand_in = StandIn::start(fixture::part()).await;
        let endpoint = stand_in.endpoint();
        let words = ["watch", "--endpoints", &endpoint];
        let mut watch = Running::start(synod(&[&words[..], more].concat()));
        let first = document(&mut watch).await;
        assert!(first.get(expected).is_some(), "{more:?}: {first}");
    }
}

#[tokio::test]
async fn a_reader_that_has_enough_ends_the_watch_in_peace() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let mut watch = cluster.begin(&["watch", "--from=1"]);
    document(&mut watch).await;
    let mut child = watch.stop_reading();
    // The process learns only by writing that its reader is gone.
    let mut members = 1_000;
    let ended = loop {
        members += 1;
        let patch = SettingsPatch {
            members_max: Some(members),
            ..SettingsPatch::default()
        };
        client.update_settings(patch, None).await.unwrap();
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        assert!(members < 10_000, "it goes on for nobody");
    };
    assert_eq!(ended.code(), Some(0));
}

#[tokio::test]
async fn a_watch_from_a_time_shows_what_happened_after_it_and_when() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let before = client
        .settings(ReadOptions::linearizable())
        .await
        .unwrap()
        .header
        .revision;
    let server = Server::join(&client, "server-a").await;
    server.encodes("pods", "v1").await;
    let mut watch = cluster.begin(&["watch", "--from=1", "--kinds=member"]);
    let joined = document(&mut watch).await;
    let time = joined["time"].as_str().unwrap();
    let millis: u64 = joined["events"]["timeMs"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!(time.ends_with('Z') && millis > 0);

    let earlier = WallTime::from_millis(millis - 1).to_string();
    let at = format!("--at={earlier}");
    let mut watch = cluster.begin(&["watch", &at, "--kinds=member"]);
    assert_eq!(document(&mut watch).await, joined);
    let revision: u64 = joined["events"]["revision"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!(revision > before.get());

    let printed = cluster.ask(&["watch", "--at=2001-02-03T04:05:06Z"]).await;
    assert_ne!(printed.code, 0);
    let text = &printed.err;
    assert!(text.contains("the oldest that has a time is"), "{text}");
}
