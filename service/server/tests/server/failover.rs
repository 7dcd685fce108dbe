//! Tests of what clients see when the leader ends.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use synod_proto::v1;
use tokio::task::JoinSet;

use crate::answers::is_passing;
use crate::cluster::{Cluster, get_member, join, reason, within};

/// Joins one member after the other until told to stop; returns the ids that were acknowledged.
async fn write_until(
    stop: Arc<AtomicBool>,
    mut clients: crate::cluster::Clients,
    name: String,
) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let id = format!("server-{name}-{number}");
        match clients.membership.join(join(&id, 60_000)).await {
            Ok(_) => acknowledged.push(id),
            // An unknown outcome is not reported as a failure.
            Err(status) => assert!(is_passing(reason(&status)), "{status:?}"),
        }
    }
    acknowledged
}

// Guarantee: W-01
#[tokio::test(flavor = "multi_thread")]
async fn no_acknowledged_write_is_lost_when_the_leader_is_killed() {
    let mut cluster = Cluster::start(3).await;
    let leader = cluster.leader().await;
    let others: Vec<u64> = cluster
        .ids()
        .into_iter()
        .filter(|id| *id != leader)
        .collect();
    let stop = Arc::new(AtomicBool::new(false));
    let mut writers = JoinSet::new();
    for id in &others {
        for writer in 0..4 {
            let clients = cluster.clients(*id).await;
            writers.spawn(write_until(
                Arc::clone(&stop),
                clients,
                format!("{id}-{writer}"),
            ));
        }
    }
    let mut clients = cluster.clients(others[0]).await;
    within("some writes", clients.join("server-before", 60_000)).await;
    cluster.kill(leader);
    within("a write without the old leader", async {
        while clients
            .membership
            .join(join("server-after", 60_000))
            .await
            .is_err()
        {}
    })
    .await;
    stop.store(true, Ordering::Relaxed);
    let mut acknowledged = BTreeSet::from(["server-before".to_owned(), "server-after".to_owned()]);
    while let Some(writer) = within("the writers", writers.join_next()).await {
        acknowledged.extend(writer.unwrap());
    }
    assert!(acknowledged.len() > 10);
    for id in &others {
        let mut clients = cluster.clients(*id).await;
        for member in &acknowledged {
            let found = clients.membership.get(get_member(member)).await;
            assert!(found.is_ok(), "replica {id} has lost {member}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_writers_on_all_replicas_share_entries_and_each_gets_its_own_answer() {
    let cluster = Cluster::start(3).await;
    let mut writers = JoinSet::new();
    for replica in cluster.ids() {
        let clients = cluster.clients(replica).await;
        for writer in 0..60 {
            let mut clients = clients.clone();
            writers.spawn(async move {
                let id = format!("server-{replica}-{writer}");
                let joined = clients
                    .membership
                    .join(join(&id, 60_000))
                    .await
                    .unwrap()
                    .into_inner();
                (id, joined.epoch)
            });
        }
    }
    let mut epochs = BTreeSet::new();
    let mut clients = cluster.clients(1).await;
    while let Some(joined) = within("the writers", writers.join_next()).await {
        let (id, epoch) = joined.unwrap();
        let member = clients
            .membership
            .get(get_member(&id))
            .await
            .unwrap()
            .into_inner()
            .member
            .unwrap();
        assert_eq!(member.epoch, epoch);
        assert!(epochs.insert(epoch), "two members have one epoch");
    }
    assert_eq!(epochs.len(), 180);
    let status = clients
        .cluster
        .status(v1::ClusterStatusRequest {})
        .await
        .unwrap()
        .into_inner();
    // Each entry holds many commands, so the log has fewer entries than there were writes.
    assert!(
        status.applied_index < 180,
        "{} entries",
        status.applied_index
    );
}
