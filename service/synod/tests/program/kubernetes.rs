//! Runs `synod observe` and `synod migrate` against Kubernetes' own API server with etcd behind it, each by the roles that are
//! deployed for it, and Synod's groups behind such a server.
//!
//! They are ignored unless asked for, since the server has to be built by Go: `cargo xtask test kube` does both.

mod aggregated;
mod api_server;
mod etcd;
mod http;
mod stage;

use serde_json::{Value, json};
use synod_client::Persisted;
use tokio::time::timeout;

use crate::certificates::text;
use crate::program::{LIMIT, Running};
use etcd::Stored;
use stage::{
    DEFINITION_AT, DEFINITIONS, DEFINITIONS_AT, SERVICES_AT, STORED_DEFINITIONS, STORED_WIDGETS,
    Stage, V1, V2, WIDGETS, definition, hash, known, service, widgets_in,
};

/// What of an object nobody may change who rewrites it.
fn content(stored: &Stored) -> Value {
    let mut document = stored.document.clone();
    document.as_object_mut().unwrap().remove("apiVersion");
    document
}

/// The next event of this name.
async fn next(running: &mut Running, name: &str) -> Value {
    loop {
        let line = running.line().await.expect("it has ended");
        let event: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        if let Some(found) = event.get(name) {
            return found.clone();
        }
    }
}

#[tokio::test]
#[ignore = "it needs an API server that Go builds: `cargo xtask test kube`"]
async fn what_the_servers_of_a_rollout_store_is_observed_and_migrated() {
    let mut stage = Stage::set(&["--definitions-in=v1beta1"]).await;
    stage.defined(&widgets_in("v1")).await;
    let services = service("apiextensions.k8s.io", "v1");
    stage.a.send("POST", SERVICES_AT, &services).await;
    let seen = async |stage: &Stage| {
        let (code, seen) = stage.look().await;
        assert_eq!(code, 0, "{seen:?}");
        let definitions = &seen["customresourcedefinitions"];
        let hashes = definitions["hashes"].as_array().unwrap().len();
        (definitions["outcome"].as_str().unwrap().to_owned(), hashes)
    };
    stage.lists("apiextensions.k8s.io/v1").await;
    assert_eq!(seen(&stage).await, ("CHANGED".to_owned(), 1));
    let ended = stage.work(&[DEFINITIONS]).await;
    assert_eq!(ended["ended"]["outcome"], "COMPLETED", "{ended}");
    let encoded = async |stage: &Stage| {
        let stored = stage.etcd.stored(STORED_DEFINITIONS).await;
        assert_eq!(stored.len(), 1);
        stored[0].document["apiVersion"].clone()
    };
    assert_eq!(encoded(&stage).await, "apiextensions.k8s.io/v1beta1");

    // One after the other is started again as a release that stores v1.
    stage.b.kill().await;
    stage.b.restart(&["--definitions-in=v1"]).await;
    stage.lists("apiextensions.k8s.io/v1").await;
    assert_eq!(seen(&stage).await, ("CHANGED".to_owned(), 2));
    assert!(stage.pending(DEFINITIONS).await.is_empty(), "they differ");
    stage.a.kill().await;
    stage.a.restart(&["--definitions-in=v1"]).await;
    stage.lists("apiextensions.k8s.io/v1").await;
    assert_eq!(seen(&stage).await, ("CHANGED".to_owned(), 1));
    assert_eq!(stage.pending(DEFINITIONS).await.len(), 1);
    assert_eq!(stage.state(DEFINITIONS).await.persisted.len(), 2);

    let counted = stage.work(&[DEFINITIONS, "--dry-run"]).await;
    assert_eq!(counted["counted"]["objects"], 1, "{counted}");
    assert_eq!(encoded(&stage).await, "apiextensions.k8s.io/v1beta1");
    let ended = stage.work(&[DEFINITIONS]).await;
    assert_eq!(ended["ended"]["rewritten"], 1, "{ended}");
    assert_eq!(encoded(&stage).await, "apiextensions.k8s.io/v1");
    assert_eq!(stage.state(DEFINITIONS).await.persisted.len(), 1);
}

// Guarantee: MG-13
#[tokio::test]
#[ignore = "it needs an API server that Go builds: `cargo xtask test kube`"]
async fn a_custom_resource_is_rewritten_and_its_old_version_can_be_removed() {
    let stage = Stage::with_widgets(&[], 40).await;
    let before = stage.etcd.stored(STORED_WIDGETS).await;
    stage.turns_to_v2().await;
    assert_eq!(stage.old().await, 40);
    let (code, seen) = stage.look().await;
    assert_eq!((code, &seen["widgets"]["outcome"]), (0, &"CHANGED".into()));
    assert_eq!(seen["widgets"]["hashes"], json!([hash("v2").to_string()]));
    assert_eq!(stage.pending(WIDGETS).await.len(), 1);

    let counted = stage
        .work(&[WIDGETS, "--dry-run", "--page-size", "7"])
        .await;
    assert_eq!(counted["counted"]["objects"], 40, "{counted}");
    assert_eq!(stage.etcd.stored(STORED_WIDGETS).await, before);

    let ended = stage
        .work(&[WIDGETS, "--page-size", "7", "--trim-stored-versions"])
        .await;
    assert_eq!(ended["ended"]["rewritten"], 40, "{ended}");
    assert_eq!(ended["ended"]["storedVersions"], json!(["v2"]), "{ended}");
    let after = stage.etcd.stored(STORED_WIDGETS).await;
    assert_eq!(stage.old().await, 0);
    let [was, is] = [&before, &after].map(|all| all.iter().map(content).collect::<Vec<_>>());
    assert_eq!(was, is, "an object was changed");
    assert!(
        before
            .iter()
            .zip(&after)
            .all(|(was, is)| was.written_at < is.written_at)
    );
    let state = stage.state(WIDGETS).await;
    assert_eq!(state.persisted, [Persisted::observed(hash("v2"))]);

    // The API server refuses that for as long as it is said that something is stored in it.
    let mut definition = stage.a.get(DEFINITION_AT).await;
    assert_eq!(definition["status"]["storedVersions"], json!(["v2"]));
    definition["spec"]["versions"]
        .as_array_mut()
        .unwrap()
        .remove(0);
    stage.a.send("PUT", DEFINITION_AT, &definition).await;
    let (code, _) = stage
        .a
        .ask(
            "GET",
            &format!("{V2}/namespaces/one/widgets/widget-0001"),
            None,
        )
        .await;
    assert_eq!(code, 200);
}

// Guarantee: MG-13
#[tokio::test]
#[ignore = "it needs an API server that Go builds: `cargo xtask test kube`"]
async fn a_list_whose_revision_is_compacted_goes_on_and_what_others_write_stays() {
    // Without a cache each page is read from etcd at the revision of the first one.
    let stage = Stage::with_widgets(&["--watch-cache=false"], 40).await;
    stage.turns_to_v2().await;
    assert_eq!(stage.look().await.0, 0);
    let slowly = ["--objects-per-second", "10", "--objects-at-once", "1"];
    let words = [&[WIDGETS, "--page-size", "5"], &slowly[..]].concat();
    let mut running = stage.begin(&words);
    stage.is_in_the_middle(40).await;
    let gone = stage.a.answered_with(410).await;
    stage.etcd.compact().await;
    // The last two are met late: one is changed, one is deleted before.
    let last = format!("{V1}/namespaces/two/widgets/widget-0040");
    let mut widget = stage.b.get(&last).await;
    widget["changed"] = true.into();
    stage.b.send("PUT", &last, &widget).await;
    let other = format!("{V1}/namespaces/two/widgets/widget-0038");
    stage.b.send("DELETE", &other, &json!({})).await;

    let ended = next(&mut running, "ended").await;
    assert_eq!(ended["outcome"], "COMPLETED", "{ended}");
    assert!(running.ended().await.success());
    assert!(stage.a.answered_with(410).await > gone, "no list expired");
    assert_eq!(stage.old().await, 0);
    let stored = stage.etcd.stored(STORED_WIDGETS).await;
    assert_eq!(stored.len(), 39);
    let changed = stored.iter().filter(|one| one.document["changed"] == true);
    assert_eq!(changed.count(), 1, "what somebody else wrote stays");
}

// Guarantee: MG-13
#[tokio::test]
#[ignore = "it needs an API server that Go builds: `cargo xtask test kube`"]
async fn a_server_that_vanishes_makes_no_agreement_and_is_waited_for() {
    let mut stage = Stage::with_widgets(&[], 40).await;
    stage.b.kill().await;
    let (code, seen) = stage.look().await;
    assert_eq!((code, &seen["widgets"]["outcome"]), (1, &"WITHHELD".into()));
    stage.turns_to_v2().await;
    let (code, seen) = stage.look().await;
    assert_eq!((code, &seen["widgets"]["outcome"]), (1, &"WIDENED".into()));
    assert!(stage.pending(WIDGETS).await.is_empty());
    stage.b.restart(&[]).await;
    stage.shows(&hash("v2")).await;
    let (code, seen) = stage.look().await;
    assert_eq!((code, &seen["widgets"]["outcome"]), (0, &"CHANGED".into()));

    // The one that is migrated through is killed in the middle, and comes back.
    let slowly = ["--objects-per-second", "10", "--objects-at-once", "1"];
    let words = [&[WIDGETS, "--page-size", "5"], &slowly[..]].concat();
    let mut running = stage.begin(&words);
    stage.is_in_the_middle(40).await;
    stage.a.kill().await;
    stage.a.restart(&[]).await;
    let ended = next(&mut running, "ended").await;
    assert_eq!(ended["outcome"], "COMPLETED", "{ended}");
    assert!(running.ended().await.success());
    assert_eq!(stage.old().await, 0);
}

#[tokio::test]
#[ignore = "it needs an API server that Go builds: `cargo xtask test kube`"]
async fn each_server_that_advertises_an_address_is_found_and_leases_tell_of_others() {
    let stage = Stage::with_widgets(&[], 1).await;
    let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    // This server serves neither by itself.
    let resources = [
        (
            "discovery.k8s.io",
            ("endpointslices", "EndpointSlice"),
            slices,
        ),
        ("coordination.k8s.io", ("leases", "Lease"), leases),
    ];
    for (group, names, path) in resources {
        let defined = definition(group, names, &["v1"], "v1");
        stage.a.send("POST", DEFINITIONS_AT, &defined).await;
        let serves = async { while stage.a.ask("GET", path, None).await.0 != 200 {} };
        timeout(LIMIT, serves).await.expect("it does not serve it");
    }
    for (number, server) in [&stage.a, &stage.b].into_iter().enumerate() {
        let slice = json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": {"name": format!("kubernetes-{number}"), "labels": {"kubernetes.io/service-name": "kubernetes"}},
            "endpoints": [{"addresses": ["127.0.0.1"]}], "ports": [{"name": "https", "port": server.port()}],
        });
        stage.a.send("POST", slices, &slice).await;
    }
    let lease = async |number: u32| {
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": format!("apiserver-{number}"), "labels": {"apiserver.kubernetes.io/identity": "kube-apiserver"}},
            "spec": {"renewTime": "2026-11-24T12:00:00.000000Z", "leaseDurationSeconds": 3_600},
        });
        stage.a.send("POST", leases, &lease).await;
    };
    lease(1).await;
    lease(2).await;
    let (code, found) = stage.look_at(&[]).await;
    assert_eq!(code, 0, "{found}");
    let urls = found["look"]["servers"].as_array().unwrap().iter();
    let urls: Vec<&str> = urls.map(|server| server["url"].as_str().unwrap()).collect();
    let mut wanted = [stage.a.url(), stage.b.url()];
    wanted.sort_unstable();
    assert_eq!(urls, wanted);
    lease(3).await;
    let (code, found) = stage.look_at(&[]).await;
    assert_eq!(code, 1, "{found}");
    assert!(found.to_string().contains("hold leases"), "{found}");
}

#[tokio::test]
#[ignore = "it needs an API server that Go builds: `cargo xtask test kube`"]
async fn a_file_with_a_token_that_no_longer_counts_is_read_again() {
    let stage = Stage::with_widgets(&[], 40).await;
    works_on_with_another_token(&stage).await;
}

#[tokio::test]
#[ignore = "it needs an API server that Go builds: `cargo xtask test kube`"]
async fn a_plugin_whose_token_no_longer_counts_is_asked_again() {
    let mut stage = Stage::with_widgets(&[], 40).await;
    let plugin = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho run >> runs\n\
        printf '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"%s\"}}' \
        \"$(cat migrator.token)\"\n";
    stage.folder.replace("login", plugin);
    let by_plugin = "    exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [LOGIN], interactiveMode: Never}"
        .replace("LOGIN", text(&stage.folder.path("login")));
    stage.migrator = stage.folder.kubeconfig(stage.a.port(), "", &by_plugin);
    works_on_with_another_token(&stage).await;
    let runs = std::fs::read_to_string(stage.folder.path("runs")).unwrap();
    assert_eq!(
        runs.lines().count(),
        2,
        "once at the begin, and once when it was refused"
    );
}

/// Has a worker's token replaced in the middle of its work, and taken from those that count.
async fn works_on_with_another_token(stage: &Stage) {
    stage.turns_to_v2().await;
    assert_eq!(stage.look().await.0, 0);
    let slowly = ["--objects-per-second", "10", "--objects-at-once", "1"];
    let mut running = stage.begin(&[&[WIDGETS], &slowly[..]].concat());
    stage.is_in_the_middle(40).await;
    known(&stage.folder, &["migrates", "other"]);
    stage.folder.replace("migrator.token", "other");
    known(&stage.folder, &["other"]);
    assert!(stage.old().await > 0, "all are rewritten already");
    let ended = next(&mut running, "ended").await;
    assert_eq!(ended["outcome"], "COMPLETED", "{ended}");
    assert!(running.ended().await.success());
    assert_eq!(stage.old().await, 0);
}
