//! Watches of all replicas deliver the same events, miss none and repeat none.

use std::collections::BTreeSet;

use synod_client::{
    ErrorKind, GroupResource, ReadOptions, Revision, SettingsPatch, StatementNumber,
};
use synod_proto::v1;
use v1::watch_response::Message;

use crate::agreement::agree;
use crate::cluster::{Cluster, IDS};
use crate::durability::{check, watch_each};
use crate::requests::{Wire, kind, timely};
use crate::waiting::within;
use crate::watch_log::compare;
use crate::watcher::Watcher;
use crate::writers::{Writers, fixed, join};

const FIRST: StatementNumber = StatementNumber::FIRST;

fn nth(number: u64) -> StatementNumber {
    StatementNumber::new(number).expect("it is above zero")
}

/// The number of watches that move between replicas, beside those that stay at one.
const WANDERERS: usize = 9;

// Guarantee: E-07
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_goes_on_at_other_replicas_through_a_restart_of_all_of_them() {
    let mut cluster = Cluster::start().await;
    let watchers = watch_each(&cluster).await;
    let from = agree(&cluster).await.next();
    let wanderers: Vec<Watcher> = (0..WANDERERS)
        .map(|first| {
            let mut endpoints = cluster.endpoints();
            endpoints.rotate_left(first % IDS.len());
            Watcher::start(endpoints, from)
        })
        .collect();
    let mut writers = Writers::start(&cluster).await;
    for id in IDS {
        writers.acknowledge(40).await;
        let status = cluster.terminate(id).await;
        assert!(status.success(), "replica {id}: {status}");
        writers.acknowledge(40).await;
        cluster.restart(id).await;
    }
    writers.acknowledge(20).await;
    // Each of them was at a replica that ended at least once.
    for wanderer in &wanderers {
        wanderer.streams(2).await;
    }
    let end = agree(&cluster).await;
    for wanderer in &wanderers {
        wanderer.reached(end).await;
        let log = wanderer.log().clone();
        watchers[0].1.reached(end).await;
        compare(&watchers[0].1.log(), &log).unwrap_or_else(|fault| panic!("{fault}"));
    }
    drop(wanderers);
    check(cluster, writers, watchers).await;
}

// Guarantee: E-08
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_of_a_thousand_resources_is_one_revision_and_one_group_at_every_watch() {
    let cluster = Cluster::start().await;
    let watchers = watch_each(&cluster).await;
    let client = cluster.client().await;
    let member = join(&client, "large", "large", 60_000).await;
    let before = agree(&cluster).await;
    let resources: BTreeSet<GroupResource> = (0..1_000)
        .map(|number| GroupResource::new("example.com", &format!("r{number}")).expect("a name"))
        .collect();
    let entries = resources.iter().cloned().map(fixed).collect();
    let reported = client
        .send_report(&member, FIRST, entries, true)
        .await
        .expect("the cluster serves");
    assert_eq!(reported.header.revision, before.next());
    for (id, watcher) in &watchers {
        watcher.reached(reported.header.revision).await;
        let log = watcher.log();
        let group = log
            .group(reported.header.revision.get())
            .expect("the revision has events");
        let versions: BTreeSet<String> = names(&group.events, v1::ObjectKind::StorageVersion);
        let states: BTreeSet<String> = names(&group.events, v1::ObjectKind::StorageState);
        let expected: BTreeSet<String> = resources
            .iter()
            .map(GroupResource::storage_version_name)
            .collect();
        assert_eq!(versions, expected, "replica {id}");
        let expected: BTreeSet<String> = resources
            .iter()
            .map(|resource| resource.storage_state_name().to_owned())
            .collect();
        assert_eq!(states, expected, "replica {id}");
    }
    let (first, others) = watchers.split_first().expect("there are three");
    for (_, other) in others {
        assert_eq!(
            compare(&first.1.log(), &other.log()).map(|groups| groups > 0),
            Ok(true)
        );
    }
    agree(&cluster).await;
    cluster.finish().await;
}

fn names(events: &[v1::Event], kind: v1::ObjectKind) -> BTreeSet<String> {
    events
        .iter()
        .filter(|event| event.kind() == kind)
        .map(|event| event.name.clone())
        .collect()
}

/// The first message of a watch from a revision on, at one replica.
async fn first_message(cluster: &Cluster, replica: u64, from: u64) -> Message {
    let mut service = Wire::to(&cluster.endpoint(replica)).watch();
    let request = v1::WatchRequest {
        from_revision: Some(from),
        ..v1::WatchRequest::default()
    };
    let mut stream = service
        .watch(timely(request))
        .await
        .expect("the watch is opened")
        .into_inner();
    let message = within("the first message of a watch", stream.message())
        .await
        .expect("no error");
    message
        .and_then(|response| response.message)
        .expect("a stream begins with a message")
}

// Guarantee: E-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_begins_where_it_is_asked_to_or_says_why_not() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let member = join(&client, "some", "some", 60_000).await;
    for number in 1..=20 {
        let resource = GroupResource::new("example.com", &format!("r{number}")).expect("a name");
        client
            .send_report(&member, nth(number), vec![fixed(resource)], false)
            .await
            .expect("the cluster serves");
    }
    let newest = agree(&cluster).await.get();
    for id in IDS {
        for from in [1, newest / 2, newest, newest + 1] {
            let first = first_message(&cluster, id, from).await;
            let Message::Bookmark(bookmark) = first else {
                panic!("replica {id}, from {from}: {first:?}")
            };
            assert_eq!((bookmark.revision, bookmark.replica_id), (from - 1, id));
        }
        // A future revision is refused: the watch neither waits for it nor delivers older events in its place.
        for (from, refused) in [
            (newest + 1_000, ErrorKind::FutureRevision),
            (0, ErrorKind::InvalidArgument),
        ] {
            let request = v1::WatchRequest {
                from_revision: Some(from),
                ..v1::WatchRequest::default()
            };
            let mut service = Wire::to(&cluster.endpoint(id)).watch();
            assert_eq!(
                kind(service.watch(timely(request)).await),
                refused,
                "replica {id}, from {from}"
            );
        }
    }
    // With a history of one revision, the requested one is gone, and the watch says so.
    let patch = SettingsPatch {
        history_revisions: Some(1),
        ..SettingsPatch::default()
    };
    let trimmed = client
        .update_settings(patch, None)
        .await
        .expect("the cluster serves")
        .header
        .revision
        .get();
    agree(&cluster).await;
    for id in IDS {
        let first = first_message(&cluster, id, 1).await;
        let Message::Compacted(compacted) = first else {
            panic!("replica {id}: {first:?}")
        };
        assert_eq!(
            (compacted.oldest_revision, compacted.current_revision),
            (trimmed, trimmed)
        );
        let past = ReadOptions::at_revision(Revision::new(1));
        let error = cluster
            .client_of(id)
            .await
            .settings(past)
            .await
            .expect_err("it is gone");
        assert_eq!(error.kind(), ErrorKind::Compacted);
    }
    cluster.finish().await;
}
