//! Tests of how fresh and how exact reads are.

use synod_proto::v1;
use synod_proto::v1::cluster_client::ClusterClient;
use tonic::transport::Channel;

use crate::answers::{hurried, of_replica};
use crate::cluster::{Clients, Cluster, get_deployments, reason};

fn at(revision: u64) -> Option<v1::ReadOptions> {
    Some(v1::ReadOptions {
        at_revision: Some(revision),
        ..v1::ReadOptions::default()
    })
}

async fn common(
    clients: &mut Clients,
    read: Option<v1::ReadOptions>,
) -> Result<Option<String>, tonic::Status> {
    let found = clients
        .storage_versions
        .get(get_deployments(read))
        .await?
        .into_inner();
    Ok(found
        .storage_version
        .and_then(|version| version.status.unwrap().common_encoding_version))
}

async fn keep_revisions(cluster: &mut ClusterClient<Channel>, history_revisions: u64) -> u64 {
    let patch = v1::SettingsPatch {
        history_revisions: Some(history_revisions),
        ..v1::SettingsPatch::default()
    };
    let request = v1::ClusterUpdateSettingsRequest {
        patch: Some(patch),
        ..v1::ClusterUpdateSettingsRequest::default()
    };
    cluster
        .update_settings(request)
        .await
        .unwrap()
        .into_inner()
        .header
        .unwrap()
        .revision
}

// Guarantee: R-06
#[tokio::test(flavor = "multi_thread")]
async fn a_read_at_a_revision_gives_the_state_of_then_on_every_replica() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(1).await;
    let member = clients.join("server-a", 60_000).await;
    let first = clients.report(&member, "apps/v1").await;
    let second = clients.report(&member, "apps/v2").await;
    for id in cluster.ids() {
        let mut clients = cluster.clients(id).await;
        assert_eq!(
            common(&mut clients, at(second)).await.unwrap().as_deref(),
            Some("apps/v2")
        );
        assert_eq!(
            common(&mut clients, at(first)).await.unwrap().as_deref(),
            Some("apps/v1")
        );
        assert_eq!(
            reason(&common(&mut clients, at(member.epoch)).await.unwrap_err()),
            "NOT_FOUND"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_that_left_the_window_is_compacted_and_one_to_come_is_in_the_future() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let member = clients.join("server-a", 60_000).await;
    let first = clients.report(&member, "apps/v1").await;
    keep_revisions(&mut clients.cluster, 1).await;
    let newest = clients.report(&member, "apps/v2").await;

    let compacted = common(&mut clients, at(first)).await.unwrap_err();
    assert_eq!(reason(&compacted), "COMPACTED");
    let oldest = synod_proto::status::from_status(&compacted).metadata["oldest_revision"]
        .parse()
        .unwrap();
    assert!(oldest > first && oldest <= newest);
    assert!(common(&mut clients, at(oldest)).await.is_ok());

    let future = common(&mut clients, at(newest + 1)).await.unwrap_err();
    assert_eq!(reason(&future), "FUTURE_REVISION");
    assert_eq!(
        synod_proto::status::from_status(&future).metadata["current_revision"],
        newest.to_string()
    );
}

// Guarantee: R-07
#[tokio::test(flavor = "multi_thread")]
async fn a_read_from_a_revision_on_sees_ones_own_write_on_any_replica() {
    let cluster = Cluster::start(3).await;
    let mut writer = cluster.clients(1).await;
    let member = writer.join("server-a", 60_000).await;
    for round in 0..10 {
        let version = if round % 2 == 0 { "apps/v1" } else { "apps/v2" };
        let revision = writer.report(&member, version).await;
        for id in cluster.ids() {
            let mut clients = cluster.clients(id).await;
            let read = v1::ReadOptions {
                min_revision: Some(revision),
                ..v1::ReadOptions::default()
            };
            assert_eq!(
                common(&mut clients, Some(read)).await.unwrap().as_deref(),
                Some(version)
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_does_not_come_to_a_revision_in_time_says_so() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let refused = hurried("the refusal of a read", async |patience| {
        let read = v1::ReadOptions {
            min_revision: Some(1_000_000),
            ..v1::ReadOptions::default()
        };
        let mut request = tonic::Request::new(get_deployments(Some(read)));
        request.set_timeout(patience);
        of_replica(clients.storage_versions.get(request).await)
    });
    assert_eq!(reason(&refused.await.unwrap_err()), "DEADLINE_EXCEEDED");
}

// Guarantee: R-07
#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_may_be_stale_says_how_old_it_is() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(cluster.follower().await).await;
    let member = clients.join("server-a", 60_000).await;
    clients.report(&member, "apps/v1").await;
    let read = v1::ReadOptions {
        max_staleness_ms: Some(5_000),
        ..v1::ReadOptions::default()
    };
    let found = clients
        .storage_versions
        .get(get_deployments(Some(read)))
        .await
        .unwrap()
        .into_inner();
    assert!(found.header.unwrap().age_ms.unwrap() <= 5_000);
    let found = clients
        .storage_versions
        .get(get_deployments(None))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(found.header.unwrap().age_ms, None);
}

// Guarantee: R-03
#[tokio::test(flavor = "multi_thread")]
async fn many_reads_at_once_are_all_answered_and_none_from_the_past() {
    let cluster = Cluster::start(3).await;
    let mut writer = cluster.clients(1).await;
    let member = writer.join("server-a", 60_000).await;
    let revision = writer.report(&member, "apps/v1").await;
    let mut readers = tokio::task::JoinSet::new();
    for id in cluster.ids() {
        let clients = cluster.clients(id).await;
        for _ in 0..50 {
            let mut clients = clients.clone();
            readers.spawn(async move {
                let found = clients
                    .storage_versions
                    .get(get_deployments(None))
                    .await
                    .unwrap()
                    .into_inner();
                found.header.unwrap().revision
            });
        }
    }
    while let Some(read) = readers.join_next().await {
        assert!(read.unwrap() >= revision);
    }
}
