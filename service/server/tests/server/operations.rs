//! Tests of what operators use (health, status, metrics, reflection), and of the answers to malformed calls.

use std::time::Duration;

use futures::stream;
use synod_machine::MACHINE_VERSION;
use synod_proto::v1;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_reflection::pb::v1::{ServerReflectionRequest, ServerReflectionResponse};

use crate::answers::{hurried, of_replica};
use crate::cluster::{Cluster, entry, get_member, join, metrics, reason, report, shown, within};

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_has_proved_its_state_lately_is_healthy() {
    let cluster = Cluster::start(3).await;
    for id in cluster.ids() {
        let mut health = HealthClient::new(cluster.connect(id).await);
        for service in ["", "synod.v1.Watch", "synod.v1.Leases", "synod.v1.Objects"] {
            let request = HealthCheckRequest {
                service: service.to_owned(),
            };
            let checked = health.check(request).await.unwrap().into_inner();
            assert_eq!(checked.status(), ServingStatus::Serving);
        }
        let unknown = health
            .check(HealthCheckRequest {
                service: "synod.v1.Nothing".to_owned(),
            })
            .await;
        assert_eq!(unknown.unwrap_err().code(), Code::NotFound);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_without_a_quorum_is_not_healthy_and_answers_nothing_linearizable() {
    let mut cluster = Cluster::start_usual(3).await;
    let left = cluster.follower().await;
    let mut health = HealthClient::new(cluster.connect(left).await);
    let mut changes = health
        .watch(HealthCheckRequest::default())
        .await
        .unwrap()
        .into_inner();
    let first = within("the health", changes.message())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(first.status(), ServingStatus::Serving);
    for id in cluster.ids() {
        if id != left {
            cluster.shutdown(id).await;
        }
    }
    let then = within("the change of health", changes.message())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(then.status(), ServingStatus::NotServing);

    let mut clients = cluster.clients(left).await;
    let read = clients
        .membership
        .get(get_member("server-a"))
        .await
        .unwrap_err();
    assert_eq!(reason(&read), "UNAVAILABLE");
    let written = clients
        .membership
        .join(join("server-a", 60_000))
        .await
        .unwrap_err();
    assert_eq!(reason(&written), "UNAVAILABLE");
    assert_eq!(
        synod_proto::status::from_status(&written).metadata["not_executed"],
        "true"
    );
    let written = hurried("the refusal of a write", async |patience| {
        let mut request = tonic::Request::new(join("server-a", 60_000));
        request.set_timeout(patience);
        of_replica(clients.membership.join(request).await)
    });
    let written = written.await.unwrap_err();
    assert_eq!(
        synod_proto::status::from_status(&written).metadata["not_executed"],
        "true"
    );
    let status = clients
        .cluster
        .status(v1::ClusterStatusRequest {})
        .await
        .unwrap()
        .into_inner();
    assert_eq!(
        status.cluster_name, "test",
        "what needs no quorum is answered"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_names_every_replica_and_where_clients_reach_it() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(cluster.leader().await).await;
    let status = within("all announcements, and no alarm", async {
        loop {
            let status = clients
                .cluster
                .status(v1::ClusterStatusRequest {})
                .await
                .unwrap()
                .into_inner();
            let mut replicas = status.replicas.iter();
            let announced = replicas.all(|replica| !replica.client_address.is_empty());
            if announced && status.alarms.is_empty() {
                return status;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(status.replicas.len(), 3);
    for replica in &status.replicas {
        assert_eq!(replica.role(), v1::ReplicaRole::Voter);
        assert_eq!(replica.directory_id.len(), 32);
        assert!(replica.machine_version > 0);
    }
    assert!(status.digest_index > 0 && status.digest.len() == 32);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_cluster_has_all_that_its_release_brings_once_it_serves() {
    // So slow that health checks fall between what a new cluster writes first, and fast enough for elections.
    for (count, millis) in [(1, 300), (3, 100)] {
        let cluster = Cluster::start_slow(count, Duration::from_millis(millis)).await;
        for replica in 1..=count {
            let mut clients = cluster.clients(replica).await;
            let status = clients.cluster.status(v1::ClusterStatusRequest {}).await;
            let in_force = status.unwrap().into_inner().machine_version;
            assert_eq!(in_force, MACHINE_VERSION, "replica {replica} of {count}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_have_the_names_of_etcd_where_they_mean_the_same() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let member = clients.join("server-a", 60_000).await;
    clients.report(&member, "apps/v1").await;
    let ready = v1::MembershipReadyRequest {
        request_id: None,
        member: Some(member),
    };
    clients.membership.ready(ready).await.unwrap();
    let text = metrics(cluster.metrics_address(1)).await;
    for line in [
        "etcd_server_has_leader 1",
        "etcd_server_is_leader 1",
        "synod_members 1",
        "synod_storage_versions 1",
        "synod_disagreements 0",
        "synod_log_chore_failed 0",
        "etcd_server_proposals_pending 0",
        "synod_connections{door=\"client\"} 1",
        "synod_member_join_to_ready_seconds_count 1",
        "grpc_server_handled_total{grpc_service=\"synod.v1.Membership\",grpc_method=\"Join\",grpc_code=\"OK\"} 1",
    ] {
        assert!(
            text.lines().any(|found| found == line),
            "no line {line} in\n{text}"
        );
    }
    let flushes = text
        .lines()
        .find_map(|line| line.strip_prefix("etcd_disk_wal_fsync_duration_seconds_count "));
    assert!(flushes.unwrap().parse::<u64>().unwrap() > 0, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_tell_how_far_the_other_replicas_are_and_what_the_process_uses() {
    let cluster = Cluster::start(3).await;
    for to in ["2", "3"] {
        let prefix = format!("etcd_network_peer_round_trip_time_seconds_count{{To=\"{to}\"}} ");
        positive(&cluster, &prefix).await;
    }
    if cfg!(target_os = "linux") {
        for name in [
            "process_cpu_seconds_total ",
            "process_resident_memory_bytes ",
            "process_virtual_memory_bytes ",
            "process_open_fds ",
            "process_max_fds ",
            "process_threads ",
            "process_start_time_seconds ",
        ] {
            positive(&cluster, name).await;
        }
    }
}

/// Waits until the metric is above zero.
async fn positive(cluster: &Cluster, name: &str) {
    let looking = async {
        loop {
            let text = metrics(cluster.metrics_address(1)).await;
            let mut lines = text.lines();
            let value = lines.find_map(|line| line.strip_prefix(name)?.parse::<f64>().ok());
            if value.is_some_and(|value| value > 0.0) {
                return;
            }
        }
    };
    within(name, looking).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn how_long_members_disagree_is_counted_once_they_agree() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let first = clients.join("server-a", 60_000).await;
    let second = clients.join("server-b", 60_000).await;
    clients.report(&first, "apps/v1").await;
    clients.report(&second, "apps/v2").await;
    shown(&cluster, "synod_disagreements 1").await;
    shown(&cluster, "synod_disagreement_seconds_count 0").await;
    clients.report(&second, "apps/v1").await;
    shown(&cluster, "synod_disagreements 0").await;
    // The metric follows the history, a moment after the change is published.
    shown(&cluster, "synod_disagreement_seconds_count 1").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reflection_lists_every_service() {
    let cluster = Cluster::start(1).await;
    let mut reflection = ServerReflectionClient::new(cluster.connect(1).await);
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let mut answers = reflection
        .server_reflection_info(stream::iter([request]))
        .await
        .unwrap()
        .into_inner();
    let answer: ServerReflectionResponse = answers.message().await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else {
        panic!("a list of services, not {answer:?}")
    };
    let names: Vec<String> = list
        .service
        .into_iter()
        .map(|service| service.name)
        .collect();
    for service in [
        "Cluster",
        "Membership",
        "Sessions",
        "StorageVersions",
        "Watch",
    ] {
        assert!(names.contains(&format!("synod.v1.{service}")), "{names:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_that_says_no_time_is_refused() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let mut request = tonic::Request::new(get_member("server-a"));
    request
        .metadata_mut()
        .insert("grpc-timeout", "soon".parse().unwrap());
    let refused = clients.membership.get(request).await.unwrap_err();
    assert_eq!(reason(&refused), "INVALID_ARGUMENT");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_keeps_its_name() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let mut request = tonic::Request::new(join("server-a", 60_000));
    request
        .metadata_mut()
        .insert("x-request-id", "deploy-7".parse().unwrap());
    let answered = clients.membership.join(request).await.unwrap();
    assert_eq!(answered.metadata().get("x-request-id").unwrap(), "deploy-7");
    let answered = clients
        .membership
        .join(join("server-b", 60_000))
        .await
        .unwrap();
    assert!(!answered.metadata().get("x-request-id").unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_too_long_is_refused_as_such() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let long = v1::MembershipGetRequest {
        id: "x".repeat(2 << 20),
        read: None,
    };
    assert_eq!(
        reason(&clients.membership.get(long).await.unwrap_err()),
        "TOO_LARGE"
    );
    // A report may be longer than other requests.
    let member = clients.join("server-a", 60_000).await;
    let mut large = entry("deployments", "apps/v1");
    large.kind = "K".repeat(2 << 20);
    let refused = clients
        .storage_versions
        .report(report(&member, vec![large]))
        .await
        .unwrap_err();
    assert_eq!(reason(&refused), "INVALID_ARGUMENT");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_changed_only_from_where_they_are_and_every_fault_is_named() {
    let cluster = Cluster::start(3).await;
    let mut clients = cluster.clients(cluster.follower().await).await;
    let update = |patch, if_revision| v1::ClusterUpdateSettingsRequest {
        request_id: None,
        patch,
        if_revision,
        dry_run: false,
    };
    let patch = v1::SettingsPatch {
        members_max: Some(77),
        ..v1::SettingsPatch::default()
    };
    let changed = clients
        .cluster
        .update_settings(update(Some(patch.clone()), None))
        .await
        .unwrap()
        .into_inner();
    assert!(changed.changed);
    let found = clients
        .cluster
        .get_settings(v1::ClusterGetSettingsRequest { read: None })
        .await
        .unwrap()
        .into_inner();
    let settings = found.settings.unwrap();
    assert_eq!(
        (settings.members_max, settings.resource_version),
        (77, changed.header.unwrap().revision)
    );

    let stale = clients
        .cluster
        .update_settings(update(Some(patch), Some(1)))
        .await
        .unwrap_err();
    assert_eq!(reason(&stale), "CONFLICT");
    let current = synod_proto::status::from_status(&stale).current;
    assert!(
        matches!(current.as_deref(), Some(synod_model::Current::Settings(now)) if now.members_max == 77)
    );

    let faulty = v1::SettingsPatch {
        members_max: Some(0),
        sessions_max: Some(0),
        ..v1::SettingsPatch::default()
    };
    let refused = clients
        .cluster
        .update_settings(update(Some(faulty), None))
        .await
        .unwrap_err();
    assert_eq!(
        synod_proto::status::from_status(&refused).violations.len(),
        2
    );
}
