//! Tests with a cluster of three replicas.

use synod_proto::v1;
use synod_proto::v1::watch_response::Message;

use crate::cluster::{Cluster, get_deployments, get_member, join, next, next_events, within};

// Guarantee: R-03
#[tokio::test(flavor = "multi_thread")]
async fn every_replica_takes_changes_and_sees_those_of_the_others_at_once() {
    let cluster = Cluster::start(3).await;
    let mut last = None;
    for id in cluster.ids() {
        let mut clients = cluster.clients(id).await;
        let member = clients.join(&format!("server-{id}"), 15_000).await;
        last = Some((member.epoch, clients.report(&member, "apps/v1").await));
    }
    let (_, revision) = last.unwrap();
    for id in cluster.ids() {
        let mut clients = cluster.clients(id).await;
        let found = clients
            .storage_versions
            .get(get_deployments(None))
            .await
            .unwrap()
            .into_inner();
        assert!(
            found.header.unwrap().revision >= revision,
            "replica {id} answers from the past"
        );
        assert_eq!(found.storage_version.unwrap().entries.len(), 3);
    }
}

// Guarantee: W-09
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_never_precedes_its_own_event_on_the_replica_that_gives_it() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(cluster.follower().await).await;
    for round in 0..20 {
        let joined = clients
            .membership
            .join(join(&format!("server-{round}"), 15_000))
            .await;
        let revision = joined.unwrap().into_inner().header.unwrap().revision;
        // A read from what this replica itself has applied, without asking the leader.
        let mut status = clients.cluster.clone();
        let seen = status
            .status(v1::ClusterStatusRequest {})
            .await
            .unwrap()
            .into_inner();
        assert!(seen.header.unwrap().revision >= revision);
    }
}

// Guarantee: E-01
#[tokio::test(flavor = "multi_thread")]
async fn a_watch_goes_on_on_another_replica_without_a_gap_or_a_repetition() {
    let mut cluster = Cluster::start(3).await;
    let first = cluster.follower().await;
    let other = cluster.ids().into_iter().find(|id| *id != first).unwrap();
    let mut writer = cluster.clients(other).await;
    let mut clients = cluster.clients(first).await;
    let mut watch = clients.watch(None).await;

    let mut joined = Vec::new();
    for round in 0..5 {
        joined.push(writer.join(&format!("server-{round}"), 60_000).await.epoch);
    }
    for epoch in &joined {
        assert_eq!(next_events(&mut watch).await.revision, *epoch);
    }
    cluster.shutdown(first).await;
    let ended = loop {
        match next(&mut watch).await {
            Message::Ended(ended) => break ended,
            Message::Bookmark(_) => {}
            other => panic!("no end but {other:?}"),
        }
    };
    assert_eq!(ended.reason(), v1::WatchEndReason::Shutdown);
    assert!(ended.resume_revision > joined[4]);

    let epoch = writer.join("server-late", 60_000).await.epoch;
    let mut clients = cluster.clients(other).await;
    let mut watch = clients.watch(Some(ended.resume_revision)).await;
    let mut seen = next_events(&mut watch).await.revision;
    while seen < epoch {
        let next = next_events(&mut watch).await.revision;
        assert!(next > seen);
        seen = next;
    }
    assert_eq!(seen, epoch);
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_go_on_when_the_leader_is_shut_down() {
    let mut cluster = Cluster::start(3).await;
    let leader = cluster.leader().await;
    let other = cluster.ids().into_iter().find(|id| *id != leader).unwrap();
    let mut clients = cluster.clients(other).await;
    let before = clients.join("server-before", 60_000).await;
    cluster.shutdown(leader).await;
    // Sent once, since a write waits for the next leader by itself.
    let after = clients.membership.join(join("server-after", 60_000));
    let after = within("a write", after).await.unwrap().into_inner();
    assert!(after.epoch > before.epoch);
    let found = clients
        .membership
        .get(get_member("server-before"))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(found.member.unwrap().epoch, before.epoch);

    cluster.restart(leader).await;
    cluster.serving(leader).await;
    let mut clients = cluster.clients(leader).await;
    let found = clients
        .membership
        .get(get_member("server-after"))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(found.member.unwrap().epoch, after.epoch);
}
