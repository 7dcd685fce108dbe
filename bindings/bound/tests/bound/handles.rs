//! Memberships, changes of objects, migration workers and caches, by documents.

use std::future::pending;
use std::time::Duration;

use data_encoding::BASE64;
use serde_json::{Value, json};
use synod_bound::{Admitted, Bound, Step, Updater};

use crate::cluster::{Cluster, endpoint, pass, within};
use crate::network::Weather;
use crate::{bound, call, key, parsed, widgets};

fn content(version: &str, value: &Value) -> String {
    let data = BASE64.encode(value.to_string().as_bytes());
    json!({"encodingVersion": version, "data": data}).to_string()
}

fn entry(stance: &Value) -> Value {
    let mut entry = json!({
        "resource": {"group": "example.io", "resource": "widgets"},
        "kind": "Widget",
        "decodableVersions": ["example.io/v1", "example.io/v2"],
        "servedVersions": ["example.io/v1", "example.io/v2"],
        "stored": "STORED_IN_COLLECTION",
    });
    for (key, value) in stance.as_object().unwrap() {
        entry[key] = value.clone();
    }
    entry
}

/// Adds one to the number that is the object's value, step by step.
async fn add_one(updater: &Updater, mut step: Step) -> (Value, bool) {
    loop {
        let (object, version) = match step {
            Step::Change { object, version } => (parsed(&object), version),
            Step::Done {
                object, changed, ..
            } => return (parsed(&object), changed),
        };
        let data = object["content"]["data"].as_str().unwrap();
        let number = parsed(&String::from_utf8(BASE64.decode(data.as_bytes()).unwrap()).unwrap());
        let number = json!(number.as_u64().unwrap() + 1);
        let content = content(&version, &number);
        step = within(updater.write("{}", &content, None)).await.unwrap();
    }
}

fn number(object: &Value) -> u64 {
    let data = object["content"]["data"].as_str().unwrap();
    let bytes = BASE64.decode(data.as_bytes()).unwrap();
    String::from_utf8(bytes).unwrap().parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_change_that_loses_is_applied_again_to_what_won() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    widgets(&bound, json!({})).await;
    let objects = bound.objects(r#"{"encodeIn": "example.io/v1"}"#).unwrap();
    let creator = objects
        .creator(&json!({"key": key("a")}).to_string())
        .unwrap();
    let created = creator
        .write(&content("example.io/v1", &json!(1)))
        .await
        .unwrap();
    let stale = created.unwrap();

    let updater = objects.updater(&key("a").to_string(), None).unwrap();
    let first = updater.begin().await.unwrap();
    let other = objects.updater(&key("a").to_string(), None).unwrap();
    let other_first = other.begin().await.unwrap();
    assert_eq!(number(&add_one(&other, other_first).await.0), 2);
    let (object, changed) = add_one(&updater, first).await;
    assert_eq!((number(&object), changed), (3, true));

    // With a stale object, the first try conflicts and the second one changes the present object.
    let updater = objects
        .updater(&key("a").to_string(), Some(&stale))
        .unwrap();
    let first = updater.begin().await.unwrap();
    assert_eq!(number(&add_one(&updater, first).await.0), 4);

    // A change that fails on a cached object is given the present one; a failure on that is final.
    let updater = objects
        .updater(&key("a").to_string(), Some(&stale))
        .unwrap();
    updater.begin().await.unwrap();
    let fresh = updater.failed().await.unwrap();
    let Some(Step::Change { object, .. }) = fresh else {
        panic!("the object was from a cache: {fresh:?}");
    };
    assert_eq!(number(&parsed(&object)), 4);
    assert_eq!(updater.failed().await.unwrap(), None);

    // Equal content is not written.
    let same = content("example.io/v1", &json!(4));
    match updater.write("{}", &same, None).await.unwrap() {
        Step::Done { changed, .. } => assert!(!changed),
        step @ Step::Change { .. } => panic!("nothing was changed: {step:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_is_encoded_again_when_another_version_is_selected() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    widgets(&bound, json!({"strictStorageVersion": true})).await;
    let membership = bound.join(r#"{"id": "server"}"#).unwrap();
    let membership = within(membership.next()).await.unwrap().unwrap();
    let reporting = json!([entry(&json!({"preferredVersion": "example.io/v2"}))]).to_string();
    within(membership.report(&reporting)).await.unwrap();

    let objects = bound.objects(r#"{"encodeIn": "example.io/v1"}"#).unwrap();
    let creator = objects
        .creator(&json!({"key": key("a")}).to_string())
        .unwrap();
    let refused = creator.write(&content("example.io/v1", &json!(1))).await;
    assert_eq!(refused.unwrap(), None, "it is to be encoded again");
    assert_eq!(creator.version().await, "example.io/v2");
    let written = creator.write(&content("example.io/v2", &json!(1))).await;
    assert_eq!(
        parsed(&written.unwrap().unwrap())["content"]["encodingVersion"],
        "example.io/v2"
    );

    objects.encode_in("example.io/v1").unwrap();
    let updater = objects.updater(&key("a").to_string(), None).unwrap();
    let first = updater.begin().await.unwrap();
    let (object, changed) = add_one(&updater, first).await;
    assert_eq!((number(&object), changed), (2, true));
    assert_eq!(objects.version(), "example.io/v2");
}

#[tokio::test(start_paused = true)]
async fn a_membership_opens_its_gate_and_leaves() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    let joining = bound.join(r#"{"id": "server", "labels": {"zone": "a"}, "permitWaitMs": 1000}"#);
    let membership = within(joining.unwrap().next()).await.unwrap().unwrap();
    assert_eq!(membership.id(), "server");
    let gate = membership.gate();
    assert!(gate.waits_for().is_some());
    let door = gate.door(Duration::ZERO, "[]").unwrap();
    let post = "/apis/example.io/v1/namespaces/n/widgets";
    let refused = within(door.admit("POST", post).next())
        .await
        .unwrap()
        .unwrap();
    let Admitted::Refused { code, body, .. } = refused else {
        panic!("nothing was reported: {refused:?}");
    };
    assert_eq!((code, parsed(&body)["code"].clone()), (503, json!(503)));

    let reporting = json!([entry(&json!({"encodingVersion": "example.io/v1"}))]).to_string();
    let reported = parsed(&within(membership.report(&reporting)).await.unwrap());
    assert_eq!(reported["resources"][0]["encodingVersion"], "example.io/v1");
    within(membership.ready()).await.unwrap();
    let state = parsed(&membership.state().unwrap());
    assert_eq!(
        (&state["reported"], &state["ready"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(gate.waits_for(), None);

    let read = within(door.admit("GET", post).next())
        .await
        .unwrap()
        .unwrap();
    assert!(matches!(read, Admitted::Pass), "{read:?}");
    let written = within(door.admit("POST", post).next())
        .await
        .unwrap()
        .unwrap();
    let Admitted::Permitted(permit) = written else {
        panic!("the gate is open: {written:?}");
    };
    assert_eq!(permit.encoding(), "example.io/v1");
    permit.check().unwrap();
    assert!(!gate.is_drained());
    permit.done();
    assert!(gate.is_drained());
    assert_eq!(permit.check().unwrap_err().kind, "INVALID_ARGUMENT");

    within(membership.leave(Duration::from_secs(1)))
        .await
        .unwrap();
    assert_eq!(membership.ended().await.unwrap(), "left");
    let resource = json!({"group": "example.io", "resource": "widgets"}).to_string();
    assert_eq!(gate.try_permit(&resource).unwrap_err().kind, "NOT_A_MEMBER");
}

#[tokio::test(start_paused = true)]
async fn a_membership_that_is_closed_ends_for_those_who_wait_for_it() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    let joining = bound.join(r#"{"id": "server"}"#).unwrap();
    let membership = within(joining.next()).await.unwrap().unwrap();
    let gate = membership.gate();
    let closing = async { membership.close() };
    let (ended, ()) = within(async { tokio::join!(membership.ended(), closing) }).await;
    assert_eq!(ended.unwrap(), "stopped");
    assert!(gate.waits_for().is_some());
    assert_eq!(membership.state().unwrap_err().kind, "INVALID_ARGUMENT");
}

#[tokio::test(start_paused = true)]
async fn options_that_are_none_are_all_named() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    let wrong = r#"{"id": "No", "ttlMs": "x", "labels": {"a": 1}, "shoe": 1, "equivalents": [[{"group": 1}]]}"#;
    let failure = bound.join(wrong).unwrap_err();
    let mut fields: Vec<&str> = failure
        .violations
        .iter()
        .map(|fault| fault.field.as_str())
        .collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        ["equivalents[0][0].group", "id", "labels.a", "shoe", "ttlMs"]
    );
    assert_eq!(bound.lock("{}").unwrap_err().violations[0].field, "lease");
    assert_eq!(
        bound.watch(r#"{"form": 1}"#).await.unwrap_err().violations[0].field,
        "form"
    );
}

#[tokio::test(start_paused = true)]
async fn a_cache_shows_what_it_follows() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    let cache = bound.reflect(r#"{"kinds": ["OBJECT_KIND_COLLECTION", "OBJECT_KIND_MEMBER"]}"#);
    let cache = within(cache).await.unwrap();
    let since = cache.revision();
    widgets(&bound, json!({})).await;
    let changed = within(cache.changed(since)).await.unwrap();
    within(cache.reached(changed, Duration::from_secs(1)))
        .await
        .unwrap();
    let by_name = json!({"kind": "OBJECT_KIND_COLLECTION", "name": "widgets.example.io"});
    let found = cache.get(&by_name.to_string()).unwrap().unwrap();
    assert_eq!(parsed(&found)["kind"], "Widget");
    assert_eq!(
        parsed(&cache.list("OBJECT_KIND_COLLECTION").unwrap())[0],
        parsed(&found)
    );
    let nobody = json!({"kind": "OBJECT_KIND_MEMBER", "name": "nobody"});
    assert_eq!(cache.get(&nobody.to_string()).unwrap(), None);
}

/// How long a write may be under way, by the settings of a new cluster.
const WRITE_GRACE: Duration = Duration::from_secs(70);

/// The name of the migration that the agreement has created.
async fn migration(bound: &Bound) -> String {
    let listed = call(bound, "Migrations/List", json!({})).await;
    let name = &listed["migrations"][0]["metadata"]["name"];
    name.as_str().unwrap().to_owned()
}

#[tokio::test(start_paused = true)]
async fn a_worker_asks_its_codec_by_tasks() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    widgets(&bound, json!({})).await;
    for name in ["a", "b", "c"] {
        let content = parsed(&content("example.io/v1", &json!(name)));
        call(
            &bound,
            "Objects/Create",
            json!({"key": key(name), "content": content}),
        )
        .await;
    }
    let joining = bound.join(r#"{"id": "server"}"#).unwrap();
    let membership = within(joining.next()).await.unwrap().unwrap();
    let reporting = json!([entry(&json!({"encodingVersion": "example.io/v2"}))]).to_string();
    within(membership.report(&reporting)).await.unwrap();
    let resources = json!([{"group": "example.io", "resource": "widgets"}]);
    let worker = bound.migrator(&json!({"worker": "w", "resources": resources}).to_string());
    let worker = worker.unwrap();
    let name = migration(&bound).await;
    let answering = async {
        while let Some(task) = worker.tasks().next().await.unwrap() {
            let asked = parsed(&task.document());
            assert_eq!(
                task.answer(r#"{"rewritten": true}"#).unwrap_err().kind,
                "INVALID_ARGUMENT"
            );
            let value = json!(asked["recode"]["object"]["metadata"]["name"]);
            let version = asked["recode"]["version"].as_str().unwrap();
            let content = parsed(&content(version, &value));
            task.answer(&json!({"content": content}).to_string())
                .unwrap();
        }
    };
    let working = async {
        let worked = worker.run_one(&name, pending()).await;
        worker.close();
        worked
    };
    let (worked, ()) = within(async { tokio::join!(working, answering) }).await;
    let worked = parsed(&worked.unwrap());
    assert_eq!(worked["worked"], "completed");
    let assumed = &worked["assumptions"][0];
    assert_eq!(assumed["reason"], "ASSUMPTION_REASON_NO_ROSTER", "{worked}");
    let listed = call(
        &bound,
        "Objects/List",
        json!({"resource": {"group": "example.io", "resource": "widgets"}}),
    );
    for item in listed.await["items"].as_array().unwrap() {
        assert_eq!(
            item["object"]["content"]["encodingVersion"],
            "example.io/v2"
        );
    }
}

// Guarantee: MG-07
#[tokio::test(start_paused = true)]
async fn a_worker_that_is_closed_or_whose_store_is_not_ready_gives_its_claim_back() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    let joining = bound.join(r#"{"id": "server"}"#).unwrap();
    let membership = within(joining.next()).await.unwrap().unwrap();
    // What was written before the server joined has landed.
    pass(WRITE_GRACE).await;
    let reporting = json!([entry(&json!({"encodingVersion": "example.io/v2"}))]).to_string();
    within(membership.report(&reporting)).await.unwrap();
    let name = migration(&bound).await;
    let resources = json!([{"group": "example.io", "resource": "widgets"}]);
    let hour = json!({"worker": "w", "resources": resources, "store": "own", "ttlMs": 3_600_000});
    for closes in [true, false] {
        let worker = bound.migrator(&hour.to_string()).unwrap();
        let answering = async {
            let task = worker.tasks().next().await.unwrap().unwrap();
            assert!(parsed(&task.document())["list"].is_object());
            if closes {
                worker.close();
                // The worker does not wait for the answer any more.
                while task.is_wanted() {
                    tokio::task::yield_now().await;
                }
            } else {
                let error = json!({"kind": "not_ready", "why": "it encodes in v1"});
                task.answer(&json!({"error": error}).to_string()).unwrap();
            }
        };
        let working = worker.run_one(&name, pending());
        let (worked, ()) = within(async { tokio::join!(working, answering) }).await;
        let worked = parsed(&worked.unwrap());
        assert_eq!(worked["worked"], "released", "{worked}");
        let why = worked["why"].as_str().unwrap();
        assert!(why.contains(if closes { "stop" } else { "in v1" }), "{why}");
    }
    let got = call(&bound, "Migrations/Get", json!({"name": name})).await;
    assert_eq!(
        got["migration"]["phase"], "MIGRATION_PHASE_PENDING",
        "{got}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_worker_with_a_fenced_store_stops_although_no_replica_answers() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    let resources = json!([{"group": "example.io", "resource": "widgets"}]);
    let options = json!({"worker": "w", "resources": resources, "store": "fenced"}).to_string();
    cluster.network.set(&endpoint(1), Weather::Mute);
    let soon = || tokio::time::sleep(Duration::from_millis(100));
    let since = tokio::time::Instant::now();
    let worker = bound.migrator(&options).unwrap();
    let attempt = within(worker.run_one("widgets.example.io-7", soon())).await;
    assert_eq!(attempt.unwrap(), "{}");
    let closing = async {
        soon().await;
        worker.close();
    };
    let (ran, ()) = within(async { tokio::join!(worker.run(pending()), closing) }).await;
    ran.unwrap();
    assert!(
        since.elapsed() < Duration::from_secs(1),
        "{:?}",
        since.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_worker_asks_a_store_of_its_own_by_tasks() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    let joining = bound.join(r#"{"id": "server"}"#).unwrap();
    let membership = within(joining.next()).await.unwrap().unwrap();
    // What was written before the server joined has landed.
    pass(WRITE_GRACE).await;
    let reporting = json!([entry(&json!({"encodingVersion": "example.io/v2"}))]).to_string();
    within(membership.report(&reporting)).await.unwrap();
    let resources = json!([{"group": "example.io", "resource": "widgets"}]);
    let options = json!({"worker": "w", "resources": resources, "store": "own"});
    let worker = bound.migrator(&options.to_string()).unwrap();
    let name = migration(&bound).await;
    let mut rewritten = Vec::new();
    let answering = async {
        while let Some(task) = worker.tasks().next().await.unwrap() {
            let asked = parsed(&task.document());
            let answer = match (asked["list"].get("token"), asked.get("rewrite")) {
                (_, Some(rewrite)) => {
                    rewritten.push(rewrite["object"].clone());
                    match rewritten.len() {
                        1 => json!({"error": {"kind": "busy", "retryAfterMs": 100}}),
                        _ => json!({"rewritten": true}),
                    }
                }
                (Some(_), None) => json!({"page": {"objects": [{"row": 2}]}}),
                (None, None) => json!({"page": {"objects": [{"row": 1}], "next": "2"}}),
            };
            task.answer(&answer.to_string()).unwrap();
        }
    };
    let working = async {
        let worked = worker.run_one(&name, pending()).await;
        worker.close();
        worked
    };
    let (worked, ()) = within(async { tokio::join!(working, answering) }).await;
    let worked = parsed(&worked.unwrap());
    assert_eq!(worked["worked"], "completed");
    let assumed = &worked["assumptions"][0];
    assert_eq!(assumed["reason"], "ASSUMPTION_REASON_NO_ROSTER", "{worked}");
    assert_eq!(
        rewritten,
        [json!({"row": 1}), json!({"row": 1}), json!({"row": 2})]
    );
}

#[tokio::test(start_paused = true)]
async fn only_a_store_of_its_own_without_a_fence_says_that_it_walks_a_collection() {
    let cluster = Cluster::start(1).await;
    let bound = bound(&cluster).await;
    let resources = json!([{"group": "example.io", "resource": "widgets"}]);
    for (store, walks, is_taken) in [
        (json!("own"), json!("WALK_BOTH"), true),
        (json!("own"), json!("WALK_COLLECTION"), true),
        (json!("own"), json!("both"), false),
        (json!("own"), json!("WALK_UNSPECIFIED"), false),
        (json!("fenced"), json!("WALK_OUTSIDE"), true),
        (json!("fenced"), json!("WALK_BOTH"), false),
        (json!(null), json!("WALK_COLLECTION"), false),
        (json!(null), json!(null), true),
    ] {
        let options =
            json!({"worker": "w", "resources": resources, "store": store, "walks": walks});
        let made = bound.migrator(&options.to_string());
        assert_eq!(made.is_ok(), is_taken, "{options}");
        if let Err(failure) = made {
            assert_eq!(failure.violations[0].field, "walks");
        }
    }
}
