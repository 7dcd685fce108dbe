//! A replica that gets SIGTERM hands over leadership, ends its watches and exits with success.

use synod_client::Revision;
use synod_proto::v1;
use tokio::sync::oneshot;
use tokio::time::Instant;
use v1::watch_response::Message;

use crate::agreement::agree;
use crate::cluster::Cluster;
use crate::durability::{check, gap, watch_each};
use crate::requests::Wire;
use crate::waiting::{rounds, within};
use crate::writers::Writers;

/// How often a leader is ended until another replica has taken over in time: one that hands over to nobody never does it.
const ATTEMPTS: usize = 3;

// Guarantee: W-11
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_is_asked_to_end_hands_over_ends_its_watches_and_exits_with_zero() {
    let mut cluster = Cluster::start().await;
    let watchers = watch_each(&cluster).await;
    let mut writers = Writers::start(&cluster).await;
    for round in 0..rounds(2) {
        let mut attempts = 0;
        while !hands_over(&mut cluster, &mut writers).await {
            attempts += 1;
            assert!(attempts < ATTEMPTS, "round {round}: nobody takes over");
        }
    }
    check(cluster, writers, watchers).await;
}

/// Ends the leader and starts it again. Returns whether another replica had taken over before it ended: on a busy machine that
/// may take longer than a leader waits for it, or another one leads before it is asked to.
async fn hands_over(cluster: &mut Cluster, writers: &mut Writers) -> bool {
    writers.acknowledge(30).await;
    let leader = cluster.leader().await;
    let from = agree(cluster).await.next();
    let (opening, opened) = oneshot::channel();
    let watching = tokio::spawn(last_message(cluster.endpoint(leader), from, opening));
    within("a watch", opened).await.expect("it is opened");
    writers.acknowledge(10).await;
    let before = cluster.log(leader);
    let (led, _) = last_known(&before);
    let asked = Instant::now();
    let status = cluster.terminate(leader).await;
    assert_eq!(status.code(), Some(0), "{status}");
    // No election timeout passes: the next leader took over before the process ended. It is told by the one that ended, since
    // the next one may have lost the leadership by now.
    let log = cluster.log(leader);
    let (next, told) = last_known(&log);
    if next == Some(leader) {
        let has_waited = in_vain(&log) > in_vain(&before);
        assert!(has_waited, "it waits for nobody: {told}");
    }
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
        "replica {leader} ended, {next:?} had taken over, {}",
        gap(&writers.calls(), asked)
    );
    cluster.restart(leader).await;
    led == Some(leader) && next.is_some_and(|next| next != leader)
}

/// How often a replica has waited in vain for another one to take over, by its log.
fn in_vain(log: &str) -> usize {
    log.matches("the leadership was not handed over").count()
}

/// Which replica leads as the one with this log last knew it, and the line that says so.
fn last_known(log: &str) -> (Option<u64>, &str) {
    let mut lines = log.lines();
    let told = lines.rfind(|line| line.contains("the leadership changed"));
    let told = told.expect("every replica knows a leader at first");
    let id = told.split_once("leader=Some(");
    let id = id.and_then(|(_, id)| id.split_once(')'));
    (id.and_then(|(id, _)| id.parse().ok()), told)
}

/// Reads a watch to its end, and says when it is open. Returns its last message, and the last revision that was delivered before.
async fn last_message(
    endpoint: String,
    from: Revision,
    opening: oneshot::Sender<()>,
) -> (Option<Message>, u64) {
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
    opening.send(()).expect("somebody waits for it");
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
