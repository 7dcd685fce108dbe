//! Leases.

use serde_json::{Value, json};

use crate::api::{Answer, Api};
use crate::replicas::Replicas;

const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

fn lease(holder: Option<&str>, seconds: u64) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": { "name": "a" },
        "spec": { "holderIdentity": holder, "leaseDurationSeconds": seconds, "renewTime": "2026-01-01T00:00:00.000000Z" },
    })
}

// Guarantee: K-08
#[tokio::test]
async fn a_lease_is_taken_renewed_released_and_taken_by_another() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let path = format!("{LEASES}/a");
    let taken = api.post(LEASES, &lease(Some("x"), 15)).await;
    assert_eq!(taken.code, 201, "{taken:?}");
    assert_eq!(taken.body["spec"]["holderIdentity"], "x");
    assert_eq!(taken.body["spec"]["leaseDurationSeconds"], 15);
    assert_eq!(api.post(LEASES, &lease(Some("y"), 15)).await.code, 409);

    // A renewal moves no revision, so whoever read the lease before can write it still.
    let mut renewing = taken.body.clone();
    renewing["spec"]["renewTime"] = json!("2026-01-01T00:00:10.000000Z");
    let renewed = api.put(&path, &renewing).await;
    assert_eq!(renewed.code, 200, "{renewed:?}");
    assert_eq!(
        renewed.body["metadata"]["resourceVersion"],
        taken.body["metadata"]["resourceVersion"]
    );

    // Who wants it while it is held is refused, whatever its clock says.
    let refused = api.put(&path, &lease(Some("y"), 15)).await;
    assert_eq!(
        (refused.code, &refused.body["reason"]),
        (409, &json!("Conflict"))
    );

    let released = api
        .patch(
            &path,
            "strategic-merge",
            &json!({"spec": {"holderIdentity": null}}),
        )
        .await;
    assert_eq!(released.code, 200, "{released:?}");
    // Electors of other languages read these fields of a lease that was let go.
    assert_eq!(released.body["spec"]["holderIdentity"], "");
    assert_eq!(released.body["spec"]["leaseDurationSeconds"], 1);
    let created = released.body["metadata"]["creationTimestamp"].as_str();
    let created = created.unwrap().trim_end_matches('Z');
    let renewed = released.body["spec"]["renewTime"].as_str().unwrap();
    assert!(renewed.starts_with(created), "{released:?}");
    // Written on what was read before the release.
    assert_eq!(api.put(&path, &renewing).await.code, 409);
    let other = api.put(&path, &lease(Some("y"), 1)).await;
    assert_eq!(other.body["spec"]["holderIdentity"], "y", "{other:?}");
    assert_eq!(other.body["spec"]["leaseTransitions"], 1);
    // Nobody renews it, so it is free after its TTL, and a watch tells so.
    let mut watch = api
        .watch("/apis/coordination.k8s.io/v1/leases?watch=true")
        .await;
    assert_eq!(watch.told(2).await, ["ADDED a", "MODIFIED a"]);
    let free = api.get(&path).await;
    assert_eq!(free.body["spec"]["holderIdentity"], "", "{free:?}");
}

#[tokio::test]
async fn a_lease_that_says_too_little_or_asks_for_too_much_is_invalid() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let mut without_duration = lease(Some("x"), 1);
    without_duration["spec"]["leaseDurationSeconds"] = Value::Null;
    for (document, field) in [
        (lease(None, 15), "spec.holderIdentity"),
        (lease(Some("x"), 0), "spec.leaseDurationSeconds"),
        (lease(Some("x"), 86_401), "spec.leaseDurationSeconds"),
        (without_duration, "spec.leaseDurationSeconds"),
    ] {
        let refused = api.post(LEASES, &document).await;
        assert_eq!(refused.code, 422, "{refused:?}");
        let cause = &refused.body["details"]["causes"][0];
        assert_eq!(cause["field"], field);
        // Kubernetes clients send seconds, so the message must not name milliseconds.
        assert!(
            !cause["message"].to_string().contains("milliseconds"),
            "{cause}"
        );
    }
    let mut bogus = lease(Some("x"), 15);
    bogus["spec"]["bogus"] = json!(1);
    let strict = api
        .post(&format!("{LEASES}?fieldValidation=Strict"), &bogus)
        .await;
    assert_eq!(
        strict.body["message"],
        "Lease in version \"v1\" cannot be handled as a Lease: strict decoding error: unknown field \"spec.bogus\""
    );
}

#[tokio::test]
async fn a_dry_run_of_a_lease_tells_what_would_be_and_takes_nothing() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let (made, path) = (format!("{LEASES}?dryRun=All"), format!("{LEASES}/a"));
    let tried = api.post(&made, &lease(Some("x"), 15)).await;
    assert_eq!(
        (tried.code, &tried.body["spec"]["holderIdentity"]),
        (201, &json!("x")),
        "{tried:?}"
    );
    assert_eq!(tried.body["metadata"]["annotations"], Value::Null);
    assert_eq!(api.get(&path).await.code, 404);
    // It is checked as if it were done.
    assert_eq!(api.post(&made, &lease(Some("x"), 100_000)).await.code, 422);
    assert_eq!(api.post(&made, &lease(None, 15)).await.code, 422);
    let taken = api.post(LEASES, &lease(Some("x"), 15)).await;
    assert_eq!(api.post(&made, &lease(Some("x"), 15)).await.code, 409);
    let dry = format!("{path}?dryRun=All");
    assert_eq!(api.put(&dry, &lease(Some("y"), 15)).await.code, 409);
    let mut other = lease(Some("x"), 15);
    other["metadata"]["resourceVersion"] = json!("1");
    assert_eq!(api.put(&dry, &other).await.code, 409);
    let longer = json!({"spec": {"leaseDurationSeconds": 30}});
    let tried = api.patch(&dry, "merge", &longer).await;
    assert_eq!(
        (tried.code, &tried.body["spec"]["leaseDurationSeconds"]),
        (200, &json!(30)),
        "{tried:?}"
    );
    let free = json!({"spec": {"holderIdentity": null}});
    let tried = api.patch(&dry, "merge", &free).await;
    assert_eq!(
        (tried.code, &tried.body["spec"]["holderIdentity"]),
        (200, &json!("")),
        "{tried:?}"
    );
    let there = api.get(&path).await.body;
    let parts = |it: &Value| {
        let spec = &it["spec"];
        let shown = ["holderIdentity", "leaseDurationSeconds", "leaseTransitions"];
        (
            shown.map(|field| spec[field].clone()),
            it["metadata"].clone(),
        )
    };
    assert_eq!(parts(&there), parts(&taken.body));
}

#[tokio::test]
async fn what_a_lease_has_no_place_for_is_told() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let mut labelled = lease(Some("x"), 15);
    labelled["metadata"]["labels"] = json!({"x": "y"});
    labelled["metadata"]["finalizers"] = json!(["example.io/wait"]);
    labelled["spec"]["strategy"] = json!("OldestEmulationVersion");
    let told = |answer: &Answer, field: &str| {
        answer.headers.contains(&format!(
            "warning: 299 - \"{field} is not kept as it was sent: synod has no place for it in leases\""
        ))
    };
    let made = api.post(LEASES, &labelled).await;
    assert_eq!(made.code, 201);
    for field in ["metadata.labels", "metadata.finalizers", "spec.strategy"] {
        assert!(told(&made, field), "{made:?}");
    }
    let path = format!("{LEASES}/a");
    let annotated = json!({"metadata": {"annotations": {"x": "y"}}});
    let patched = api.patch(&path, "merge", &annotated).await;
    assert!(
        patched.code == 200 && told(&patched, "metadata.annotations"),
        "{patched:?}"
    );
    let put = api.put(&path, &labelled).await;
    assert!(put.code == 200 && told(&put, "metadata.labels"), "{put:?}");
    // Who writes what it has read loses nothing.
    let there = api.get(&path).await.body;
    let put = api.put(&path, &there).await;
    assert!(
        put.code == 200 && !put.headers.contains("warning"),
        "{put:?}"
    );
    let ignoring = format!("{path}?fieldValidation=Ignore");
    let put = api.put(&ignoring, &labelled).await;
    assert!(
        put.code == 200 && !put.headers.contains("warning"),
        "{put:?}"
    );
}

#[tokio::test]
async fn a_lease_is_not_written_in_place_of_another() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let taken = api.post(LEASES, &lease(Some("x"), 15)).await;
    let mut other = taken.body.clone();
    other["metadata"]["uid"] = json!("00000000-0000-8000-8000-000000000000");
    let refused = api.put(&format!("{LEASES}/a"), &other).await;
    assert_eq!(refused.code, 409, "{refused:?}");
    other["metadata"]["uid"] = json!(7);
    let refused = api.put(&format!("{LEASES}/a"), &other).await;
    assert_eq!(refused.code, 422, "{refused:?}");
}

#[tokio::test]
async fn who_has_a_type_for_leases_need_not_say_what_they_are() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let mut nameless = lease(Some("z"), 15);
    let members = nameless.as_object_mut().unwrap();
    members.remove("apiVersion");
    members.remove("kind");
    let made = api.post(LEASES, &nameless).await;
    assert_eq!((made.code, &made.body["kind"]), (201, &json!("Lease")));
    // Who says something else is refused.
    nameless["kind"] = json!("Widget");
    assert_eq!(api.post(LEASES, &nameless).await.code, 400);
}

// Guarantee: L-02
#[tokio::test]
async fn a_lease_is_deleted_whoever_holds_it_and_its_token_never_comes_back() {
    let replicas = Replicas::one().await;
    replicas.raised().await;
    let api = Api::of(&replicas);
    let path = format!("{LEASES}/a");
    let token = |answer: &Answer| -> u64 {
        let token = &answer.body["metadata"]["annotations"]["synod.io/fencing-token"];
        token.as_str().unwrap().parse().unwrap()
    };
    assert_eq!(api.delete(&path, &json!({})).await.code, 404);
    let taken = api.post(LEASES, &lease(Some("x"), 3_600)).await;
    let uid = taken.body["metadata"]["uid"].clone();
    let dry = api.delete(&format!("{path}?dryRun=All"), &json!({})).await;
    assert_eq!((dry.code, &dry.body["status"]), (200, &json!("Success")));
    for (expected, told) in [
        (
            json!({"uid": "00000000-0000-8000-8000-000000000000"}),
            "UID in precondition: 00000000-0000-8000-8000-000000000000, UID in object meta: ",
        ),
        (
            json!({"resourceVersion": "1"}),
            "ResourceVersion in precondition: 1, ResourceVersion in object meta: ",
        ),
    ] {
        let refused = api
            .delete(&path, &json!({ "preconditions": expected }))
            .await;
        assert_eq!(refused.code, 409, "{refused:?}");
        let message = refused.body["message"].as_str().unwrap();
        let told = format!(
            "Operation cannot be fulfilled on leases.coordination.k8s.io \"a\": Precondition failed: {told}"
        );
        assert!(message.starts_with(&told), "{message}");
    }
    assert_eq!(api.get(&path).await.code, 200);
    let expected = json!({"preconditions": {"uid": uid.clone()}});
    let deleted = api.delete(&path, &expected).await;
    assert_eq!((deleted.code, &deleted.body["details"]["uid"]), (200, &uid));
    assert_eq!(api.get(&path).await.code, 404);
    // Whoever holds it still believes so, and finds out.
    assert_eq!(api.put(&path, &taken.body).await.code, 404);
    let again = api.post(LEASES, &lease(Some("x"), 3_600)).await;
    assert_eq!(again.code, 201, "{again:?}");
    assert!(token(&again) > token(&taken));
    assert_ne!(again.body["metadata"]["uid"], uid);
    assert_eq!(again.body["spec"]["leaseTransitions"], 0);
    assert_eq!(api.put(&path, &taken.body).await.code, 409);
}

#[tokio::test]
async fn many_leases_are_deleted_by_what_selects_them() {
    let replicas = Replicas::one().await;
    replicas.raised().await;
    let api = Api::of(&replicas);
    for name in ["a", "b", "c"] {
        let mut document = lease(Some("x"), 3_600);
        document["metadata"]["name"] = json!(name);
        assert_eq!(api.post(LEASES, &document).await.code, 201);
    }
    let left = async || {
        let list = api.get(LEASES).await.body;
        let items = list["items"].as_array().unwrap();
        let names = items.iter().map(|one| one["metadata"]["name"].clone());
        names.collect::<Vec<_>>()
    };
    let one = format!("{LEASES}?fieldSelector=metadata.name=b");
    assert_eq!(api.delete(&one, &json!({})).await.code, 200);
    assert_eq!(left().await, ["a", "c"]);
    let deleted = api.delete(LEASES, &json!({})).await;
    assert_eq!(deleted.body["status"], "Success", "{deleted:?}");
    assert_eq!(left().await, Vec::<Value>::new());
}

#[tokio::test]
async fn a_lease_is_taken_and_renewed_by_applying_it() {
    let replicas = Replicas::one().await;
    let api = Api::of(&replicas);
    let path = format!("{LEASES}/a");
    let mut nowhere = lease(Some("x"), 15);
    nowhere["metadata"]["resourceVersion"] = json!("1");
    assert_eq!(api.apply(&path, "x", &nowhere).await.code, 409);
    let taken = api.apply(&path, "x", &lease(Some("x"), 15)).await;
    assert_eq!(taken.code, 201, "{taken:?}");
    assert_eq!(taken.body["spec"]["holderIdentity"], "x");

    let renewed = api.apply(&path, "x", &lease(Some("x"), 15)).await;
    assert_eq!(renewed.code, 200, "{renewed:?}");
    let revision = &taken.body["metadata"]["resourceVersion"];
    assert_eq!(renewed.body["metadata"]["resourceVersion"], *revision);
    let mut expecting = lease(Some("x"), 20);
    expecting["metadata"]["resourceVersion"] = revision.clone();
    let longer = api.apply(&path, "x", &expecting).await;
    assert_eq!(longer.body["spec"]["leaseDurationSeconds"], 20);
    assert_eq!(
        api.apply(&path, "x", &expecting).await.code,
        409,
        "it moved"
    );

    // By force, too: the TTL decides when it is free.
    let forced = format!("{path}?fieldManager=y&force=true");
    let headers = [("content-type", "application/apply-patch+yaml")];
    let wanted = lease(Some("y"), 15).to_string();
    let refused = api.send("PATCH", &forced, &headers, wanted.as_bytes());
    assert_eq!(refused.await.code, 409);
    let released = api.apply(&path, "x", &lease(Some(""), 15)).await;
    assert_eq!(released.body["spec"]["holderIdentity"], "", "{released:?}");
    let other = api
        .send("PATCH", &forced, &headers, wanted.as_bytes())
        .await;
    assert_eq!(other.body["spec"]["holderIdentity"], "y", "{other:?}");
    let nobody = api.send("PATCH", &path, &headers, wanted.as_bytes()).await;
    assert_eq!(nobody.code, 422, "a manager is missing: {nobody:?}");
}
