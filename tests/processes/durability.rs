//! Acknowledged writes survive when replicas are killed.

use synod_client::Revision;
use tokio::time::Instant;

use crate::agreement::agree;
use crate::cluster::{Cluster, IDS};
use crate::history::{Call, Told};
use crate::waiting::rounds;
use crate::watch_log::compare;
use crate::watcher::Watcher;
use crate::writers::Writers;

// Guarantee: W-01
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_is_killed_loses_no_acknowledged_write() {
    let mut cluster = Cluster::start().await;
    let watchers = watch_each(&cluster).await;
    let mut writers = Writers::start(&cluster).await;
    for round in 0..rounds(3) {
        writers.acknowledge(40).await;
        let leader = cluster.leader().await;
        let killed = Instant::now();
        cluster.kill(leader).await;
        writers.acknowledge(40).await;
        let calls = writers.calls();
        println!(
            "round {round}: replica {leader} was killed, {}",
            gap(&calls, killed)
        );
        // The watches at the other replicas go on.
        let newest = newest(&calls);
        for (_, watcher) in watchers.iter().filter(|(id, _)| *id != leader) {
            watcher.reached(newest).await;
        }
        cluster.restart(leader).await;
    }
    check(cluster, writers, watchers).await;
}

// Guarantee: W-04, O-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_replicas_killed_at_once_lose_nothing_and_use_no_revision_again() {
    let mut cluster = Cluster::start().await;
    let watchers = watch_each(&cluster).await;
    let mut writers = Writers::start(&cluster).await;
    for round in 0..rounds(2) {
        writers.acknowledge(60).await;
        let killed = Instant::now();
        cluster.kill_all().await;
        let before = newest(&writers.calls());
        // In another order each time: the replica that starts first may have the shortest log.
        for place in 0..IDS.len() {
            cluster.launch(IDS[(place + round) % IDS.len()]);
        }
        writers.acknowledge(60).await;
        let calls = writers.calls();
        println!(
            "round {round}: all replicas were killed, {}",
            gap(&calls, killed)
        );
        let again = calls
            .iter()
            .find(|call| call.began > killed && done(call).is_some_and(|at| at <= before));
        assert!(
            again.is_none(),
            "revision {before} was acknowledged before all were killed: {again:?}"
        );
    }
    check(cluster, writers, watchers).await;
}

/// A watch of everything at each replica, all from one revision.
pub(crate) async fn watch_each(cluster: &Cluster) -> Vec<(u64, Watcher)> {
    let from = agree(cluster).await.next();
    IDS.map(|id| (id, Watcher::start(vec![cluster.endpoint(id)], from)))
        .into()
}

/// Stops everything, and checks that all answers and the events of all watches agree.
pub(crate) async fn check(cluster: Cluster, writers: Writers, watchers: Vec<(u64, Watcher)>) {
    let written = writers.stop().await;
    let end = agree(&cluster).await;
    for (_, watcher) in &watchers {
        watcher.reached(end).await;
    }
    let logs: Vec<_> = watchers
        .iter()
        .map(|(_, watcher)| watcher.log().clone())
        .collect();
    for log in &logs[1..] {
        compare(&logs[0], log).unwrap_or_else(|fault| panic!("{fault}"));
    }
    let tally = written.check(&cluster, &logs[0]).await;
    println!(
        "{tally:?}, {} revisions with events",
        logs[0].groups().len()
    );
    cluster.finish().await;
}

/// The revision of a change that was acknowledged.
fn done(call: &Call) -> Option<Revision> {
    match call.told {
        Told::Done(revision) => Some(revision),
        _ => None,
    }
}

/// The newest revision of an acknowledged change.
pub(crate) fn newest(calls: &[Call]) -> Revision {
    calls.iter().filter_map(done).max().unwrap_or_default()
}

/// The longest time after `since` without an acknowledged change, in words.
pub(crate) fn gap(calls: &[Call], since: Instant) -> String {
    let mut ends: Vec<Instant> = calls
        .iter()
        .filter(|call| done(call).is_some())
        .map(|call| call.ended)
        .collect();
    ends.retain(|end| *end > since);
    ends.push(since);
    ends.sort();
    let longest = ends
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .max()
        .unwrap_or_default();
    format!("no change was acknowledged for {longest:?}")
}
