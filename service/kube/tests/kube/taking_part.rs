//! API servers that take part by the Kubernetes API: identity leases are members, and statuses of StorageVersions are reports.

use serde_json::{Value, json};
use synod_proto::v1;
use synod_proto::v1::membership_client::MembershipClient;

use crate::api::{Answer, Api};
use crate::replicas::Replicas;

pub(crate) const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
pub(crate) const SELECTED: &str =
    "labelSelector=apiserver.kubernetes.io%2Fidentity%3Dkube-apiserver";
pub(crate) const VERSIONS: &str = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions";
pub(crate) const MEMBERS: &str = "/apis/synod.io/v1/members";

/// The identity lease of a process of a server.
pub(crate) fn identity(name: &str, process: &str, seconds: u64) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": name,
            "labels": {
                "apiserver.kubernetes.io/identity": "kube-apiserver",
                "kubernetes.io/hostname": "host-1",
            },
        },
        "spec": {
            "holderIdentity": format!("{name}_{process}"),
            "leaseDurationSeconds": seconds,
            "renewTime": "2026-01-01T00:00:00.000000Z",
        },
    })
}

pub(crate) async fn joined(api: &Api, name: &str, process: &str) -> Value {
    let made = api.post(LEASES, &identity(name, process, 3_600)).await;
    assert_eq!(made.code, 201, "{made:?}");
    made.body
}

/// What the updater of API servers does for one resource; answers its last request's answer.
async fn updated(api: &Api, name: &str, server: &str, encoding: &str) -> Answer {
    let path = format!("{VERSIONS}/{name}");
    let found = api.get(&path).await;
    let mut version = match found.code {
        200 => found.body,
        _ => {
            let empty = json!({"metadata": {"name": name}, "status": {"storageVersions": []}});
            let created = api.post(VERSIONS, &empty).await;
            assert_eq!(created.code, 201, "{created:?}");
            created.body
        }
    };
    let entries = version["status"]["storageVersions"].as_array();
    let mut entries = entries.cloned().unwrap_or_default();
    entries.retain(|entry| entry["apiServerID"] != server);
    entries.push(entry(server, encoding));
    version["status"]["commonEncodingVersion"] = common_version(&entries);
    version["status"]["storageVersions"] = json!(entries);
    version["status"]["conditions"] = json!([]);
    api.put(&format!("{path}/status"), &version).await
}

/// The same, and expects it to be taken.
pub(crate) async fn reported(api: &Api, name: &str, server: &str, encoding: &str) {
    let answer = updated(api, name, server, encoding).await;
    assert_eq!(answer.code, 200, "{answer:?}");
}

/// The names of what is listed.
pub(crate) fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap().iter();
    let of = |item: &Value| item["metadata"]["name"].as_str().unwrap().to_owned();
    items.map(of).collect()
}

/// A lease that is no member.
fn plain(name: &str) -> Value {
    json!({
        "metadata": { "name": name },
        "spec": { "holderIdentity": "x", "leaseDurationSeconds": 3_600 },
    })
}

pub(crate) fn entry(server: &str, encoding: &str) -> Value {
    json!({
        "apiServerID": server,
        "encodingVersion": encoding,
        "decodableVersions": ["apps/v1", "apps/v1beta1"],
        "servedVersions": ["apps/v1"],
    })
}

/// The version that all entries encode, as the updater of API servers computes it; `null` if they differ.
pub(crate) fn common_version(entries: &[Value]) -> Value {
    let mut encodings = entries.iter().map(|entry| &entry["encodingVersion"]);
    let first = encodings.next().unwrap_or(&Value::Null);
    match encodings.all(|encoding| encoding == first) {
        true => first.clone(),
        false => Value::Null,
    }
}

pub(crate) fn servers(version: &Value) -> Vec<String> {
    let entries = version["status"]["storageVersions"].as_array();
    let of = |entry: &Value| {
        let text = |field: &str| entry[field].as_str().unwrap().to_owned();
        format!("{}={}", text("apiServerID"), text("encodingVersion"))
    };
    entries.into_iter().flatten().map(of).collect()
}

#[tokio::test]
async fn an_identity_lease_is_a_member_that_renews_and_is_replaced() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let mut watch = api.watch(&format!("{LEASES}?watch=true&{SELECTED}")).await;
    let made = joined(&api, "server-1", "one").await;
    assert_eq!(made["spec"]["holderIdentity"], "server-1_one");
    assert_eq!(made["spec"]["leaseDurationSeconds"], 3_600);
    assert_eq!(made["metadata"]["namespace"], "kube-system");
    assert_eq!(
        made["metadata"]["labels"]["kubernetes.io/hostname"],
        "host-1"
    );
    let member = api.get(&format!("{MEMBERS}/server-1")).await.body;
    assert_eq!(member["spec"]["instance"], "_one", "{member}");
    assert_eq!(member["spec"]["ttlMs"], 3_600_000);
    let epoch = member["status"]["epoch"].as_u64().unwrap();
    assert_eq!(
        made["metadata"]["annotations"]["synod.io/epoch"],
        epoch.to_string()
    );
    assert_eq!(
        api.post(LEASES, &identity("server-1", "two", 15))
            .await
            .code,
        409
    );

    // A renewal moves nothing.
    let path = format!("{LEASES}/server-1");
    let renewed = api.put(&path, &made).await;
    assert_eq!(renewed.code, 200, "{renewed:?}");
    assert_eq!(
        renewed.body["metadata"]["resourceVersion"],
        made["metadata"]["resourceVersion"]
    );
    // Another duration keeps the epoch.
    let longer = api
        .patch(
            &path,
            "merge",
            &json!({"spec": {"leaseDurationSeconds": 7_200}}),
        )
        .await;
    assert_eq!(
        longer.body["spec"]["leaseDurationSeconds"], 7_200,
        "{longer:?}"
    );
    assert_eq!(
        longer.body["metadata"]["annotations"]["synod.io/epoch"],
        epoch.to_string()
    );
    assert_eq!(api.put(&path, &made).await.code, 409);
    // Another process replaces it.
    let mut other = longer.body.clone();
    other["spec"]["holderIdentity"] = json!("server-1_two");
    let replaced = api.put(&path, &other).await;
    assert_eq!(
        replaced.body["spec"]["holderIdentity"], "server-1_two",
        "{replaced:?}"
    );
    assert_ne!(
        replaced.body["metadata"]["annotations"]["synod.io/epoch"],
        epoch.to_string()
    );
    assert_eq!(
        watch.told(3).await,
        ["ADDED server-1", "MODIFIED server-1", "MODIFIED server-1"]
    );
}

#[tokio::test]
async fn a_member_leaves_when_its_identity_lease_is_deleted() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let path = format!("{LEASES}/server-1");
    // Its lease controller begins so.
    assert_eq!(api.delete(&path, &Value::Null).await.code, 404);
    let mut watch = api.watch(&format!("{LEASES}?watch=true&{SELECTED}")).await;
    let made = joined(&api, "server-1", "one").await;
    let wrong = json!({"preconditions": {"uid": "00000000-0000-8000-8000-000000000000"}});
    assert_eq!(api.delete(&path, &wrong).await.code, 409);
    let gone = api.delete(&path, &Value::Null).await;
    assert_eq!(gone.body["status"], "Success", "{gone:?}");
    assert_eq!(gone.body["details"]["uid"], made["metadata"]["uid"]);
    assert_eq!(api.get(&path).await.code, 404);
    assert_eq!(api.get(&format!("{MEMBERS}/server-1")).await.code, 404);
    assert_eq!(watch.told(2).await, ["ADDED server-1", "DELETED server-1"]);
    // Who renews a lease that is gone is told so, and begins anew.
    assert_eq!(api.put(&path, &made).await.code, 404);
}

#[tokio::test]
async fn an_identity_lease_that_is_not_renewed_runs_out() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let mut watch = api.watch(&format!("{LEASES}?watch=true&{SELECTED}")).await;
    let made = api.post(LEASES, &identity("server-1", "one", 1)).await;
    assert_eq!(made.code, 201, "{made:?}");
    assert_eq!(watch.told(2).await, ["ADDED server-1", "DELETED server-1"]);
    assert_eq!(api.get(&format!("{LEASES}/server-1")).await.code, 404);
}

#[tokio::test]
async fn an_identity_lease_that_no_member_can_have_is_invalid() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let with = |change: &dyn Fn(&mut Value)| {
        let mut lease = identity("server-1", "one", 15);
        change(&mut lease);
        lease
    };
    for (lease, field) in [
        (
            with(&|it| it["spec"]["holderIdentity"] = Value::Null),
            "spec.holderIdentity",
        ),
        (
            with(&|it| it["spec"]["holderIdentity"] = json!("_x")),
            "spec.holderIdentity",
        ),
        (
            with(&|it| it["spec"]["holderIdentity"] = json!("a b")),
            "spec.holderIdentity",
        ),
        (
            with(&|it| it["spec"]["leaseDurationSeconds"] = json!(86_401)),
            "spec.leaseDurationSeconds",
        ),
        (
            with(&|it| it["metadata"]["labels"]["-"] = json!("x")),
            "metadata.labels",
        ),
    ] {
        let refused = api.post(LEASES, &lease).await;
        assert_eq!(refused.code, 422, "{refused:?}");
        assert_eq!(
            refused.body["details"]["causes"][0]["field"], field,
            "{refused:?}"
        );
    }
    joined(&api, "server-1", "one").await;
    let unlabelled = json!({"metadata": {"labels": {"apiserver.kubernetes.io/identity": null}}});
    let refused = api
        .patch(&format!("{LEASES}/server-1"), "merge", &unlabelled)
        .await;
    assert_eq!(refused.code, 422, "{refused:?}");
    // Elsewhere the label means nothing.
    let elsewhere = "/apis/coordination.k8s.io/v1/namespaces/n/leases";
    let made = api.post(elsewhere, &identity("server-2", "one", 15)).await;
    assert_eq!(made.code, 201, "{made:?}");
    assert_eq!(api.get(&format!("{MEMBERS}/server-2")).await.code, 404);
}

/// The names of all leases, by pages of this size, all of this revision.
async fn paged(api: &Api, limit: usize, revision: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut token = String::new();
    loop {
        let path = format!("{LEASES}?limit={limit}&continue={token}");
        let page = api.get(&path).await.body;
        assert_eq!(page["metadata"]["resourceVersion"], *revision);
        assert!(page["items"].as_array().unwrap().len() <= limit, "{page}");
        found.extend(names(&page));
        match page["metadata"]["continue"].as_str() {
            Some(next) => token = next.replace('+', "%2B"),
            None => return found,
        }
    }
}

#[tokio::test]
async fn leases_and_members_are_listed_and_watched_together() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    for name in ["server-1", "server-2"] {
        joined(&api, name, "one").await;
    }
    for name in ["scheduler", "controllers"] {
        assert_eq!(api.post(LEASES, &plain(name)).await.code, 201);
    }
    // Who joins by gRPC is a lease if it has the label.
    let mut members = MembershipClient::new(replicas.channel().await);
    for (id, value) in [("server-3", "kube-apiserver"), ("server-4", "other")] {
        let join = v1::MembershipJoinRequest {
            id: id.to_owned(),
            instance: "i".to_owned(),
            labels: [(
                "apiserver.kubernetes.io/identity".to_owned(),
                value.to_owned(),
            )]
            .into(),
            ..v1::MembershipJoinRequest::default()
        };
        members.join(join).await.unwrap();
    }
    let all = [
        "server-1",
        "server-2",
        "server-3",
        "controllers",
        "scheduler",
    ];
    let list = api.get(LEASES).await.body;
    assert_eq!(names(&list), all, "{list}");
    let selected = api
        .get(&format!("{LEASES}?{SELECTED}&limit=500"))
        .await
        .body;
    assert_eq!(names(&selected), all[..3]);
    let one = api
        .get(&format!("{LEASES}?fieldSelector=metadata.name%3Dserver-2"))
        .await
        .body;
    assert_eq!(names(&one), ["server-2"]);
    for limit in 1..=5 {
        assert_eq!(
            paged(&api, limit, &list["metadata"]["resourceVersion"]).await,
            all
        );
    }
    let everywhere = api.get("/apis/coordination.k8s.io/v1/leases").await.body;
    assert_eq!(names(&everywhere), all);

    let mut watch = api
        .watch(&format!("{LEASES}?watch=true&resourceVersion=0"))
        .await;
    let mut told = watch.told(5).await;
    joined(&api, "server-5", "one").await;
    let elsewhere = "/apis/coordination.k8s.io/v1/namespaces/n/leases";
    assert_eq!(api.post(elsewhere, &plain("unseen")).await.code, 201);
    assert_eq!(api.post(LEASES, &plain("seen")).await.code, 201);
    told.extend(watch.told(2).await);
    assert_eq!(told[5..], ["ADDED server-5", "ADDED seen"], "{told:?}");
}

#[tokio::test]
async fn a_status_is_the_report_of_the_server_that_it_names() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    joined(&api, "server-1", "one").await;
    joined(&api, "server-2", "one").await;
    let name = "apps.deployments";
    let first = updated(&api, name, "server-1", "apps/v1").await;
    assert_eq!(first.code, 200, "{first:?}");
    assert_eq!(
        first.body["status"]["commonEncodingVersion"], "apps/v1",
        "{first:?}"
    );
    let second = updated(&api, name, "server-2", "apps/v1beta1").await;
    assert_eq!(
        servers(&second.body),
        ["server-1=apps/v1", "server-2=apps/v1beta1"]
    );
    assert_eq!(second.body["status"]["commonEncodingVersion"], Value::Null);
    let condition = &second.body["status"]["conditions"][0];
    assert_eq!(condition["type"], "AllEncodingVersionsEqual");
    assert_eq!(
        (&condition["status"], &condition["reason"]),
        (&json!("False"), &json!("CommonEncodingVersionUnset"))
    );
    // Said again, it changes nothing.
    let same = updated(&api, name, "server-2", "apps/v1beta1").await;
    assert_eq!(
        same.body["metadata"]["resourceVersion"],
        second.body["metadata"]["resourceVersion"]
    );
    let agreed = updated(&api, name, "server-2", "apps/v1").await;
    assert_eq!(agreed.body["status"]["commonEncodingVersion"], "apps/v1");
    assert_eq!(
        agreed.body["status"]["conditions"][0]["reason"],
        "CommonEncodingVersionSet"
    );
    // The kind is not said, and follows.
    let state = api
        .get("/apis/synod.io/v1/agreements/deployments.apps")
        .await
        .body;
    assert_eq!(state["status"]["currentVersion"], "apps/v1", "{state}");
    let mut versions =
        v1::storage_versions_client::StorageVersionsClient::new(replicas.channel().await);
    let request = v1::StorageVersionsGetRequest {
        resource: Some(v1::GroupResource {
            group: "apps".to_owned(),
            resource: "deployments".to_owned(),
        }),
        read: None,
    };
    let stored = versions.get(request).await.unwrap().into_inner();
    assert_eq!(
        stored.storage_version.unwrap().entries[0].kind,
        "Deployment"
    );
    // The core group is called so.
    let core = updated(&api, "core.pods", "server-1", "apps/v1").await;
    assert_eq!(core.code, 200, "{core:?}");
    assert_eq!(api.get("/apis/synod.io/v1/agreements/pods").await.code, 200);
}

#[tokio::test]
async fn a_patch_of_a_status_is_a_report_that_names_the_common_version() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let name = "apps.deployments";
    for server in ["server-1", "server-2"] {
        joined(&api, server, "one").await;
        reported(&api, name, server, "apps/v1").await;
    }
    let path = format!("{VERSIONS}/{name}/status");
    let mut patch = json!({"status": {"storageVersions": [entry("server-1", "apps/v1beta1")]}});
    let stale = api.patch(&path, "strategic-merge", &patch).await;
    assert_eq!(stale.code, 422, "{stale:?}");
    patch["status"]["commonEncodingVersion"] = Value::Null;
    let patched = api.patch(&path, "strategic-merge", &patch).await;
    assert_eq!(
        servers(&patched.body),
        ["server-1=apps/v1beta1", "server-2=apps/v1"],
        "{patched:?}"
    );
}

#[tokio::test]
async fn a_status_says_nothing_for_others() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    for server in ["server-1", "server-2"] {
        joined(&api, server, "one").await;
        reported(&api, "apps.deployments", server, "apps/v1").await;
    }
    let path = format!("{VERSIONS}/apps.deployments/status");
    let there = api.get(&path).await.body;
    let with = |entries: &[Value]| {
        let mut document = there.clone();
        document["status"]["storageVersions"] = json!(entries);
        document["status"]["commonEncodingVersion"] = common_version(entries);
        document
    };
    let both = [entry("server-1", "apps/v1"), entry("server-2", "apps/v1")];
    let mut unconditional = with(&both);
    unconditional["metadata"]["resourceVersion"] = Value::Null;
    let mut late = with(&both);
    late["metadata"]["resourceVersion"] = json!("1");
    let mut wrong = entry("server-1", "apps/v2");
    wrong["decodableVersions"] = json!(["apps/v1"]);
    for (document, code) in [
        (unconditional, 422),
        (late, 409),
        // It takes away what a server says that takes part.
        (with(&both[..1]), 409),
        // It speaks for two.
        (
            with(&[
                entry("server-1", "apps/v1beta1"),
                entry("server-2", "apps/v1beta1"),
            ]),
            409,
        ),
        // It speaks for nobody who takes part.
        (
            with(&[
                both[0].clone(),
                both[1].clone(),
                entry("server-9", "apps/v1"),
            ]),
            409,
        ),
        (
            with(&[both[0].clone(), both[0].clone(), both[1].clone()]),
            422,
        ),
        (with(&[wrong, both[1].clone()]), 422),
        (with(&[json!({"apiServerID": 7}), both[1].clone()]), 422),
    ] {
        let refused = api.put(&path, &document).await;
        assert_eq!(refused.code, code, "{document} {refused:?}");
    }
    let refused = api
        .put(&format!("{VERSIONS}/nodot/status"), &with(&both))
        .await;
    assert_eq!(refused.code, 400, "{refused:?}");
    let dry = api.put(&format!("{path}?dryRun=All"), &with(&both)).await;
    assert_eq!(dry.code, 400, "{dry:?}");
    assert_eq!(api.get(&path).await.body, there);
}

#[tokio::test]
async fn a_dry_run_of_an_identity_lease_lets_nobody_join_or_leave() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let (made, path) = (format!("{LEASES}?dryRun=All"), format!("{LEASES}/server-1"));
    let tried = api.post(&made, &identity("server-1", "x", 15)).await;
    assert_eq!(
        (tried.code, &tried.body["spec"]["holderIdentity"]),
        (201, &json!("server-1_x")),
        "{tried:?}"
    );
    assert_eq!(tried.body["metadata"]["annotations"], Value::Null);
    assert_eq!(api.get(&path).await.code, 404);
    assert_eq!(
        api.post(&made, &identity("server-1", "x", 100_000))
            .await
            .code,
        422
    );
    let there = joined(&api, "server-1", "x").await;
    let again = api.post(&made, &identity("server-1", "x", 15)).await;
    assert_eq!(again.code, 409, "{again:?}");
    let dry = format!("{path}?dryRun=All");
    let tried = api.put(&dry, &identity("server-1", "y", 60)).await;
    assert_eq!(
        (tried.code, &tried.body["spec"]["holderIdentity"]),
        (200, &json!("server-1_y")),
        "{tried:?}"
    );
    let deleted = api.delete(&dry, &json!({})).await;
    assert_eq!(
        (deleted.code, &deleted.body["details"]["uid"]),
        (200, &there["metadata"]["uid"])
    );
    let now = api.get(&path).await.body;
    assert_eq!(now["metadata"], there["metadata"]);
    assert_eq!(
        now["spec"]["holderIdentity"],
        there["spec"]["holderIdentity"]
    );
}

#[tokio::test]
async fn what_a_server_has_reported_goes_with_its_lease() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    for server in ["server-1", "server-2"] {
        joined(&api, server, "one").await;
        reported(&api, "apps.deployments", server, "apps/v1").await;
    }
    let path = format!("{VERSIONS}/apps.deployments/status");
    let mut collected = api.get(&path).await.body;
    collected["status"]["storageVersions"] = json!([entry("server-1", "apps/v1")]);
    let gone = api
        .delete(&format!("{LEASES}/server-2"), &Value::Null)
        .await;
    assert_eq!(gone.code, 200, "{gone:?}");
    // The collector of Kubernetes takes away whose lease is gone: by then there is nothing left to take.
    assert_eq!(api.put(&path, &collected).await.code, 409);
    let left = api.get(&path).await.body;
    assert_eq!(servers(&left), ["server-1=apps/v1"]);
    assert_eq!(api.put(&path, &left).await.code, 200);
    let again = json!({"metadata": {"name": "apps.deployments"}});
    assert_eq!(api.post(VERSIONS, &again).await.code, 409);
}

#[tokio::test]
async fn a_server_that_starts_again_keeps_what_it_has_reported() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let mut lease = joined(&api, "server-1", "one").await;
    for name in ["apps.deployments", "apps.daemonsets", "apps.statefulsets"] {
        reported(&api, name, "server-1", "apps/v1").await;
    }
    lease["metadata"]["resourceVersion"] = Value::Null;
    lease["spec"]["holderIdentity"] = json!("server-1_two");
    let again = api.put(&format!("{LEASES}/server-1"), &lease).await;
    assert_eq!(again.code, 200, "{again:?}");
    let member = api.get(&format!("{MEMBERS}/server-1")).await.body;
    assert_eq!(
        (&member["spec"]["instance"], &member["status"]["reported"]),
        (&json!("_two"), &json!(true))
    );
    // One of them is encoded otherwise by now, and the others stay.
    reported(&api, "apps.deployments", "server-1", "apps/v1beta1").await;
    let list = api.get(VERSIONS).await.body;
    let all: Vec<String> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(servers)
        .collect();
    let expected = [
        "server-1=apps/v1",
        "server-1=apps/v1beta1",
        "server-1=apps/v1",
    ];
    assert_eq!(all, expected, "{list}");
    // What another process of it said is not taken for what this one says, but for what may be stored.
    let mut members = MembershipClient::new(replicas.channel().await);
    let join = v1::MembershipJoinRequest {
        id: "server-1".to_owned(),
        instance: "three".to_owned(),
        ..v1::MembershipJoinRequest::default()
    };
    members.join(join).await.unwrap();
    reported(&api, "apps.daemonsets", "server-1", "apps/v1beta1").await;
    let list = api.get(VERSIONS).await.body;
    assert_eq!(list["items"].as_array().unwrap().len(), 3, "{list}");
}

/// What a description tells of what has happened to deployments.
async fn described(api: &Api, path: &str, of: &str) -> Vec<String> {
    let fields =
        format!("involvedObject.name%3Dapps.deployments%2CinvolvedObject.namespace%3D%2C{of}");
    let list = api
        .get(&format!("{path}?fieldSelector={fields}"))
        .await
        .body;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let items = list["items"].as_array().unwrap().iter();
    items
        .map(|event| format!("{} {}", text(&event["reason"]), text(&event["message"])))
        .collect()
}

#[tokio::test]
async fn what_was_agreed_on_is_told_in_events() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let mut watch = api
        .watch("/api/v1/namespaces/default/events?watch=true")
        .await;
    for server in ["server-1", "server-2"] {
        joined(&api, server, "one").await;
        reported(&api, "apps.deployments", server, "apps/v1").await;
    }
    reported(&api, "core.pods", "server-1", "apps/v1").await;
    reported(&api, "apps.deployments", "server-2", "apps/v1beta1").await;
    let mut live = Vec::new();
    for _ in 0..3 {
        let event = watch.next().await.unwrap();
        assert_eq!(event["type"], "ADDED");
        live.push(event["object"].clone());
    }
    let version = api.get(&format!("{VERSIONS}/apps.deployments")).await.body;
    let uid = version["metadata"]["uid"].as_str().unwrap();
    let described = async |path: &str, of: &str| described(&api, path, of).await;
    let expected = [
        "AgreementReached all servers encode apps/v1, by server-1",
        "AgreementEnded no agreement any more: it was apps/v1, by server-2",
    ];
    let own = format!("involvedObject.kind%3DStorageVersion%2CinvolvedObject.uid%3D{uid}");
    assert_eq!(described("/api/v1/events", &own).await, expected);
    assert_eq!(
        described("/api/v1/namespaces/default/events", "type%3DWarning").await,
        expected[1..]
    );
    assert_eq!(
        described("/api/v1/events", "involvedObject.kind%3DLease").await,
        [""; 0]
    );
    assert_eq!(
        described("/api/v1/namespaces/n/events", &own).await,
        [""; 0]
    );
    let all = api.get("/api/v1/events").await.body;
    let mut listed = all["items"].as_array().unwrap().clone();
    listed.sort_by_key(|event| {
        event["metadata"]["resourceVersion"]
            .as_str()
            .unwrap()
            .parse::<u64>()
            .unwrap()
    });
    assert_eq!(listed, live, "{all}");
    let name = listed[0]["metadata"]["name"].as_str().unwrap();
    let one = api
        .get(&format!("/api/v1/namespaces/default/events/{name}"))
        .await;
    assert_eq!(one.body, listed[0]);
    for nothing in [
        "default/events/x",
        "default/events/apps.deployments.1",
        &format!("n/events/{name}"),
    ] {
        assert_eq!(
            api.get(&format!("/api/v1/namespaces/{nothing}")).await.code,
            404
        );
    }
}

#[tokio::test]
async fn the_core_group_has_events_alone() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let unknown = api.get("/api/v1/events?fieldSelector=spec.x%3D1").await;
    assert_eq!(unknown.code, 400, "{unknown:?}");
    let written = api
        .post("/api/v1/namespaces/default/events", &json!({}))
        .await;
    assert_eq!(written.code, 405, "{written:?}");
    let resources = api.get("/api/v1").await.body["resources"].clone();
    assert_eq!(resources[0]["name"], "events", "{resources}");
    assert_eq!(resources.as_array().unwrap().len(), 1);
    let groups = api.get("/apis").await.body;
    let mut groups = groups["groups"].as_array().unwrap().iter();
    assert!(groups.all(|group| group["name"] != ""));
}
