//! Migrations that clients start and call off.

use serde_json::{Value, json};

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

#[tokio::test]
async fn a_migration_is_started_and_called_off() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    report(&replicas, "a", "apps/v1").await;
    let mut watch = api.watch(&format!("{MIGRATIONS}?watch=true")).await;
    watch.told(1).await;
    let dry = api
        .post(&format!("{MIGRATIONS}?dryRun=All"), &deployments())
        .await;
    assert_eq!(dry.code, 201, "{dry:?}");
    assert_eq!(dry.body["spec"]["resource"]["resource"], "deployments");
    assert_eq!(listed(&api).await, 1, "the one that began by itself");

    let started = api.post(MIGRATIONS, &deployments()).await;
    assert_eq!(started.code, 201, "{started:?}");
    let name = name(&started);
    assert!(name.starts_with("deployments.apps-"), "{name}");
    assert_eq!(started.body["status"]["phase"], "Pending");
    assert_eq!(listed(&api).await, 2);
    let again = api.post(MIGRATIONS, &deployments()).await;
    assert_eq!(
        (again.code, &again.body["message"]),
        (
            409,
            &json!(format!(
                "storageversionmigrations.storagemigration.k8s.io \"{name}\" already exists"
            ))
        )
    );

    let path = format!("{MIGRATIONS}/{name}");
    let other = json!({"preconditions": {"uid": "00000000-0000-8000-8000-000000000000"}});
    assert_eq!(api.delete(&path, &other).await.code, 409);
    let dry = api.delete(&format!("{path}?dryRun=All"), &json!({})).await;
    assert_eq!((dry.code, listed(&api).await), (200, 2));
    let deleted = api.delete(&path, &json!({})).await;
    assert_eq!(
        (deleted.code, &deleted.body["details"]["uid"]),
        (200, &started.body["metadata"]["uid"])
    );
    assert_eq!(api.get(&path).await.code, 404);
    assert_eq!(api.delete(&path, &json!({})).await.code, 404);
    assert_eq!(listed(&api).await, 1);
    let told = watch.told(2).await;
    assert_eq!(told, [format!("ADDED {name}"), format!("DELETED {name}")]);
    let next = api.post(MIGRATIONS, &deployments()).await;
    assert_eq!(next.code, 201, "{next:?}");
}

#[tokio::test]
async fn a_migration_of_nothing_and_one_that_names_itself_are_refused() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    report(&replicas, "a", "apps/v1").await;
    let generated = |text: &str| json!({ "generateName": text });
    for (document, field) in [
        (
            migration(&generated("daemonsets.apps-"), "daemonsets"),
            "spec.resource",
        ),
        (
            migration(&generated("x-"), "deployments"),
            "metadata.generateName",
        ),
        (
            migration(&json!({"name": "x"}), "deployments"),
            "metadata.name",
        ),
        (
            migration(&generated("deployments.apps-"), ""),
            "spec.resource.resource",
        ),
    ] {
        let refused = api.post(MIGRATIONS, &document).await;
        assert_eq!(refused.code, 422, "{refused:?}");
        let causes = &refused.body["details"]["causes"];
        assert_eq!(causes[0]["field"], field, "{refused:?}");
    }
    let revised = json!({"generateName": "deployments.apps-", "resourceVersion": "7"});
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
    let refused = api.post(MIGRATIONS, &deployments()).await;
    assert_eq!(
        (refused.code, &refused.body["reason"]),
        (409, &json!("Conflict"))
    );
    // It was aborted, and not by request.
    let list = api.get(MIGRATIONS).await.body;
    let one = &list["items"][0];
    assert_eq!(one["status"]["conditions"][0]["type"], "Failed", "{one}");
    let path = format!("{MIGRATIONS}/{}", one["metadata"]["name"].as_str().unwrap());
    let refused = api.delete(&path, &json!({})).await;
    let message = refused.body["message"].as_str().unwrap();
    assert!(message.contains("it has come to its end"), "{refused:?}");
    assert_eq!(refused.code, 409);
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
