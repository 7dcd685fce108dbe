//! What replicas log: a request keeps its id in the logs of all replicas that it passes, and a filter is changed for a while.

use synod_proto::v1;

use crate::cluster::Cluster;
use crate::commands::run;
use crate::requests::{Wire, timely};
use crate::waiting::eventually;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_has_its_id_in_the_log_of_the_leader_that_it_did_not_come_to() {
    let cluster = Cluster::start().await;
    let (leader, follower) = (cluster.leader().await, cluster.follower().await);
    let mut request = timely(v1::ClusterUpdateSettingsRequest {
        patch: Some(v1::SettingsPatch {
            members_max: Some(10_001),
            ..v1::SettingsPatch::default()
        }),
        ..v1::ClusterUpdateSettingsRequest::default()
    });
    let id = "rollout-2026-11-21";
    let header = id.parse().expect("a header takes it");
    request.metadata_mut().insert("x-request-id", header);
    let mut service = Wire::to(&cluster.endpoint(follower)).cluster();
    service
        .update_settings(request)
        .await
        .expect("a follower passes it on");
    for what in ["took a batch", "answered a batch"] {
        eventually("the request's id in the leader's log", async || {
            let log = cluster.log(leader);
            let named = |line: &&str| line.contains(what) && line.contains(id);
            log.lines()
                .find(named)
                .map(drop)
                .ok_or_else(|| format!("{} lines without it", log.lines().count()))
        })
        .await;
    }
    cluster.finish().await;
}

// Guarantee: F-02
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_logs_other_events_for_a_while_and_no_other_replica_does() {
    let cluster = Cluster::start().await;
    let endpoint = cluster.endpoint(1);
    let arguments = [
        "log-level",
        "h2=trace,off",
        "--for",
        "2s",
        "--endpoints",
        &endpoint,
    ];
    let output = run(&arguments).await;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(
        told.contains(&endpoint) && told.contains("h2=trace,off"),
        "{told}"
    );
    let client = cluster.client().await;
    for id in [2, 3] {
        let other = client.log_filter_of(&cluster.endpoint(id)).await;
        let other = other.expect("it answers").log_filter;
        assert_eq!(other.filter, other.configured);
        assert_eq!(other.remaining, None);
    }
    eventually("the configured filter", async || {
        let log = cluster.log(1);
        let is_back = log.contains("the configured log filter is back");
        let has_more = log
            .lines()
            .any(|line| line.contains("TRACE") && line.contains("h2"));
        (is_back && has_more)
            .then_some(())
            .ok_or_else(|| format!("{is_back} {has_more}"))
    })
    .await;
    let bad = run(&["log-level", "synod=loud", "--endpoints", &endpoint]).await;
    assert_eq!(bad.status.code(), Some(2), "{bad:?}");
    assert!(String::from_utf8_lossy(&bad.stderr).contains("filter: Invalid value"));
    cluster.finish().await;
}
