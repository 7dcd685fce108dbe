//! Objects survive when replicas are killed, and a watch of objects alone misses no change.

use synod_proto::v1::ObjectKind;

use crate::agreement::agree;
use crate::cluster::{Cluster, IDS};
use crate::durability::newest;
use crate::watch_log::compare;
use crate::watcher::Watcher;
use crate::writers::Writers;

// Guarantee: O-05
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_of_objects_alone_has_no_gap_when_the_leader_and_then_all_are_killed() {
    let mut cluster = Cluster::start().await;
    let from = agree(&cluster).await.next();
    let kinds = [ObjectKind::Object];
    let objects = Watcher::of_kinds(cluster.endpoints(), from, &kinds);
    let everything = Watcher::start(cluster.endpoints(), from);
    let mut writers = Writers::start(&cluster).await;
    writers.acknowledge(60).await;

    let leader = cluster.leader().await;
    cluster.kill(leader).await;
    writers.acknowledge(60).await;
    // A watch of objects alone, at another replica, sees the acknowledged changes.
    objects.reached(newest(&writers.calls())).await;
    cluster.restart(leader).await;

    writers.acknowledge(60).await;
    cluster.kill_all().await;
    IDS.into_iter().for_each(|id| cluster.launch(id));
    writers.acknowledge(60).await;

    let written = writers.stop().await;
    let end = agree(&cluster).await;
    everything.reached(end).await;
    objects.reached(end).await;
    let log = everything.log().clone();
    let alone = objects.log().clone();
    let same = compare(&log.only(&kinds), &alone).unwrap_or_else(|fault| panic!("{fault}"));
    assert!(same > 0, "no object changed");
    let tally = written.check(&cluster, &log).await;
    println!("{tally:?}, {same} revisions with objects");
    cluster.finish().await;
}
