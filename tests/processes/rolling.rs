//! All replicas are restarted one after the other, as an upgrade does, while clients write and watch.

use tokio::time::Instant;

use crate::agreement::agree;
use crate::cluster::{Cluster, IDS};
use crate::durability::{gap, newest};
use crate::followers::Followers;
use crate::history::{Call, Told};
use crate::waiting::rounds;
use crate::watcher::Watcher;
use crate::writers::Writers;

/// Each replica gets SIGTERM, ends in order and starts again. A leader hands over first. No client notices: every call is
/// answered, and 100 watches by the client library deliver every event once, in order.
// Guarantee: W-12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rolling_restart_fails_no_call_and_no_watch() {
    let mut cluster = Cluster::start().await;
    let from = agree(&cluster).await.next();
    let watcher = Watcher::start(cluster.endpoints(), from);
    let followers = Followers::start(&cluster, from).await;
    let mut writers = Writers::start_patient(&cluster).await;
    writers.acknowledge(40).await;
    for round in 0..rounds(2) {
        for id in IDS {
            let leader = cluster.leader().await;
            let asked = Instant::now();
            let status = cluster.terminate(id).await;
            assert_eq!(status.code(), Some(0), "{status}");
            writers.acknowledge(20).await;
            let calls = writers.calls();
            let led = if id == leader { "led" } else { "followed" };
            println!(
                "round {round}: replica {id}, which {led}, ended, {}",
                gap(&calls, asked)
            );
            cluster.restart(id).await;
            writers.acknowledge(20).await;
            watcher.reached(newest(&calls)).await;
        }
    }
    let written = writers.stop().await;
    let failed: Vec<&Call> = written
        .calls
        .iter()
        .filter(|call| has_failed(call))
        .collect();
    assert!(failed.is_empty(), "calls failed: {failed:#?}");
    let end = agree(&cluster).await;
    watcher.reached(end).await;
    let log = watcher.log().clone();
    let (watches, events) = followers.check(end, &log).await;
    let tally = written.check(&cluster, &log).await;
    println!("{tally:?}, {watches} watches delivered {events} events");
    cluster.finish().await;
}

/// Whether the client library gave a call up.
fn has_failed(call: &Call) -> bool {
    match call.told {
        Told::NotExecuted(_) | Told::Unknown(_) | Told::Refused(_) => true,
        Told::Done(_) | Told::Seen { .. } | Told::Lost(_) => false,
    }
}
