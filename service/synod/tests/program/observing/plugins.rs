//! Observers whose kubeconfig names a plugin, which says who calls.

use std::fs;

use super::*;

const PLUGIN: &str = "client.authentication.k8s.io/v1";

/// What a plugin does first: it notes that it runs, beside itself.
const NOTES: &str = "cd \"$(dirname \"$0\")\"\necho run >> runs\n";

/// The user whom this script names, with more lines about the plugin.
fn user_of(folder: &Folder, script: &str, more: &str) -> String {
    folder.replace("login", &format!("{NOTES}{script}"));
    let login = text(&folder.path("login")).to_owned();
    format!(
        "    exec:\n      apiVersion: {PLUGIN}\n      command: sh\n      args: [{login}]\n      \
         interactiveMode: IfAvailable\n{more}"
    )
}

/// The part of a script that says a status, in which the shell puts what is after a `$`.
fn says(status: &str) -> String {
    let status = status.replace('"', "\\\"");
    format!(
        "echo \"{{\\\"apiVersion\\\":\\\"{PLUGIN}\\\",\\\"kind\\\":\\\"ExecCredential\\\",\\\"status\\\":{status}}}\"\n"
    )
}

#[tokio::test]
async fn a_plugin_is_asked_again_when_its_token_expires() {
    let cluster = Cluster::start().await;
    let folder = Folder::new();
    let a = ApiServer::start_secured("v1", folder.acceptor(Serves::Anybody)).await;
    folder.replace("token", "first");
    a.knows("first");
    let script = format!(
        "token=$(cat token)\nuntil=$(date -u -d '2 seconds' +%Y-%m-%dT%H:%M:%SZ)\n{}",
        says(r#"{"token":"$token","expirationTimestamp":"$until"}"#)
    );
    let config = folder.kubeconfig(a.port(), "", &user_of(&folder, &script, ""));
    let config = text(&config).to_owned();
    let period = ["observe", "--period", "500ms", "--kubeconfig"];
    let mut observer = cluster.begin(&[&period[..], &[&config, a.url()]].concat());
    while observer.line().await.unwrap() != "1 resources of 1 servers: 1 as before" {}
    // The first token counts still: only who lets it expire learns of the other one, too early.
    folder.replace("token", "second");
    while !observer.line().await.unwrap().contains("401") {}
    a.knows("second");
    while observer.line().await.unwrap() != "1 resources of 1 servers: 1 as before" {}
    observer.signal(rustix::process::Signal::TERM);
    assert_eq!(observer.ended().await.code(), Some(0));
}

#[tokio::test]
async fn a_plugin_that_was_told_of_the_cluster_says_a_certificate_and_later_another_one() {
    let cluster = Cluster::start().await;
    let folder = Folder::new();
    let (a, _b) = secured(&folder).await;
    folder.issue_expired("late", "observer");
    // It is told as `kubectl` tells it, and refuses to say anything else.
    let told = "for part in '\"interactive\":false' '\"server\":\"https://127.0.0.1:' '\"certificate-authority-data\":\"' \
         '\"tls-server-name\":\"kubernetes.default.svc\"'; do\n\
         case $KUBERNETES_EXEC_INFO in *\"$part\"*) ;; *) echo \"nobody told $part\" >&2; exit 1;; esac\ndone\n\
         test \"$WHO\" = observer || { echo nobody told who >&2; exit 1; }\n\
         line() { awk '{printf \"%s\\\\n\", $0}' \"$1\"; }\ncertificate=$(line late.crt)\nkey=$(line late.key)\n";
    let status = r#"{"clientCertificateData":"$certificate","clientKeyData":"$key","expirationTimestamp":"2001-01-01T00:00:00Z"}"#;
    let script = format!("{told}{}", says(status).replace("echo", "printf '%s\\n'"));
    let more = "      provideClusterInfo: true\n      env: [{name: WHO, value: observer}]";
    let config = folder.kubeconfig(a.port(), "", &user_of(&folder, &script, more));
    let config = text(&config).to_owned();
    let words = ["observe", "--period", "500ms", "--kubeconfig", &config];
    let mut observer = cluster.begin(&[&words[..], &[a.url()]].concat());
    loop {
        let line = observer.line().await.unwrap();
        assert!(!line.contains("nobody told"), "{line}");
        if line.to_lowercase().contains("expired") {
            break;
        }
    }
    folder.issue("late", "observer");
    while observer.line().await.unwrap() != "1 resources of 1 servers: 1 as before" {}
    observer.signal(rustix::process::Signal::TERM);
    assert_eq!(observer.ended().await.code(), Some(0));
}

#[tokio::test]
async fn a_plugin_that_fails_is_named_with_the_reason() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let folder = Folder::new();
    let a = ApiServer::start_secured("v1", folder.acceptor(Serves::Anybody)).await;
    let looked = async |user: &str| {
        let config = folder.kubeconfig(a.port(), "", user);
        let words = ["observe", "--once", "--kubeconfig", text(&config), a.url()];
        let printed = cluster.ask(&words).await;
        (printed.code, printed.out + &printed.err)
    };
    let fails = user_of(&folder, "echo you are not logged in >&2\nexit 3\n", "");
    let (code, told) = looked(&fails).await;
    assert_eq!(code, 1, "{told}");
    assert!(
        told.contains("cannot say who calls: sh ended with exit status: 3: you are not logged in"),
        "{told}"
    );
    // The requests of a look do not run it again one by one.
    let runs = fs::read_to_string(folder.path("runs")).unwrap();
    assert_eq!(runs.lines().count(), 1);

    let hint = "      installHint: get it from the cupboard";
    let missing = user_of(&folder, "", hint).replace("command: sh", "command: no-such-program");
    let (code, told) = looked(&missing).await;
    assert_eq!(code, 1, "{told}");
    assert!(
        told.contains("no-such-program cannot be run") && told.contains("get it from the cupboard"),
        "{told}"
    );

    let needs_a_person = user_of(&folder, "", "").replace("IfAvailable", "Always");
    let (code, told) = looked(&needs_a_person).await;
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("needs a person"), "{told}");
    assert_eq!(migrations(&client).await.len(), 0);
}
