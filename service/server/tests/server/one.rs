//! Tests with a cluster of one replica.

use synod_proto::v1;
use synod_proto::v1::watch_response::Message;

use crate::cluster::{Cluster, get_deployments, get_member, next, next_events, reason};

#[tokio::test(flavor = "multi_thread")]
async fn a_member_joins_reports_and_is_found_again() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let mut watch = clients.watch(None).await;
    let Message::Bookmark(begin) = next(&mut watch).await else {
        panic!("a watch begins with a bookmark")
    };

    let member = clients.join("server-a", 15_000).await;
    let reported_at = clients.report(&member, "apps/v1").await;
    assert!(member.epoch > begin.revision && reported_at > member.epoch);

    let found = clients
        .membership
        .get(get_member("server-a"))
        .await
        .unwrap()
        .into_inner();
    let found_member = found.member.unwrap();
    assert_eq!(
        (found_member.epoch, found_member.reported),
        (member.epoch, true)
    );
    assert!(found.remaining_ms.unwrap() <= 15_000);

    let found = clients
        .storage_versions
        .get(get_deployments(None))
        .await
        .unwrap()
        .into_inner();
    let status = found.storage_version.unwrap().status.unwrap();
    assert_eq!(status.common_encoding_version.as_deref(), Some("apps/v1"));
    assert_eq!(status.agreed_version.as_deref(), Some("apps/v1"));

    let joined = next_events(&mut watch).await;
    assert_eq!(
        (joined.revision, joined.events[0].name.as_str()),
        (member.epoch, "server-a")
    );
    let reported = next_events(&mut watch).await;
    assert_eq!(reported.revision, reported_at);
    let names: Vec<&str> = reported
        .events
        .iter()
        .map(|event| event.name.as_str())
        .collect();
    assert!(
        names.contains(&"apps.deployments") && names.contains(&"deployments.apps"),
        "{names:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_there_after_a_restart() {
    let mut cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let member = clients.join("server-a", 60_000).await;
    let revision = clients.report(&member, "apps/v1").await;
    cluster.shutdown(1).await;

    cluster.restart(1).await;
    cluster.serving(1).await;
    let mut clients = cluster.clients(1).await;
    let found = clients
        .storage_versions
        .get(get_deployments(None))
        .await
        .unwrap()
        .into_inner();
    assert!(found.header.unwrap().revision >= revision);
    assert_eq!(found.storage_version.unwrap().entries[0].member, "server-a");
    let mut watch = clients.watch(Some(member.epoch)).await;
    assert_eq!(next_events(&mut watch).await.revision, member.epoch);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_is_refused_by_name_and_rule() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let stranger = v1::MemberEpoch {
        member: "nobody".to_owned(),
        epoch: 7,
        cluster_id: String::new(),
    };
    let refused = clients
        .storage_versions
        .report(crate::cluster::report(
            &stranger,
            vec![crate::cluster::entry("deployments", "apps/v1")],
        ))
        .await
        .unwrap_err();
    assert_eq!(reason(&refused), "NOT_A_MEMBER");
    let refused = clients
        .storage_versions
        .get(get_deployments(None))
        .await
        .unwrap_err();
    assert_eq!(reason(&refused), "NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn log_time_goes_on_although_nobody_asks_for_anything() {
    let cluster = Cluster::start(1).await;
    let mut clients = cluster.clients(1).await;
    let member = clients.join("server-a", 1_000).await;
    let mut watch = clients.watch(Some(member.epoch + 1)).await;
    loop {
        let events = next_events(&mut watch).await.events;
        if events.iter().any(|event| event.name == "server-a") {
            assert_eq!(events[0].r#type(), v1::EventType::Removed);
            break;
        }
    }
}
