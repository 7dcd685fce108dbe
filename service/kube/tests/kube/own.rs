//! The kinds that Synod keeps itself: they are read and watched.

use serde_json::{Value, json};
use synod_proto::v1;
use synod_proto::v1::membership_client::MembershipClient;
use synod_proto::v1::storage_versions_client::StorageVersionsClient;

use crate::api::Api;
use crate::replicas::Replicas;

const STORAGE_VERSIONS: &str = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions";
pub(crate) const MIGRATIONS: &str =
    "/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations";

/// Lets a member join and report that it encodes deployments in this version.
pub(crate) async fn report(replicas: &Replicas, id: &str, version: &str) {
    let join = v1::MembershipJoinRequest {
        id: id.to_owned(),
        instance: id.to_owned(),
        labels: [("zone".to_owned(), "a".to_owned())].into(),
        version: "1.33".to_owned(),
        ttl_ms: Some(3_600_000),
        ..v1::MembershipJoinRequest::default()
    };
    let mut members = MembershipClient::new(replicas.channel().await);
    let joined = members.join(join).await.unwrap().into_inner();
    let both = || vec!["apps/v1".to_owned(), "apps/v1beta1".to_owned()];
    let report = v1::StorageVersionsReportRequest {
        member: Some(v1::MemberEpoch {
            member: id.to_owned(),
            epoch: joined.epoch,
            cluster_id: String::new(),
        }),
        entries: vec![v1::ReportEntry {
            resource: Some(v1::GroupResource {
                group: "apps".to_owned(),
                resource: "deployments".to_owned(),
            }),
            kind: "Deployment".to_owned(),
            decodable_versions: both(),
            served_versions: both(),
            stance: Some(v1::report_entry::Stance::EncodingVersion(
                version.to_owned(),
            )),
            serve_until_ms: None,
            stored: v1::StoredIn::Outside.into(),
            equivalents: Vec::new(),
        }],
        replace: true,
        number: 1,
        ..v1::StorageVersionsReportRequest::default()
    };
    let mut versions = StorageVersionsClient::new(replicas.channel().await);
    versions.report(report).await.unwrap();
}

#[tokio::test]
async fn a_storage_version_shows_who_encodes_what_and_when_all_agree() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    report(&replicas, "a", "apps/v1").await;
    let path = format!("{STORAGE_VERSIONS}/apps.deployments");
    let one = api.get(&path).await.body;
    assert_eq!(one["status"]["commonEncodingVersion"], "apps/v1", "{one}");
    assert_eq!(one["status"]["storageVersions"][0]["apiServerID"], "a");
    let condition = &one["status"]["conditions"][0];
    assert_eq!(
        (&condition["type"], &condition["status"]),
        (&json!("AllEncodingVersionsEqual"), &json!("True"))
    );
    let revision = one["metadata"]["resourceVersion"].as_str().unwrap();
    // An event tells what has changed; the watch tells the whole.
    let mut watch = api
        .watch(&format!(
            "{STORAGE_VERSIONS}?watch=true&resourceVersion={revision}"
        ))
        .await;
    report(&replicas, "b", "apps/v1beta1").await;
    let event = watch.next().await.unwrap();
    assert_eq!(event["type"], "MODIFIED");
    let status = &event["object"]["status"];
    assert_eq!(
        status["storageVersions"].as_array().unwrap().len(),
        2,
        "{status}"
    );
    assert_eq!(status["commonEncodingVersion"], Value::Null);
    let table = api
        .get_as(
            STORAGE_VERSIONS,
            "application/json;as=Table;v=v1;g=meta.k8s.io",
        )
        .await
        .body;
    assert_eq!(table["rows"][0]["cells"][1], "<unset>");
    assert_eq!(table["rows"][0]["cells"][2], "a=apps/v1,b=apps/v1beta1");
    assert_eq!(
        api.get(&format!("{STORAGE_VERSIONS}/apps.nothing"))
            .await
            .code,
        404
    );
}

#[tokio::test]
async fn members_agreements_and_migrations_are_listed_watched_and_selected() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let mut watch = api.watch(&format!("{MIGRATIONS}?watch=true")).await;
    report(&replicas, "a", "apps/v1").await;
    let event = watch.next().await.unwrap();
    assert_eq!(event["type"], "ADDED");
    let spec = &event["object"]["spec"]["resource"];
    assert_eq!(*spec, json!({"group": "apps", "resource": "deployments"}));
    assert_eq!(event["object"]["status"]["phase"], "Pending");
    let name = event["object"]["metadata"]["name"].as_str().unwrap();
    assert_eq!(
        api.get(&format!("{MIGRATIONS}/{name}")).await.body["spec"],
        event["object"]["spec"]
    );

    let members = "/apis/synod.io/v1/members";
    let found = async |query: &str| {
        let list = api.get(&format!("{members}?{query}")).await.body;
        list["items"].as_array().unwrap().len()
    };
    assert_eq!(found("labelSelector=zone%3Da").await, 1);
    assert_eq!(found("labelSelector=zone%3Db").await, 0);
    assert_eq!(found("fieldSelector=metadata.name%3Da").await, 1);
    assert_eq!(found("fieldSelector=metadata.name!%3Da").await, 0);
    assert_eq!(
        api.get(&format!("{members}/a")).await.body["spec"]["version"],
        "1.33"
    );
    let agreement = api
        .get("/apis/synod.io/v1/agreements/deployments.apps")
        .await
        .body;
    assert_eq!(
        agreement["status"]["currentVersion"], "apps/v1",
        "{agreement}"
    );
    assert_eq!(
        agreement["status"]["persistedVersions"],
        json!(["Unknown", "apps/v1"])
    );
    let settings = api.get("/apis/synod.io/v1/settings").await.body;
    assert_eq!(settings["items"][0]["metadata"]["name"], "synod");
    assert_eq!(settings["items"][0]["spec"]["writeGraceMs"], 70_000);
}

#[tokio::test]
async fn everybody_may_ask_about_itself() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let may = async |verb: &str| {
        let review = json!({"spec": {"nonResourceAttributes": null, "resourceAttributes": {
            "verb": verb, "group": "authorization.k8s.io", "resource": "selfsubjectrulesreviews", "name": null,
        }}});
        let answer = api.post(path, &review).await;
        assert_eq!(answer.code, 201, "{answer:?}");
        answer.body["status"]["allowed"].clone()
    };
    assert_eq!(may("create").await, true);
    assert_eq!(may("list").await, false);
    let path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    let rules = api.post(path, &json!({"spec": {"namespace": "n"}})).await;
    let rules = rules.body["status"]["resourceRules"].as_array().unwrap();
    let own = json!({"verbs": ["create"], "apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"]});
    assert!(rules.contains(&own), "{rules:?}");
}
