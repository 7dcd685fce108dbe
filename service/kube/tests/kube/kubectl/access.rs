//! kubectl with certificates: what a policy grants it, and what it is told of that.

use serde_json::json;

use super::{Kubectl, kubectls};
use crate::certificates::secured;
use crate::replicas::Replicas;

/// Asks what the policy grants, as kubectl does it: in protobuf.
async fn asked_about_itself(admin: &Kubectl, reader: &Kubectl) {
    admin.prints("auth can-i create leases -A", "yes").await;
    admin.prints("auth can-i * *", "yes").await;
    reader.prints("auth can-i get leases -n n", "yes").await;
    for path in ["/version", "/readyz", "/metrics"] {
        reader
            .prints(&format!("auth can-i get {path}"), "yes")
            .await;
    }
    let list = reader.prints("auth can-i --list -n n", "leases").await;
    let leases = list.lines().find(|line| line.starts_with("leases"));
    assert!(
        leases.is_some_and(|line| !line.contains("create")),
        "{list}"
    );
    for line in [
        "auth can-i create leases -n n",
        "auth can-i * *",
        "auth can-i get /logs",
    ] {
        let printed = reader.run(line).await;
        assert!(
            printed.code == 1 && printed.out.starts_with("no"),
            "{line}: {printed:?}"
        );
    }
    // `whoami` is older than its answer: kubectl 1.27 asks for alpha and beta versions alone.
    if reader.program.ends_with("kubectl.1.27") {
        reader.fails("auth whoami", "not enabled").await;
    } else {
        reader.prints("auth whoami", "spiffe://synod/reader").await;
    }
}

/// Asks for what a reader may not do, in ways in which nothing would come of it.
async fn refused_before_anything_is_looked_at(admin: &Kubectl, reader: &Kubectl) {
    // Whether it may write is asked before its patch is applied, which would fail.
    let nowhere =
        "patch lease a -n kube-system --type=json -p [{\"op\":\"remove\",\"path\":\"/nope\"}]";
    reader
        .fails(nowhere, "cannot patch resource \"leases\"")
        .await;
    admin.fails(nowhere, "is invalid").await;
    // Of no document it is asked either, nor of what selects nothing.
    let nothing =
        "replace --raw /apis/coordination.k8s.io/v1/namespaces/n/leases/a -f nothing.json";
    for kubectl in [admin, reader] {
        kubectl.file("nothing.json", &json!({}));
    }
    reader
        .fails(nothing, "cannot update resource \"leases\"")
        .await;
    admin.fails(nothing, "does not match").await;
    let nobody =
        "delete --raw /apis/apps/v1/namespaces/n/controllerrevisions?labelSelector=no%3Dbody";
    reader
        .fails(
            nobody,
            "cannot deletecollection resource \"controllerrevisions\"",
        )
        .await;
    admin.prints(nobody, "Success").await;
}

/// Takes part as a member, which is let speak for itself alone.
async fn spoke_for_itself_alone(admin: &Kubectl, member: &Kubectl) {
    let identity = |name: &str| {
        json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {
                "name": name,
                "namespace": "kube-system",
                "labels": { "apiserver.kubernetes.io/identity": "kube-apiserver" },
            },
            "spec": { "holderIdentity": "x", "leaseDurationSeconds": 3600 },
        })
    };
    let status = |servers: &[&str]| {
        let entry = |server: &&str| json!({"apiServerID": server, "encodingVersion": "v1", "decodableVersions": ["v1"]});
        json!({
            "apiVersion": "internal.apiserver.k8s.io/v1alpha1",
            "kind": "StorageVersion",
            "metadata": { "name": "core.pods", "resourceVersion": "1" },
            "spec": {},
            "status": {
                "commonEncodingVersion": "v1",
                "storageVersions": servers.iter().map(entry).collect::<Vec<_>>(),
            },
        })
    };
    for kubectl in [admin, member] {
        kubectl.file("own.json", &identity("server-1"));
        kubectl.file("other.json", &identity("server-2"));
        kubectl.file("reports.json", &status(&["server-1"]));
        kubectl.file("speaks.json", &status(&["server-2"]));
    }
    let place = "replace --raw /apis/internal.apiserver.k8s.io/v1alpha1/storageversions/core.pods/status -f";
    member.prints("create -f own.json", "created").await;
    member.prints("replace -f own.json", "replaced").await;
    member.fails("create -f other.json", "forbidden").await;
    admin.prints("create -f other.json", "created").await;
    member.fails("replace -f other.json", "forbidden").await;
    member
        .fails("delete lease server-2 -n kube-system", "forbidden")
        .await;
    member
        .fails(&format!("{place} speaks.json"), "forbidden")
        .await;
    member
        .prints(&format!("{place} reports.json"), "commonEncodingVersion")
        .await;
    let told = member
        .prints("describe storageversion core.pods", "Events:")
        .await;
    assert!(
        told.contains("AgreementReached") && told.contains("all servers encode v1, by server-1"),
        "{told}"
    );
    member.prints("get storageversions", "server-1=v1").await;
    member
        .prints("delete lease server-1 -n kube-system", "deleted")
        .await;
    admin
        .fails("get storageversion core.pods", "not found")
        .await;
}

#[tokio::test]
#[ignore = "needs kubectl"]
async fn kubectl_is_let_do_what_the_policy_grants_to_its_certificate() {
    for program in kubectls() {
        let replicas = Replicas::start(1, secured).await;
        let server = format!("https://{}", replicas.kube[0]);
        let file = |name: &str| {
            replicas
                .directory
                .path()
                .join(name)
                .to_str()
                .unwrap()
                .to_owned()
        };
        let authority = file("ca.pem");
        let by = |who: &str| {
            let (certificate, key) = (file(&format!("{who}.pem")), file(&format!("{who}.key")));
            let flags = [
                "--server",
                &server,
                "--certificate-authority",
                &authority,
                "--client-certificate",
                &certificate,
                "--client-key",
                &key,
            ];
            Kubectl::new(&program, &flags)
        };
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": { "name": "a", "namespace": "kube-system" },
            "spec": { "holderIdentity": "x", "leaseDurationSeconds": 3600 },
        });
        let (admin, reader) = (by("admin"), by("reader"));
        spoke_for_itself_alone(&admin, &by("server-1")).await;
        admin.file("lease.json", &lease);
        reader.file("lease.json", &lease);
        let told = "leases.coordination.k8s.io \"a\" is forbidden: User \"spiffe://synod/reader\" cannot create resource \
                    \"leases\" in API group \"coordination.k8s.io\" in the namespace \"kube-system\"";
        reader.fails("create -f lease.json", told).await;
        admin.prints("create -f lease.json", "created").await;
        reader.prints("get leases -A", "HOLDER").await;
        asked_about_itself(&admin, &reader).await;
        refused_before_anything_is_looked_at(&admin, &reader).await;
        let nobody = Kubectl::new(
            &program,
            &[
                "--server",
                &server,
                "--certificate-authority",
                &authority,
                "--token",
                "x",
            ],
        );
        nobody
            .fails("get leases -A", "You must be logged in to the server")
            .await;
    }
}
