//! Candidates for leases.

use serde_json::{Value, json};
use synod_proto::v1;
use synod_proto::v1::leases_client::LeasesClient;

use crate::api::Api;
use crate::proxies::{client, proxied};
use crate::replicas::Replicas;

const CANDIDATES: &str = "/apis/coordination.k8s.io/v1beta1/namespaces/kube-system/leasecandidates";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/scheduler";

fn candidate(name: &str, emulation: &str) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1beta1",
        "kind": "LeaseCandidate",
        "metadata": { "name": name },
        "spec": {
            "leaseName": "scheduler",
            "binaryVersion": "1.33.0",
            "emulationVersion": emulation,
            "strategy": "OldestEmulationVersion",
        },
    })
}

#[tokio::test]
async fn candidates_stand_are_elected_and_withdraw() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let mut watch = api.watch(&format!("{CANDIDATES}?watch=true")).await;
    let new = api.post(CANDIDATES, &candidate("new", "1.33.0")).await;
    assert_eq!(new.code, 201, "{new:?}");
    assert_eq!(new.body["spec"]["leaseName"], "scheduler");
    assert!(new.body["spec"]["renewTime"].is_string(), "{new:?}");
    let again = api.post(CANDIDATES, &candidate("new", "1.33.0")).await;
    assert_eq!(
        (again.code, &again.body["reason"]),
        (409, &json!("AlreadyExists"))
    );
    // It is elected at once, and the older one is preferred from then on.
    let lease = api.get(LEASE).await.body;
    assert_eq!(lease["spec"]["holderIdentity"], "new");
    let old = api.post(CANDIDATES, &candidate("old", "1.32.0")).await;
    assert_eq!(old.code, 201, "{old:?}");
    let lease = api.get(LEASE).await.body;
    assert_eq!(lease["spec"]["preferredHolder"], "old");
    let list = api.get(CANDIDATES).await.body;
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
    let elsewhere = CANDIDATES.replace("kube-system", "other");
    assert_eq!(api.get(&elsewhere).await.body["items"], json!([]));
    assert_eq!(api.get(&format!("{elsewhere}/old")).await.code, 404);

    let path = format!("{CANDIDATES}/old");
    let mut next = api.get(&path).await.body;
    next["spec"]["renewTime"] = json!("2026-01-01T00:00:00.000000Z");
    let renewed = api.put(&path, &next).await;
    assert_eq!(renewed.code, 200, "{renewed:?}");
    let revision = |answer: &Value| answer["metadata"]["resourceVersion"].clone();
    assert_eq!(
        revision(&renewed.body),
        revision(&next),
        "a renewal moves none"
    );
    next["spec"]["leaseName"] = json!("other");
    assert_eq!(api.put(&path, &next).await.code, 422);
    let set = json!({"spec": {"emulationVersion": "1.31.0"}});
    let patched = api.patch(&path, "merge", &set).await;
    assert_eq!(patched.body["spec"]["emulationVersion"], "1.31.0");
    next["spec"]["leaseName"] = json!("scheduler");
    assert_eq!(api.put(&path, &next).await.code, 409, "it has changed");

    let deleted = api.delete(&path, &json!({})).await;
    assert_eq!(
        (deleted.code, &deleted.body["details"]["uid"]),
        (200, &old.body["metadata"]["uid"])
    );
    assert_eq!(api.get(&path).await.code, 404);
    assert_eq!(api.delete(&path, &json!({})).await.code, 404);
    let told = watch.told(4).await;
    assert_eq!(
        told,
        ["ADDED new", "ADDED old", "MODIFIED old", "DELETED old"]
    );
}

#[tokio::test]
async fn a_dry_run_lets_no_candidate_stand_or_withdraw() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let made = api.post(CANDIDATES, &candidate("old", "1.32.0")).await;
    assert_eq!(made.code, 201, "{made:?}");
    let path = format!("{CANDIDATES}/old");
    let dry = format!("{path}?dryRun=All");
    let set = json!({"spec": {"emulationVersion": "1.30.0"}});
    let tried = api.patch(&dry, "merge", &set).await;
    assert_eq!(tried.body["spec"]["emulationVersion"], "1.30.0");
    let wrong = json!({"spec": {"emulationVersion": "2.0.0"}});
    assert_eq!(api.patch(&dry, "merge", &wrong).await.code, 422);
    let tried = api
        .post(
            &format!("{CANDIDATES}?dryRun=All"),
            &candidate("x", "1.33.0"),
        )
        .await;
    assert_eq!(
        (tried.code, &tried.body["kind"]),
        (201, &json!("LeaseCandidate"))
    );
    assert_eq!(api.get(&format!("{CANDIDATES}/x")).await.code, 404);
    let tried = api.delete(&dry, &json!({})).await;
    assert_eq!(
        (tried.code, &tried.body["status"]),
        (200, &json!("Success"))
    );
    let there = api.get(&path).await.body;
    assert_eq!(there["spec"]["emulationVersion"], "1.32.0");
}

#[tokio::test]
async fn a_candidate_that_says_too_little_is_invalid() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    for field in ["leaseName", "binaryVersion", "strategy"] {
        let mut document = candidate("a", "1.33.0");
        document["spec"][field] = Value::Null;
        let refused = api.post(CANDIDATES, &document).await;
        assert_eq!(refused.code, 422, "{refused:?}");
        let causes = &refused.body["details"]["causes"];
        assert_eq!(causes[0]["field"], format!("spec.{field}"));
    }
    // An emulation version above that of the binary, too.
    let refused = api.post(CANDIDATES, &candidate("a", "1.34.0")).await;
    assert_eq!(refused.code, 422, "{refused:?}");
    assert_eq!(api.get(&format!("{CANDIDATES}/a")).await.code, 404);
}

/// Stands for another lease over gRPC, as somebody who stands for one.
async fn stands_for(replicas: &Replicas, lease: &str, identity: &str) {
    let put = v1::LeasesPutCandidateRequest {
        candidate: Some(v1::LeaseContender {
            lease: Some(v1::LeaseKey {
                namespace: "kube-system".to_owned(),
                name: lease.to_owned(),
            }),
            identity: identity.to_owned(),
        }),
        binary_version: "1.33.0".to_owned(),
        strategy: "OldestEmulationVersion".to_owned(),
        emulation_version: "1.33.0".to_owned(),
        ttl_ms: Some(60_000),
        ..v1::LeasesPutCandidateRequest::default()
    };
    let mut leases = LeasesClient::new(replicas.channel().await);
    leases.put_candidate(put).await.unwrap();
}

#[tokio::test]
async fn a_name_that_stands_for_several_leases_is_ambiguous_but_to_who_says_for_which() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let path = format!("{CANDIDATES}/a");
    let one = api.post(CANDIDATES, &candidate("a", "1.33.0")).await;
    assert_eq!(one.code, 201, "{one:?}");
    stands_for(&replicas, "controllers", "a").await;
    let patch = json!({"spec": {"emulationVersion": "1.31.0"}});
    for refused in [
        api.get(&path).await,
        api.delete(&path, &json!({})).await,
        api.patch(&path, "merge", &patch).await,
        api.post(CANDIDATES, &candidate("a", "1.33.0")).await,
    ] {
        let message = refused.body["message"].as_str().unwrap();
        assert_eq!(
            (refused.code, &refused.body["reason"]),
            (409, &json!("Conflict"))
        );
        for lease in ["controllers", "scheduler"] {
            assert!(message.contains(lease), "{message}");
        }
    }
    let mut next = one.body;
    next["spec"]["emulationVersion"] = json!("1.32.0");
    let updated = api.put(&path, &next).await;
    assert_eq!(updated.code, 200, "{updated:?}");
    let spec = &updated.body["spec"];
    assert_eq!(
        (&spec["leaseName"], &spec["emulationVersion"]),
        (&json!("scheduler"), &json!("1.32.0"))
    );
    assert_eq!(
        api.get(CANDIDATES).await.body["items"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

/// A name is looked for among the candidates of all namespaces, and the access review says so.
#[tokio::test]
async fn who_may_see_one_namespace_may_do_what_the_review_says() {
    const ALL: &str = "/apis/coordination.k8s.io/v1beta1/namespaces/n/leasecandidates";
    const REVIEW: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let replicas = Replicas::start(1, proxied).await;
    let proxy = client(&replicas, "front-proxy-client").await;
    let bob = [("x-remote-user", "bob"), ("x-remote-group", "ops")];
    let carol = [("x-remote-user", "carol")];
    let own = candidate("a", "1.33.0");
    let (code, made) = proxy.told("POST", ALL, &bob, &own).await;
    assert_eq!(code, 201, "{made}");
    let one = format!("{ALL}/a");
    let nothing = Value::Null;
    for (verb, method, path, body, expected) in [
        ("get", "GET", one.as_str(), &nothing, false),
        ("list", "GET", ALL, &nothing, false),
        ("create", "POST", ALL, &candidate("b", "1.33.0"), false),
        ("update", "PUT", &one, &made, true),
        ("delete", "DELETE", &one, &nothing, false),
    ] {
        for (who, is_let) in [(&bob[..], true), (&carol[..], expected)] {
            let asked = json!({"spec": {"resourceAttributes": {
                "namespace": "n",
                "verb": verb,
                "group": "coordination.k8s.io",
                "version": "v1beta1",
                "resource": "leasecandidates",
                "name": "a",
            }}});
            let (_, review) = proxy.told("POST", REVIEW, who, &asked).await;
            assert_eq!(review["status"]["allowed"], is_let, "{verb} {review}");
            if who == &carol[..] {
                let (code, done) = proxy.told(method, path, who, body).await;
                assert_eq!(code != 403, is_let, "{verb} {done}");
            }
        }
    }
}
