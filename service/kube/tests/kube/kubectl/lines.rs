//! kubectl, line by line: how it prints, selects, validates, compares, replaces and deletes.

use std::process::Stdio;

use serde_json::json;
use synod_proto::v1;
use synod_proto::v1::migrations_client::MigrationsClient;
use tokio::time::timeout;

use super::{Kubectl, kubectls, widget};
use crate::api::Api;
use crate::own::{MIGRATIONS, report};
use crate::replicas::{PATIENCE, Replicas};

#[tokio::test]
#[ignore = "needs kubectl"]
async fn kubectl_prints_and_selects_in_every_way() {
    for program in kubectls() {
        let replicas = Replicas::with_widgets().await;
        let server = format!("http://{}", replicas.kube[0]);
        let kubectl = Kubectl::new(&program, &["--server", &server]);
        for (name, size) in [("a", 2), ("b", 1)] {
            kubectl.file("a.json", &widget(name, size));
            kubectl.prints("create -f a.json", "created").await;
        }
        for (line, told) in [
            ("get widgets -n n -o json", "\"size\": 2"),
            ("get widgets -n n -o wide", "NAME"),
            (
                "get widgets -n n -o custom-columns=OWN:.metadata.name",
                "OWN",
            ),
            ("get widgets -n n -L app", "APP"),
            ("get --raw /readyz?verbose", "readyz check passed"),
            ("get sv", ""),
            ("get svm", ""),
        ] {
            kubectl.prints(line, told).await;
        }
        let sorted = "get widgets -n n --sort-by=.spec.size -o name";
        let names = kubectl.prints(sorted, "widget").await;
        assert_eq!(names, "widget.example.io/b\nwidget.example.io/a\n");
        let one = "get widgets -n n --field-selector=metadata.name=b -o name";
        let names = kubectl.prints(one, "widget").await;
        assert_eq!(names, "widget.example.io/b\n");
    }
}

#[tokio::test]
#[ignore = "needs kubectl"]
async fn kubectl_validates_compares_and_replaces() {
    for program in kubectls() {
        let replicas = Replicas::with_widgets().await;
        let server = format!("http://{}", replicas.kube[0]);
        let kubectl = Kubectl::new(&program, &["--server", &server]);
        let mut bad = widget("warned", 1);
        bad["metadata"]["bogus"] = json!(1);
        kubectl.file("bad.json", &bad);
        let told = "Warning: unknown field \"metadata.bogus\"";
        kubectl
            .prints("create -f bad.json --validate=warn", told)
            .await;
        bad["metadata"]["name"] = json!("ignored");
        kubectl.file("bad.json", &bad);
        let printed = kubectl.run("create -f bad.json --validate=ignore").await;
        assert!(
            printed.code == 0 && !printed.err.contains("Warning"),
            "{printed:?}"
        );
        let mut unnamed = widget("", 1);
        unnamed["metadata"] = json!({"generateName": "w-", "namespace": "n"});
        kubectl.file("unnamed.json", &unnamed);
        kubectl
            .prints("create -f unnamed.json", "widget.example.io/w-")
            .await;

        kubectl.file("a.json", &widget("a", 1));
        kubectl.prints("apply -f a.json", "created").await;
        assert_eq!(kubectl.run("diff -f a.json").await.code, 0);
        kubectl.file("a.json", &widget("a", 2));
        let printed = kubectl.run("diff -f a.json").await;
        assert!(
            printed.code == 1 && printed.out.contains("size: 2"),
            "{printed:?}"
        );
        kubectl
            .prints("replace --force -f a.json", "replaced")
            .await;
        for (line, told) in [
            (
                "patch widget a -n n --type=json -p [{\"op\":\"replace\",\"path\":\"/spec/size\",\"value\":7}]",
                "patched",
            ),
            ("get widget a -n n -o jsonpath={.spec.size}", "7"),
        ] {
            kubectl.prints(line, told).await;
        }
        kubectl
            .fails(
                "patch widget a -n n --type=merge -p {\"apiVersion\":\"example.io/v2\"}",
                "",
            )
            .await;
    }
}

#[tokio::test]
#[ignore = "needs kubectl"]
async fn kubectl_creates_a_migration_under_its_name_waits_for_it_and_deletes_it() {
    for program in kubectls() {
        let replicas = Replicas::one().await;
        report(&replicas, "a", "apps/v1").await;
        let server = format!("http://{}", replicas.kube[0]);
        let kubectl = Kubectl::new(&program, &["--server", &server]);
        // The one that began by itself comes first.
        kubectl.prints("delete svm --all", "deleted").await;
        let document = json!({
            "apiVersion": "storagemigration.k8s.io/v1beta1",
            "kind": "StorageVersionMigration",
            "metadata": { "name": "my-migration" },
            "spec": { "resource": { "group": "apps", "resource": "deployments" } },
        });
        kubectl.file("svm.json", &document);
        for round in 0..2 {
            let create = ["create -f svm.json", "apply -f svm.json"][round];
            kubectl.prints(create, "my-migration created").await;
            kubectl.fails("create -f svm.json", "already exists").await;
            let shown = kubectl.prints("get svm my-migration", "deployments").await;
            assert!(shown.contains("Pending"), "{shown}");
            completes(&replicas, &Api::of(&replicas)).await;
            let wait = "wait --for=condition=Succeeded svm/my-migration --timeout=10s";
            kubectl.prints(wait, "condition met").await;
            kubectl
                .prints("describe svm my-migration", "Succeeded")
                .await;
            kubectl.prints("apply -f svm.json", "my-migration").await;
            kubectl
                .prints("delete -f svm.json --timeout=10s", "deleted")
                .await;
            kubectl.fails("get svm my-migration", "NotFound").await;
        }
        // Also while it waits for a worker.
        kubectl.prints("create -f svm.json", "created").await;
        kubectl
            .prints("delete svm my-migration --timeout=10s", "deleted")
            .await;
    }
}

/// A worker carries out the migration that waits.
async fn completes(replicas: &Replicas, api: &Api) {
    let shown = api.get(&format!("{MIGRATIONS}/my-migration")).await;
    let name = shown.body["status"]["migration"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut migrations = MigrationsClient::new(replicas.channel().await);
    let claim = v1::MigrationsClaimRequest {
        name: name.clone(),
        worker: "one".to_owned(),
        ..v1::MigrationsClaimRequest::default()
    };
    let claimed = migrations.claim(claim).await.unwrap().into_inner();
    let complete = v1::MigrationsCompleteRequest {
        request_id: None,
        claim: Some(v1::ClaimKey {
            migration: name,
            token: claimed.token,
            cluster_id: String::new(),
        }),
    };
    migrations.complete(complete).await.unwrap();
}

#[tokio::test]
#[ignore = "needs kubectl"]
async fn kubectl_deletes_in_every_way() {
    for program in kubectls() {
        let replicas = Replicas::with_widgets().await;
        let server = format!("http://{}", replicas.kube[0]);
        let kubectl = Kubectl::new(&program, &["--server", &server]);
        kubectl.file("a.json", &widget("a", 1));
        for cascade in ["background", "foreground", "orphan"] {
            kubectl.prints("create -f a.json", "created").await;
            let line = format!("delete widget a -n n --cascade={cascade} --timeout=10s");
            kubectl.prints(&line, "deleted").await;
        }
        let mut waiting = widget("a", 1);
        waiting["metadata"]["finalizers"] = json!(["example.io/wait"]);
        kubectl.file("a.json", &waiting);
        kubectl.prints("create -f a.json", "created").await;
        kubectl
            .prints("delete widget a -n n --wait=false", "deleted")
            .await;
        let mut gone = kubectl
            .command("wait widget/a -n n --for=delete --timeout=20s")
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let line = "patch widget a -n n --type=merge -p {\"metadata\":{\"finalizers\":null}}";
        let printed = kubectl.prints(line, "patched").await;
        assert!(!printed.contains("no change"), "{printed}");
        let ended = timeout(PATIENCE, gone.wait()).await.unwrap().unwrap();
        assert!(ended.success(), "{}: {ended}", program.display());
        for name in ["a", "b"] {
            kubectl.file("a.json", &widget(name, 1));
            kubectl.prints("create -f a.json", "created").await;
        }
        kubectl.prints("delete widgets --all -n n", "deleted").await;
        let left = kubectl.prints("get widgets -n n -o name", "").await;
        assert_eq!(left, "");
    }
}

#[tokio::test]
#[ignore = "needs kubectl"]
async fn kubectl_tries_leases_and_is_told_what_they_do_not_keep() {
    for program in kubectls() {
        let replicas = Replicas::one().await;
        let server = format!("http://{}", replicas.kube[0]);
        let kubectl = Kubectl::new(&program, &["--server", &server]);
        let lease = |seconds: u64| {
            json!({
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": { "name": "a", "namespace": "n" },
                "spec": { "holderIdentity": "x", "leaseDurationSeconds": seconds },
            })
        };
        kubectl.file("lease.json", &lease(3_600));
        // It is not there, so all of it is new.
        assert_eq!(kubectl.run("diff -f lease.json").await.code, 1);
        kubectl
            .prints("create -f lease.json --dry-run=server", "server dry run")
            .await;
        kubectl.prints("create -f lease.json", "created").await;
        kubectl.file("lease.json", &lease(1_800));
        let printed = kubectl.run("diff -f lease.json").await;
        assert!(
            printed.code == 1 && printed.out.contains("leaseDurationSeconds: 1800"),
            "{printed:?}"
        );
        for (line, told) in [
            (
                "get lease a -n n -o jsonpath={.spec.leaseDurationSeconds}",
                "3600",
            ),
            (
                "label lease a -n n x=y",
                "Warning: metadata.labels is not kept as it was sent",
            ),
            ("delete lease a -n n --dry-run=server", "server dry run"),
            ("get lease a -n n", "HOLDER"),
        ] {
            kubectl.prints(line, told).await;
        }
    }
}
