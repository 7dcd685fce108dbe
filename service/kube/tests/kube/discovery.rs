//! What clients find out of what is served.

use serde_json::{Value, json};

use crate::api::{Api, WIDGETS, widget};
use crate::replicas::Replicas;

#[tokio::test]
async fn both_forms_of_discovery_tell_the_same() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let both = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
    let whole = api.get_as("/apis?timeout=32s", both).await;
    assert!(
        whole.headers.contains(
            "content-type: application/json;g=apidiscovery.k8s.io;v=v2;as=apigroupdiscoverylist"
        ),
        "{}",
        whole.headers
    );
    let older = api.get_as("/apis", both.split_once(',').unwrap().1).await;
    assert_eq!(older.body["apiVersion"], "apidiscovery.k8s.io/v2beta1");
    assert_eq!(api.get("/api").await.body["versions"], json!(["v1"]));
    let groups = api.get("/apis/").await.body["groups"].clone();
    let mut found = Vec::new();
    for group in groups.as_array().unwrap() {
        let name = group["name"].as_str().unwrap();
        assert_eq!(
            api.get(&format!("/apis/{name}")).await.body["preferredVersion"],
            group["preferredVersion"]
        );
        for version in group["versions"].as_array().unwrap() {
            let version = version["groupVersion"].as_str().unwrap();
            let list = api.get(&format!("/apis/{version}")).await;
            for resource in list.body["resources"].as_array().unwrap() {
                found.push(format!(
                    "{version} {} {}",
                    resource["name"], resource["verbs"]
                ));
            }
        }
    }
    let mut told = Vec::new();
    for group in whole.body["items"].as_array().unwrap() {
        for version in group["versions"].as_array().unwrap() {
            for resource in version["resources"].as_array().unwrap() {
                let name = group["metadata"]["name"].as_str().unwrap();
                let version = version["version"].as_str().unwrap();
                told.push(format!(
                    "{name}/{version} {} {}",
                    resource["resource"], resource["verbs"]
                ));
                let parts = resource["subresources"].as_array();
                told.extend(parts.into_iter().flatten().map(|part| {
                    let plural = resource["resource"].as_str().unwrap();
                    let own = part["subresource"].as_str().unwrap();
                    format!("{name}/{version} \"{plural}/{own}\" {}", part["verbs"])
                }));
            }
        }
    }
    assert_eq!(found, told);
    assert!(
        found
            .iter()
            .any(|it| it.starts_with("example.io/v1 \"widgets\"")),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_collection_is_served_in_the_versions_that_it_holds() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let versions = async || {
        let group = api.get("/apis/example.io").await.body;
        let versions = group["versions"].as_array().unwrap().clone();
        versions
            .iter()
            .map(|it| it["version"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(versions().await, ["v1"]);
    for (version, name) in [("v2beta1", "a"), ("v2", "b")] {
        let mut document = widget(name, 1);
        document["apiVersion"] = json!(format!("example.io/{version}"));
        let created = api
            .post(&WIDGETS.replace("/v1/", &format!("/{version}/")), &document)
            .await;
        assert_eq!(created.code, 201, "{created:?}");
    }
    assert_eq!(versions().await, ["v2", "v2beta1"]);
    // Nothing is converted: an object is told, and written, in the version that it is stored in.
    let read = api.get(&format!("{WIDGETS}/a")).await;
    assert_eq!(read.body["apiVersion"], "example.io/v2beta1");
    let patched = api
        .patch(
            &format!("{WIDGETS}/a"),
            "merge",
            &json!({"spec": {"size": 2}}),
        )
        .await;
    assert_eq!(patched.code, 409, "{patched:?}");
    assert!(
        patched.body["message"]
            .as_str()
            .unwrap()
            .contains("it is stored in example.io/v2beta1")
    );
}

#[tokio::test]
async fn one_object_in_another_version_does_not_make_it_the_preferred_one() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    for name in ["a", "b"] {
        assert_eq!(api.post(WIDGETS, &widget(name, 1)).await.code, 201);
    }
    let mut newer = widget("c", 1);
    newer["apiVersion"] = json!("example.io/v9");
    let path = WIDGETS.replace("/v1/", "/v9/");
    assert_eq!(api.post(&path, &newer).await.code, 201);
    let group = api.get("/apis/example.io").await.body;
    assert_eq!(group["preferredVersion"]["version"], "v1", "{group}");
    assert_eq!(group["versions"][1]["version"], "v9", "{group}");
    // When most of them are in it, it is.
    for name in ["a", "b"] {
        api.delete(&format!("{WIDGETS}/{name}"), &Value::Null).await;
    }
    let group = api.get("/apis/example.io").await.body;
    assert_eq!(group["preferredVersion"]["version"], "v9", "{group}");
}

#[tokio::test]
async fn kinds_have_the_short_names_of_kubernetes() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    for (version, plural, short) in [
        (
            "internal.apiserver.k8s.io/v1alpha1",
            "storageversions",
            "sv",
        ),
        (
            "storagemigration.k8s.io/v1",
            "storageversionmigrations",
            "svm",
        ),
        (
            "storagemigration.k8s.io/v1beta1",
            "storageversionmigrations",
            "svm",
        ),
    ] {
        let list = api.get(&format!("/apis/{version}")).await.body;
        let resources = list["resources"].as_array().unwrap();
        let found = resources.iter().find(|it| it["name"] == plural).unwrap();
        assert_eq!(found["shortNames"], json!([short]));
    }
}

#[tokio::test]
async fn openapi_describes_what_is_served_and_a_client_keeps_what_has_not_changed() {
    let replicas = Replicas::with_widgets().await;
    let api = Api::of(&replicas);
    let index = api.get("/openapi/v3").await;
    let path = &index.body["paths"]["apis/coordination.k8s.io/v1"]["serverRelativeURL"];
    let document = api.get(path.as_str().unwrap()).await;
    // The address is that of this document alone; without the right hash it is that of whatever is served.
    let kept = "cache-control: private, max-age=31536000, immutable";
    assert!(document.headers.contains(kept), "{}", document.headers);
    let (anything, _) = path.as_str().unwrap().split_once('?').unwrap();
    for path in [anything.to_owned(), format!("{anything}?hash=x")] {
        let document = api.get(&path).await;
        assert!(
            document.headers.contains("cache-control: no-cache"),
            "{}",
            document.headers
        );
    }
    let patch = &document.body["paths"]["/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}"]
        ["patch"];
    // By this kubectl decides that the server validates fields.
    let parameters = patch["parameters"].as_array().unwrap();
    assert!(
        parameters.iter().any(|it| it["name"] == "fieldValidation"),
        "{patch}"
    );
    assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "Lease");
    let spec = &document.body["components"]["schemas"]["coordination.k8s.io.v1.Lease"]["properties"]
        ["spec"];
    assert!(spec["properties"]["holderIdentity"]["description"].is_string());
    let tag = document
        .headers
        .lines()
        .find_map(|line| line.strip_prefix("etag: "))
        .unwrap();
    let again = api
        .send(
            "GET",
            path.as_str().unwrap(),
            &[("if-none-match", tag)],
            b"",
        )
        .await;
    assert_eq!((again.code, again.body), (304, Value::Null));
    assert_eq!(api.get("/openapi/v2").await.code, 200);
    assert_eq!(api.get("/openapi/v3/apis/example.io/v9").await.code, 404);
    let version = api.get("/version").await;
    assert!(
        version.body["minor"]
            .as_str()
            .unwrap()
            .parse::<u32>()
            .is_ok()
    );
}
