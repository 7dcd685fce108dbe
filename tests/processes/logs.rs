//! A request keeps its id in the logs of all replicas that it passes.

use synod_proto::v1;

use crate::cluster::Cluster;
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
