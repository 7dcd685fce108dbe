//! The callers of revisions are shown to those who may operate, and to no others.

use synod_proto::v1;
use synod_proto::v1::watch_client::WatchClient;
use synod_proto::v1::watch_response::Message;
use tonic::Request;

use super::of_folder;
use super::raw::Raw;
use crate::cluster::Cluster;
use crate::waiting::{eventually, within};

/// The identity of the admin's certificate.
const ADMIN: &str = "spiffe://synod/admin";

async fn ask<T: prost::Message + Default>(
    raw: &Raw,
    method: &str,
    request: &impl prost::Message,
) -> T {
    let answer = raw.unary(method, request.encode_to_vec().into()).await;
    T::decode(answer.expect("the caller may ask this")).expect("it is the answer")
}

/// The events of the revision, as a stream of the caller or a watch in its pipeline shows them.
async fn events(raw: &Raw, revision: u64, kinds: &[v1::ObjectKind]) -> v1::WatchEvents {
    let request = v1::WatchRequest {
        from_revision: Some(revision),
        filter: Some(v1::WatchFilter {
            kinds: kinds.iter().map(|kind| (*kind).into()).collect(),
            ..v1::WatchFilter::default()
        }),
        ..v1::WatchRequest::default()
    };
    let opened = WatchClient::new(raw.channel())
        .watch(Request::new(request))
        .await;
    let mut stream = opened.expect("the caller may watch").into_inner();
    loop {
        let message = within("the events", stream.message()).await;
        let message = message.expect("it is served").expect("it goes on");
        if let Some(Message::Events(events)) = message.message {
            assert_eq!(events.revision, revision);
            return events;
        }
    }
}

// Guarantee: E-06
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_operate_does_not_see_who_made_a_revision() {
    let cluster = Cluster::start_secured().await;
    let admin = of_folder(&cluster, "admin").await;
    eventually("times of revisions", async || {
        let status: v1::ClusterStatusResponse = ask(
            &admin,
            "synod.v1.Cluster/Status",
            &v1::ClusterStatusRequest {},
        )
        .await;
        let in_force = status.machine_version;
        if in_force >= 3 {
            Ok(())
        } else {
            Err(format!("machine version {in_force}"))
        }
    })
    .await;
    let patch = v1::ClusterUpdateSettingsRequest {
        patch: Some(v1::SettingsPatch {
            members_max: Some(77),
            ..v1::SettingsPatch::default()
        }),
        ..v1::ClusterUpdateSettingsRequest::default()
    };
    let changed: v1::ClusterUpdateSettingsResponse =
        ask(&admin, "synod.v1.Cluster/UpdateSettings", &patch).await;
    let revision = changed.header.expect("it has a header").revision;
    // A session is a revision without events, and the newest one.
    let at = v1::ClusterRevisionAtRequest {
        time_ms: u64::MAX / 2,
        read: None,
    };

    for (name, sees) in [
        ("admin", true),
        ("operator", true),
        ("reader", false),
        ("member-apiserver-1", false),
    ] {
        let raw = of_folder(&cluster, name).await;
        for kinds in [&[][..], &[v1::ObjectKind::Settings]] {
            if name.starts_with("member") && kinds.is_empty() {
                continue;
            }
            let shown = events(&raw, revision, kinds).await;
            assert!(shown.time_ms.is_some(), "{name}");
            let expected = sees.then_some(ADMIN);
            assert_eq!(shown.caller.as_deref(), expected, "{name}, {kinds:?}");
        }
        let found: v1::ClusterRevisionAtResponse =
            ask(&raw, "synod.v1.Cluster/RevisionAt", &at).await;
        assert!(found.time_ms > 0 && found.revision >= revision, "{name}");
        if found.revision == revision {
            assert_eq!(found.caller.is_some(), sees, "{name}");
        }
    }
    agreements_name_their_callers(&cluster, &admin).await;
    cluster.finish().await;
}

async fn agreements_name_their_callers(cluster: &Cluster, admin: &Raw) {
    let join = v1::MembershipJoinRequest {
        id: "apiserver-9".to_owned(),
        instance: "first".to_owned(),
        ttl_ms: Some(60_000),
        ..v1::MembershipJoinRequest::default()
    };
    let joined: v1::MembershipJoinResponse = ask(admin, "synod.v1.Membership/Join", &join).await;
    let pods = v1::GroupResource {
        group: String::new(),
        resource: "pods".to_owned(),
    };
    let report = v1::StorageVersionsReportRequest {
        member: Some(v1::MemberEpoch {
            member: "apiserver-9".to_owned(),
            epoch: joined.epoch,
            ..v1::MemberEpoch::default()
        }),
        number: 1,
        entries: vec![v1::ReportEntry {
            resource: Some(pods.clone()),
            kind: "Pod".to_owned(),
            decodable_versions: vec!["v1".to_owned()],
            stance: Some(v1::report_entry::Stance::EncodingVersion("v1".to_owned())),
            ..v1::ReportEntry::default()
        }],
        ..v1::StorageVersionsReportRequest::default()
    };
    let _: v1::StorageVersionsReportResponse =
        ask(admin, "synod.v1.StorageVersions/Report", &report).await;
    let request = v1::StorageVersionsHistoryRequest {
        resource: Some(pods),
        read: None,
    };
    for (name, sees) in [("operator", true), ("reader", false)] {
        let raw = of_folder(cluster, name).await;
        let history: v1::StorageVersionsHistoryResponse =
            ask(&raw, "synod.v1.StorageVersions/History", &request).await;
        let change = history
            .changes
            .last()
            .expect("the member agrees with itself");
        assert_eq!(change.caller.as_deref(), sees.then_some(ADMIN), "{name}");
    }
}
