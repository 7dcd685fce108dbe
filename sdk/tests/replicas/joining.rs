//! Joining and reporting while other clients have used up the room for sessions and requests.

use std::time::Duration;

use synod_client::{
    Client, ErrorKind, JoinOptions, Membership, ReadOptions, Revision, Settings, SettingsPatch, Ttl,
};
use tokio::task::JoinSet;

use crate::cluster::{Cluster, fixed, id, legal, resource, within};

/// Joins, reports and becomes ready, and may write then.
async fn begins(client: &Client, member: &str) -> Membership {
    let options = JoinOptions::new(id(member)).ttl(legal(Ttl::from_millis(6_000)));
    let membership = within(client.join(options)).await.unwrap();
    let entries = vec![fixed("pods", &["v1"], "v1")];
    within(membership.report(entries)).await.unwrap();
    within(membership.ready()).await.unwrap();
    let permit = within(membership.gate().permit(&resource("pods"))).await;
    permit.unwrap().done();
    membership
}

// Guarantee: M-08
#[tokio::test(start_paused = true)]
async fn a_server_joins_and_reports_when_all_sessions_are_taken() {
    let cluster = Cluster::start_with(
        3,
        Settings {
            sessions_max: 1,
            ..Settings::default()
        },
    )
    .await;
    let other = cluster.client().await;
    let patch = |write_grace| SettingsPatch {
        write_grace: Some(Duration::from_secs(write_grace)),
        ..SettingsPatch::default()
    };
    within(other.update_settings(patch(30), None))
        .await
        .unwrap();

    let client = cluster.client().await;
    let refused = within(client.update_settings(patch(31), None)).await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Quota);
    let membership = begins(&client, "a").await;
    within(membership.leave(Duration::ZERO)).await.unwrap();
}

// Guarantee: M-08
#[tokio::test(start_paused = true)]
async fn a_server_joins_and_reports_under_a_flood_of_ordinary_requests() {
    let cluster = Cluster::start(1).await;
    let mut flood = JoinSet::new();
    for _ in 0..5 {
        let client = cluster.client().await.with_timeout(Duration::from_secs(60));
        // Waits for a revision that never comes, and so holds its place in the queue.
        let never = ReadOptions::min_revision(Revision::new(1_000_000));
        for _ in 0..1_000 {
            let client = client.clone();
            flood.spawn(async move { client.settings(never).await });
        }
    }
    let client = cluster.client().await.with_timeout(Duration::from_secs(2));
    let refused = within(async {
        loop {
            match client.settings(ReadOptions::default()).await {
                Ok(_) => tokio::task::yield_now().await,
                Err(error) => return error,
            }
        }
    });
    assert_eq!(refused.await.kind(), ErrorKind::Overloaded);
    let client = cluster.client().await;
    let _membership = begins(&client, "a").await;
    assert_eq!(flood.try_join_next().map(drop), None, "the flood has ended");
}
