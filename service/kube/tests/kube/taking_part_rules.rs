//! What keeps API servers of Kubernetes from overwriting each other, and from being kept out.

use serde_json::{Value, json};
use synod_proto::v1;
use synod_proto::v1::leases_client::LeasesClient;
use synod_proto::v1::membership_client::MembershipClient;
use synod_proto::v1::report_entry::Stance;
use synod_proto::v1::storage_versions_client::StorageVersionsClient;

use crate::api::Api;
use crate::replicas::Replicas;
use crate::taking_part::{
    LEASES, MEMBERS, SELECTED, VERSIONS, entry, identity, joined, names, reported, servers,
};

/// Acquires the lease of this name by gRPC, as nobody's member.
async fn acquired(replicas: &Replicas, name: &str) {
    let mut leases = LeasesClient::new(replicas.channel().await);
    let request = v1::LeasesAcquireRequest {
        lease: Some(v1::LeaseKey {
            namespace: "kube-system".to_owned(),
            name: name.to_owned(),
        }),
        holder: "x".to_owned(),
        ttl_ms: Some(3_600_000),
        ..v1::LeasesAcquireRequest::default()
    };
    leases.acquire(request).await.unwrap();
}

#[tokio::test]
async fn of_two_statuses_that_were_made_from_one_the_second_is_refused() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    joined(&api, "server-1", "one").await;
    reported(&api, "apps.deployments", "server-1", "apps/v1").await;
    let path = format!("{VERSIONS}/apps.deployments/status");
    for _ in 0..10 {
        let there = api.get(&path).await.body;
        let with = |served: &str| {
            let mut document = there.clone();
            let mut own = entry("server-1", "apps/v1");
            own["decodableVersions"] = json!(["apps/v1", served]);
            own["servedVersions"] = json!([served]);
            document["status"]["storageVersions"] = json!([own]);
            document
        };
        let revision = there["metadata"]["resourceVersion"].as_str().unwrap();
        let (one, other) = (with(&format!("a{revision}")), with(&format!("b{revision}")));
        let (one, other) = tokio::join!(api.put(&path, &one), api.put(&path, &other));
        let mut codes = [one.code, other.code];
        codes.sort_unstable();
        assert_eq!(codes, [200, 409], "{one:?} {other:?}");
    }
}

#[tokio::test]
async fn a_lease_of_the_same_name_keeps_no_server_out() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    acquired(&replicas, "server-1").await;
    let path = format!("{LEASES}/server-1");
    // As the controller of Kubernetes does: it updates, and creates where there is nothing to update.
    let renewed = api.put(&path, &identity("server-1", "one", 3_600)).await;
    assert_eq!(renewed.code, 404, "{renewed:?}");
    joined(&api, "server-1", "one").await;
    assert_eq!(
        api.get(&path).await.body["spec"]["holderIdentity"],
        "server-1_one"
    );
    let list = api.get(LEASES).await.body;
    assert_eq!(names(&list), ["server-1"], "{list}");
    // Nobody takes its name for another lease, and watchers do not see the one that there is.
    let revision = list["metadata"]["resourceVersion"].as_str().unwrap();
    let mut watch = api
        .watch(&format!("{LEASES}?watch=true&resourceVersion={revision}"))
        .await;
    let mut unlabelled = identity("server-1", "one", 3_600);
    unlabelled["metadata"]["labels"] = Value::Null;
    assert_eq!(api.post(LEASES, &unlabelled).await.code, 409);
    assert_eq!(api.put(&path, &unlabelled).await.code, 422);
    joined(&api, "server-2", "one").await;
    acquired(&replicas, "server-2").await;
    acquired(&replicas, "other").await;
    assert_eq!(watch.told(2).await, ["ADDED server-2", "ADDED other"]);
}

#[tokio::test]
async fn a_member_that_is_no_lease_any_more_is_deleted_to_watchers() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    joined(&api, "server-1", "one").await;
    acquired(&replicas, "plain").await;
    let host = "labelSelector=kubernetes.io%2Fhostname%21%3Dhost-2";
    let mut watches = Vec::new();
    for (query, first) in [
        ("", vec!["ADDED server-1", "ADDED plain"]),
        (SELECTED, vec!["ADDED server-1"]),
        (host, vec!["ADDED server-1", "ADDED plain"]),
    ] {
        let mut watch = api.watch(&format!("{LEASES}?watch=true&{query}")).await;
        assert_eq!(watch.told(first.len()).await, first, "{query}");
        watches.push(watch);
    }
    acquired(&replicas, "later").await;
    assert_eq!(watches[2].told(1).await, ["ADDED later"]);
    let mut members = MembershipClient::new(replicas.channel().await);
    let join = v1::MembershipJoinRequest {
        id: "server-1".to_owned(),
        instance: "_one".to_owned(),
        ..v1::MembershipJoinRequest::default()
    };
    members.join(join).await.unwrap();
    assert_eq!(
        watches[0].told(2).await,
        ["ADDED later", "DELETED server-1"]
    );
    for watch in &mut watches[1..] {
        assert_eq!(watch.told(1).await, ["DELETED server-1"]);
    }
}

#[tokio::test]
async fn a_process_that_cannot_adopt_does_not_vote_for_the_one_before() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let labels = identity("server-1", "one", 15)["metadata"]["labels"].clone();
    let labels = labels.as_object().unwrap().iter();
    let join = v1::MembershipJoinRequest {
        id: "server-1".to_owned(),
        instance: "_one".to_owned(),
        ttl_ms: Some(3_600_000),
        labels: labels
            .map(|(key, value)| (key.clone(), value.as_str().unwrap().to_owned()))
            .collect(),
        ..v1::MembershipJoinRequest::default()
    };
    let mut members = MembershipClient::new(replicas.channel().await);
    let joined = members.join(join).await.unwrap().into_inner();
    let said = |resource: &str, stance: Stance| v1::ReportEntry {
        resource: Some(v1::GroupResource {
            group: "apps".to_owned(),
            resource: resource.to_owned(),
        }),
        kind: "X".to_owned(),
        decodable_versions: vec!["apps/v1".to_owned(), "apps/v1beta1".to_owned()],
        served_versions: vec!["apps/v1".to_owned()],
        stance: Some(stance),
        serve_until_ms: None,
        stored: v1::StoredIn::Outside.into(),
        equivalents: Vec::new(),
    };
    let version = || "apps/v1".to_owned();
    let report = v1::StorageVersionsReportRequest {
        member: Some(v1::MemberEpoch {
            member: "server-1".to_owned(),
            epoch: joined.epoch,
            cluster_id: String::new(),
        }),
        entries: vec![
            said("votes", Stance::PreferredVersion(version())),
            said("fixed", Stance::EncodingVersion(version())),
        ],
        number: 1,
        ..v1::StorageVersionsReportRequest::default()
    };
    let mut versions = StorageVersionsClient::new(replicas.channel().await);
    versions.report(report).await.unwrap();
    let path = format!("{LEASES}/server-1");
    let mut lease = api.get(&path).await.body;
    lease["spec"]["holderIdentity"] = json!("server-1_two");
    let replaced = api.put(&path, &lease).await;
    assert_eq!(replaced.code, 200, "{replaced:?}");
    let listed = api.get(VERSIONS).await.body;
    assert_eq!(names(&listed), ["apps.fixed"], "{listed}");
    let member = api.get(&format!("{MEMBERS}/server-1")).await.body;
    assert_eq!(member["status"]["reported"], true);
    reported(&api, "apps.votes", "server-1", "apps/v1").await;
    let votes = api.get(&format!("{VERSIONS}/apps.votes")).await.body;
    assert_eq!(servers(&votes), ["server-1=apps/v1"]);
}

#[tokio::test]
async fn versions_that_are_no_list_are_refused() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    joined(&api, "server-1", "one").await;
    reported(&api, "apps.deployments", "server-1", "apps/v1").await;
    let path = format!("{VERSIONS}/apps.deployments/status");
    let mut document = api.get(&path).await.body;
    for wrong in [json!("apps/v1"), json!({}), json!(1), json!([1])] {
        document["status"]["storageVersions"][0]["decodableVersions"] = wrong;
        let refused = api.put(&path, &document).await;
        assert_eq!(refused.code, 422, "{refused:?}");
        assert_eq!(
            refused.body["details"]["causes"][0]["field"],
            "status.storageVersions[0].decodableVersions"
        );
    }
}
