//! kubectl with `--subresource=status`.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Kubectl, kubectls, widget};
use crate::replicas::{PATIENCE, Replicas};

fn observed(size: u64, ready: u64) -> Value {
    let mut document = widget("a", size);
    document["status"] = json!({ "ready": ready });
    document
}

#[tokio::test]
#[ignore = "needs kubectl"]
async fn kubectl_reads_and_writes_the_status_apart() {
    for program in kubectls() {
        let replicas = Replicas::with_status().await;
        let server = format!("http://{}", replicas.kube[0]);
        let kubectl = Kubectl::new(&program, &["--server", &server]);
        kubectl.file("a.json", &observed(1, 9));
        kubectl.prints("create -f a.json", "created").await;
        let is = async |size: &str, ready: &str, generation: &str| {
            let line =
                "get widget a -n n -o jsonpath={.spec.size}/{.status.ready}/{.metadata.generation}";
            let told = format!("{size}/{ready}/{generation}");
            assert_eq!(kubectl.run(line).await.out, told);
        };
        is("1", "", "1").await;
        let patch = "patch widget a -n n --subresource=status --type=merge -p";
        let both = "{\"spec\":{\"size\":7},\"status\":{\"ready\":2}}";
        kubectl.prints(&format!("{patch} {both}"), "patched").await;
        is("1", "2", "1").await;
        kubectl
            .prints("get widget a -n n --subresource=status -o yaml", "ready: 2")
            .await;
        kubectl
            .prints("get widget a -n n --subresource=status", "NAME")
            .await;
        edited(&kubectl, r"s/ready:.2/ready:\ 3/").await;
        is("1", "3", "1").await;
        kubectl.file("a.json", &observed(2, 4));
        kubectl
            .prints("replace --subresource=status -f a.json", "replaced")
            .await;
        is("1", "4", "1").await;
        kubectl.prints("replace -f a.json", "replaced").await;
        is("2", "4", "2").await;
        kubectl.file("a.json", &observed(8, 5));
        let apply = "apply --server-side --subresource=status --force-conflicts -f a.json";
        // Older ones have the flag for other commands alone.
        if kubectl
            .run("apply --help")
            .await
            .out
            .contains("--subresource")
        {
            kubectl.prints(apply, "serverside-applied").await;
            is("2", "5", "2").await;
        }
        for verb in ["get", "patch", "update"] {
            let line = format!("auth can-i {verb} widgets.example.io --subresource=status -n n");
            kubectl.prints(&line, "yes").await;
        }
        let line = "auth can-i delete widgets.example.io --subresource=status -n n";
        assert_eq!(kubectl.run(line).await.code, 1);
    }
}

/// Edits the status of the widget `a` by a script of sed.
async fn edited(kubectl: &Kubectl, script: &str) {
    let mut command = kubectl.command("edit widget a -n n --subresource=status");
    // A shell reads it, since it has a backslash.
    let command = command.env("KUBE_EDITOR", format!("sed -i -e {script}"));
    let output = command.stdin(Stdio::null()).output();
    let output = timeout(PATIENCE, output).await.unwrap().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("edited"), "{output:?}");
}
