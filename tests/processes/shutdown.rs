//! A replica that gets SIGTERM hands over leadership, ends its watches and exits with success.

use synod_client::Revision;
use synod_proto::v1;
use tokio::time::Instant;
use v1::watch_response::Message;

use crate::agreement::agree;
use crate::cluster::Cluster;
use crate::durability::{check, gap, watch_each};
use crate::requests::Wire;
use crate::waiting::{rounds, within};
use crate::writers::Writers;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_is_asked_to_end_hands_over_ends_its_watches_and_exits_with_zero() {
    let mut cluster = Cluster::start().await;
    let watchers = watch_each(&cluster).await;
    let mut writers = Writers::start(&cluster).await;
    for round in 0..rounds(2) {
        writers.acknowledge(30).await;
        let leader = cluster.leader().await;
        let from = agree(&cluster).await.next();
        let watching = tokio::spawn(last_message(cluster.endpoint(leader), from));
        writers.acknowledge(10).await;
        let asked = Instant::now();
        let status = cluster.terminate(leader).await;
        assert_eq!(status.code(), Some(0), "{status}");
        // No election timeout passes: the next leader took over before the process ended.
        let next = taken_over(&cluster).await;
        let next = next.expect("another replica leads");
        let (last, seen) = within("the end of a watch", watching)
            .await
            .expect("no panic");
        let Some(Message::Ended(ended)) = last else {
            panic!("the watch ended without a word: {last:?}")
        };
        assert_eq!(ended.reason(), v1::WatchEndReason::Shutdown);
        assert_eq!(ended.resume_revision, seen + 1);
        writers.acknowledge(30).await;
        println!(
            "round {round}: replica {leader} ended, replica {next} had taken over, {}",
            gap(&writers.calls(), asked)
        );
        cluster.restart(leader).await;
    }
    check(cluster, writers, watchers).await;
}

/// The replica that now says that it leads. The third replica may learn of it later.
async fn taken_over(cluster: &Cluster) -> Option<u64> {
    for id in cluster.awake() {
        let known = cluster.status(id).await.expect("it answers").leader_id;
        if known == Some(id) {
            return known;
        }
    }
    None
}

/// Reads a watch to its end. Returns its last message, and the last revision that was delivered before.
async fn last_message(endpoint: String, from: Revision) -> (Option<Message>, u64) {
    let mut service = Wire::to(&endpoint).watch();
    let request = v1::WatchRequest {
        from_revision: Some(from.get()),
        ..v1::WatchRequest::default()
    };
    let mut stream = service
        .watch(request)
        .await
        .expect("the watch is opened")
        .into_inner();
    let (mut last, mut seen) = (None, from.get() - 1);
    while let Ok(Some(v1::WatchResponse { message })) = stream.message().await {
        match &message {
            Some(Message::Events(events)) => seen = events.revision,
            Some(Message::Bookmark(bookmark)) => seen = bookmark.revision,
            Some(Message::Ended(_) | Message::Compacted(_)) | None => {}
        }
        last = message;
    }
    (last, seen)
}
