//! Migrations that clients create and delete, under names of their own.

use serde_json::{Value, json};
use synod_proto::v1;
use synod_proto::v1::migrations_client::MigrationsClient;

use crate::api::{Answer, Api};
use crate::own::{MIGRATIONS, report};
use crate::replicas::Replicas;

fn migration(metadata: &Value, resource: &str) -> Value {
    json!({
        "apiVersion": "storagemigration.k8s.io/v1beta1",
        "kind": "StorageVersionMigration",
        "metadata": metadata,
        "spec": { "resource": { "group": "apps", "resource": resource } },
    })
}

/// The migration of deployments.
fn deployments() -> Value {
    migration(&json!({"generateName": "deployments.apps-"}), "deployments")
}

async fn listed(api: &Api) -> usize {
    let list = api.get(MIGRATIONS).await.body;
    list["items"].as_array().unwrap().len()
}

fn name(answer: &Answer) -> String {
    answer.body["metadata"]["name"].as_str().unwrap().to_owned()
}

fn named(name: &str) -> Value {
    migration(&json!({ "name": name }), "deployments")
}

// Guarantee: MG-06
#[tokio::test]
async fn a_migration_is_created_under_its_name_and_deleted_and_created_again_while_a_watch_is_open()
{
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    report(&replicas, "a", "apps/v1").await;
    let mut watch = api.watch(&format!("{MIGRATIONS}?watch=true")).await;
    watch.told(1).await;
    let selected = format!("{MIGRATIONS}?watch=true&fieldSelector=metadata.name%3Dmine");
    let mut one = api.watch(&selected).await;
    let mine = named("mine");
    let dry = api.post(&format!("{MIGRATIONS}?dryRun=All"), &mine).await;
    assert_eq!(dry.code, 201, "{dry:?}");
    assert_eq!(dry.body["metadata"]["name"], "mine");
    assert_eq!(listed(&api).await, 1, "the one that began by itself");

    let created = api.post(MIGRATIONS, &mine).await;
    assert_eq!((created.code, name(&created)), (201, "mine".to_owned()));
    assert_eq!(created.body["status"]["phase"], "Pending");
    let own = created.body["status"]["migration"].as_str().unwrap();
    assert!(own.starts_with("deployments.apps-"), "{own}");
    // By the name that Synod gave it, it is another object to clients, and none is shown.
    assert_eq!(api.get(&format!("{MIGRATIONS}/{own}")).await.code, 404);
    let path = format!("{MIGRATIONS}/mine");
    assert_eq!(api.get(&path).await.body, created.body);
    let exists = |name: &str| {
        let message =
            format!("storageversionmigrations.storagemigration.k8s.io \"{name}\" already exists");
        (409, json!(message))
    };
    let told = |answer: &Answer| (answer.code, answer.body["message"].clone());
    assert_eq!(told(&api.post(MIGRATIONS, &mine).await), exists("mine"));
    // One of a resource waits already, and it is named as it is shown.
    let other = api.post(MIGRATIONS, &named("other")).await;
    assert_eq!(told(&other), exists("mine"));

    let other = json!({"preconditions": {"uid": "00000000-0000-8000-8000-000000000000"}});
    assert_eq!(api.delete(&path, &other).await.code, 409);
    let dry = api.delete(&format!("{path}?dryRun=All"), &json!({})).await;
    assert_eq!((dry.code, listed(&api).await), (200, 2));
    let deleted = api.delete(&path, &json!({})).await;
    assert_eq!(
        (deleted.code, &deleted.body["details"]["uid"]),
        (200, &created.body["metadata"]["uid"])
    );
    assert_eq!(api.get(&path).await.code, 404);
    assert_eq!(api.delete(&path, &json!({})).await.code, 404);
    let again = api.post(MIGRATIONS, &mine).await;
    assert_eq!(again.code, 201, "{again:?}");
    assert_ne!(
        again.body["metadata"]["uid"],
        created.body["metadata"]["uid"]
    );
    for watch in [&mut watch, &mut one] {
        let told = watch.told(3).await;
        assert_eq!(told, ["ADDED mine", "DELETED mine", "ADDED mine"]);
    }
}

#[tokio::test]
async fn a_migration_that_names_itself_by_its_beginning_gets_a_name_of_its_own() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    report(&replicas, "a", "apps/v1").await;
    let begins = |text: &str| migration(&json!({ "generateName": text }), "deployments");
    let made_up = api.post(MIGRATIONS, &begins("x-")).await;
    assert_eq!(made_up.code, 201, "{made_up:?}");
    let made_up = name(&made_up);
    assert_eq!((made_up.len(), &made_up[..2]), (7, "x-"));
    let refused = api.post(MIGRATIONS, &begins("y-")).await;
    assert_eq!(refused.code, 409, "{refused:?}");
    let gone = api
        .delete(&format!("{MIGRATIONS}/{made_up}"), &json!({}))
        .await;
    assert_eq!(gone.code, 200, "{gone:?}");
    // What begins with the resource is named by Synod, as what begins by itself.
    let dry = format!("{MIGRATIONS}?dryRun=All");
    let tried = api.post(&dry, &deployments()).await;
    assert!(name(&tried).starts_with("deployments.apps-"), "{tried:?}");
    let started = api.post(MIGRATIONS, &deployments()).await;
    let name = name(&started);
    assert!(name.starts_with("deployments.apps-"), "{name}");
    assert!(started.body["status"]["migration"].is_null(), "{started:?}");
    let path = format!("{MIGRATIONS}/{name}");
    assert_eq!(api.get(&path).await.body, started.body);
    assert_eq!(api.delete(&path, &json!({})).await.code, 200);
    assert_eq!(listed(&api).await, 1);
}

#[tokio::test]
async fn an_update_of_a_migration_changes_nothing_and_warns_of_what_is_not_kept() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    report(&replicas, "a", "apps/v1").await;
    let created = api.post(MIGRATIONS, &named("mine")).await;
    assert_eq!(created.code, 201, "{created:?}");
    let path = format!("{MIGRATIONS}/mine");
    let labelled = json!({"metadata": {"labels": {"x": "y"}}});
    let patched = api.patch(&path, "merge", &labelled).await;
    assert_eq!((patched.code, &patched.body), (200, &created.body));
    assert!(
        patched.headers.contains("metadata.labels is not kept"),
        "{}",
        patched.headers
    );
    let mut other = created.body.clone();
    other["spec"]["resource"]["resource"] = json!("daemonsets");
    let refused = api.put(&path, &other).await;
    assert_eq!(refused.code, 422, "{refused:?}");
    let cause = &refused.body["details"]["causes"][0];
    assert_eq!(cause["field"], "spec.resource", "{refused:?}");
    other["spec"] = created.body["spec"].clone();
    other["metadata"]["resourceVersion"] = json!("1");
    assert_eq!(api.put(&path, &other).await.code, 409);
    assert_eq!(api.put(&path, &created.body).await.body, created.body);
    // All of them go, also what began by itself.
    assert_eq!(api.delete(MIGRATIONS, &json!({})).await.code, 200);
    assert_eq!(listed(&api).await, 0);
}

#[tokio::test]
async fn a_migration_is_one_object_in_both_versions() {
    const GROUP: &str = "/apis/storagemigration.k8s.io";
    let stable = format!("{GROUP}/v1/storageversionmigrations");
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    report(&replicas, "a", "apps/v1").await;
    let group = api.get(GROUP).await.body;
    let versions = group["versions"].as_array().unwrap();
    let versions: Vec<&Value> = versions.iter().map(|one| &one["version"]).collect();
    assert_eq!(versions, ["v1", "v1beta1"]);
    assert_eq!(group["preferredVersion"]["version"], "v1");
    for version in ["v1", "v1beta1"] {
        let list = api.get(&format!("{GROUP}/{version}")).await.body;
        // It is stored in one version, whichever it is served in: that of Kubernetes.
        let hash = &list["resources"][0]["storageVersionHash"];
        assert_eq!(hash, "pCjmmKOkLy4=", "{version}");
    }
    let mut watch = api.watch(&format!("{stable}?watch=true")).await;
    watch.told(1).await;
    let mut document = named("mine");
    let wrong = api.post(&stable, &document).await;
    assert_eq!(wrong.code, 400, "{wrong:?}");
    document["apiVersion"] = json!("storagemigration.k8s.io/v1");
    let created = api.post(&stable, &document).await;
    assert_eq!(created.code, 201, "{created:?}");
    let event = watch.next().await.unwrap();
    assert_eq!(event["object"], created.body);
    let mut beta = api.get(&format!("{MIGRATIONS}/mine")).await.body;
    assert_eq!(beta["apiVersion"], "storagemigration.k8s.io/v1beta1");
    beta["apiVersion"] = created.body["apiVersion"].clone();
    assert_eq!(beta, created.body);
    let path = format!("{stable}/mine/status");
    assert_eq!(api.get(&path).await.body, created.body);
    let deleted = api.delete(&format!("{MIGRATIONS}/mine"), &json!({})).await;
    assert_eq!(deleted.code, 200, "{deleted:?}");
    assert_eq!(watch.told(1).await, ["DELETED mine"]);
}

#[tokio::test]
async fn a_write_of_a_status_changes_nothing_and_warns_of_what_is_not_kept() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    report(&replicas, "a", "apps/v1").await;
    let created = api.post(MIGRATIONS, &named("mine")).await;
    assert_eq!(created.code, 201, "{created:?}");
    let path = format!("{MIGRATIONS}/mine/status");
    assert_eq!(api.get(&path).await.body, created.body);
    let same = api.put(&path, &created.body).await;
    assert_eq!((same.code, &same.body), (200, &created.body));
    assert!(!same.headers.contains("warning"), "{}", same.headers);
    let running = json!({"status": {"conditions": [{"type": "Running", "status": "True"}]}});
    let patched = api.patch(&path, "merge", &running).await;
    assert_eq!((patched.code, &patched.body), (200, &created.body));
    assert!(
        patched.headers.contains("status.conditions is not kept"),
        "{}",
        patched.headers
    );
    // A write of the object does not touch its status, as in Kubernetes.
    let patched = api
        .patch(&format!("{MIGRATIONS}/mine"), "merge", &running)
        .await;
    assert_eq!((patched.code, &patched.body), (200, &created.body));
    assert!(!patched.headers.contains("warning"), "{}", patched.headers);
    let both = ["Succeeded", "Failed"].map(|kind| json!({"type": kind, "status": "True"}));
    let both = json!({"status": {"conditions": both}});
    let refused = api.patch(&path, "merge", &both).await;
    let cause = &refused.body["details"]["causes"][0];
    assert_eq!(
        (refused.code, &cause["field"]),
        (422, &json!("status.conditions"))
    );
}

#[tokio::test]
async fn a_migration_of_nothing_and_one_without_a_sound_name_are_refused() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    report(&replicas, "a", "apps/v1").await;
    for (document, field) in [
        (
            migration(&json!({"name": "mine"}), "daemonsets"),
            "spec.resource",
        ),
        (
            migration(&json!({"generateName": "Not-"}), "deployments"),
            "metadata.name",
        ),
        (named("Mine"), "metadata.name"),
        (named("deployments.apps-7"), "metadata.name"),
        (migration(&json!({}), "deployments"), "metadata.name"),
        (
            migration(&json!({"name": "mine"}), ""),
            "spec.resource.resource",
        ),
        (
            migration(&json!({"name": "mine"}), "Not_A_Resource"),
            "spec.resource.resource",
        ),
    ] {
        let refused = api.post(MIGRATIONS, &document).await;
        assert_eq!(refused.code, 422, "{refused:?}");
        let causes = &refused.body["details"]["causes"];
        assert_eq!(causes[0]["field"], field, "{refused:?}");
    }
    let nothing = migration(&json!({"name": "mine"}), "");
    let refused = api.post(MIGRATIONS, &nothing).await;
    let rule = "spec.resource.resource: Required value: resource is required to be set";
    let message = refused.body["message"].as_str().unwrap();
    assert!(message.ends_with(rule), "{message}");
    let mut elsewhere = migration(&json!({"name": "mine"}), "deployments");
    elsewhere["spec"]["resource"]["group"] = json!("Not a group");
    let refused = api.post(MIGRATIONS, &elsewhere).await;
    let field = &refused.body["details"]["causes"][0]["field"];
    assert_eq!(field, "spec.resource.group", "{refused:?}");
    let revised = json!({"name": "mine", "resourceVersion": "7"});
    let refused = api
        .post(MIGRATIONS, &migration(&revised, "deployments"))
        .await;
    assert_eq!(
        (refused.code, &refused.body["message"]),
        (
            400,
            &json!("resourceVersion should not be set on objects to be created")
        )
    );
    // Whoever encodes otherwise ends the agreement.
    report(&replicas, "b", "apps/v1beta1").await;
    let refused = api.post(MIGRATIONS, &named("mine")).await;
    assert_eq!(
        (refused.code, &refused.body["reason"]),
        (409, &json!("Conflict"))
    );
    // It was aborted, and is deleted all the same.
    let list = api.get(MIGRATIONS).await.body;
    let one = &list["items"][0];
    let conditions = &one["status"]["conditions"];
    assert_eq!(conditions[0]["reason"], "MigrationCompleted", "{one}");
    assert_eq!(conditions[1]["type"], "Failed", "{one}");
    assert_eq!(conditions[1]["reason"], "AbortedNoAgreement", "{one}");
    let path = format!("{MIGRATIONS}/{}", one["metadata"]["name"].as_str().unwrap());
    assert_eq!(api.delete(&path, &json!({})).await.code, 200);
    assert_eq!(listed(&api).await, 0);
}

#[tokio::test]
async fn a_storage_state_that_is_read_tells_when_discovery_was_looked_at() {
    const STATES: &str = "/apis/migration.k8s.io/v1alpha1/storagestates";
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    report(&replicas, "a", "apps/v1").await;
    let path = format!("{STATES}/deployments.apps");
    let before = api.get(&path).await.body;
    assert!(before["status"]["lastHeartbeatTime"].is_null(), "{before}");
    let observe = v1::MigrationsObserveRequest {
        resource: Some(v1::GroupResource {
            group: "apps".to_owned(),
            resource: "deployments".to_owned(),
        }),
        // The hash of apps/v1/Deployment that real clusters show.
        hashes: vec!["8aSe+NMegvE=".to_owned()],
        ..v1::MigrationsObserveRequest::default()
    };
    let mut migrations = MigrationsClient::new(replicas.channel().await);
    migrations.observe(observe).await.unwrap();
    let state = api.get(&path).await.body;
    let time = state["status"]["lastHeartbeatTime"].as_str().unwrap();
    assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
    // It moves no revision, so a list of what was at one does not have it.
    let list = api.get(STATES).await.body;
    let status = &list["items"][0]["status"];
    assert!(status["lastHeartbeatTime"].is_null(), "{list}");
    let agreement = "/apis/synod.io/v1/agreements/deployments.apps";
    let agreement = api.get(agreement).await.body;
    assert_eq!(agreement["status"]["lastHeartbeatTime"], time);
}

/// The words are those of the service: `StorageVersions/Get` answers them.
#[tokio::test]
async fn an_agreement_that_is_read_says_why_there_is_none() {
    const AGREEMENTS: &str = "/apis/synod.io/v1/agreements";
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    report(&replicas, "a", "apps/v1").await;
    let path = format!("{AGREEMENTS}/deployments.apps");
    let agreed = api.get(&path).await.body;
    assert_eq!(agreed["status"]["reasons"], json!([]), "{agreed}");
    report(&replicas, "b", "apps/v1beta1").await;
    let disagreed = api.get(&path).await.body;
    let differ = json!([{
        "reason": "EncodingsDiffer",
        "message": "a encodes apps/v1; b encodes apps/v1beta1",
    }]);
    assert_eq!(disagreed["status"]["reasons"], differ, "{disagreed}");
    let list = api.get(AGREEMENTS).await.body;
    assert!(list["items"][0]["status"]["reasons"].is_null(), "{list}");
}

#[tokio::test]
async fn a_storage_state_tells_the_hashes_that_are_persisted() {
    const STATES: &str = "/apis/migration.k8s.io/v1alpha1/storagestates";
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let mut watch = api.watch(&format!("{STATES}?watch=true")).await;
    report(&replicas, "a", "apps/v1").await;
    assert_eq!(watch.told(1).await, ["ADDED deployments.apps"]);
    let path = format!("{STATES}/deployments.apps");
    let one = api.get(&path).await.body;
    // The hash of apps/v1/Deployment that real clusters show.
    let hash = "8aSe+NMegvE=";
    assert_eq!(
        one["status"],
        json!({"currentStorageVersionHash": hash, "persistedStorageVersionHashes": ["Unknown", hash]})
    );
    assert_eq!(
        one["spec"]["resource"],
        json!({"group": "apps", "resource": "deployments"})
    );
    report(&replicas, "b", "apps/v1beta1").await;
    let event = watch.next().await.unwrap();
    let status = &event["object"]["status"];
    assert_eq!(status["currentStorageVersionHash"], "Unknown", "{event}");
    assert_eq!(
        status["persistedStorageVersionHashes"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    assert_eq!(api.get(STATES).await.body["items"][0], event["object"]);
    assert_eq!(api.put(&path, &one).await.code, 405);
}
