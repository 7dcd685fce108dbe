//! Runs the commands against a cluster: what they print, and their exit codes.

use synod_client::{GroupResource, ListStorageVersions, ReadOptions};

use crate::cluster::{Cluster, Server, landed, named};
use crate::program::{Printed, run, until_led};

#[track_caller]
fn well(printed: Printed) -> String {
    assert_eq!(
        (printed.code, printed.err.as_str()),
        (0, ""),
        "{}",
        printed.out
    );
    printed.out
}

/// The rows of a table, each as its cells.
fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .skip(1)
        .map(|line| {
            line.split("   ")
                .map(str::trim)
                .filter(|cell| !cell.is_empty())
                .collect()
        })
        .collect()
}

#[tokio::test]
async fn a_cluster_that_upgrades_is_seen_through_every_command() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let first = Server::join(&client, "server-a").await;
    let second = Server::join(&client, "server-b").await;
    first.encodes("widgets.example.com", "v1").await;
    second.encodes("widgets.example.com", "v2").await;

    until_led(async || cluster.ask(&["status"]).await).await;
    members_are_shown(&cluster).await;

    let list = well(cluster.ask(&["storage-versions", "list"]).await);
    assert_eq!(
        rows(&list)[0][..3],
        ["widgets.example.com", "<unset>", "server-a=v1,server-b=v2"]
    );
    let matrix = well(cluster.ask(&["storage-versions", "matrix"]).await);
    assert_eq!(
        rows(&matrix)[0],
        ["widgets.example.com", "<unset>", "v1", "v2"]
    );
    let get = well(
        cluster
            .ask(&["sv", "get", "widgets.example.com", "-o", "name"])
            .await,
    );
    assert_eq!(get, "widgets.example.com\n");
    assert_eq!(
        cluster
            .ask(&["sv", "get", "gadgets.example.com"])
            .await
            .code,
        3
    );
    let history = well(cluster.ask(&["sv", "history", "widgets.example.com"]).await);
    let changes: Vec<Vec<&str>> = rows(&history)
        .iter()
        .map(|row| row[1..4].to_vec())
        .collect();
    assert_eq!(
        changes,
        [["<unset>", "v1", "server-a"], ["v1", "<unset>", "server-b"]]
    );

    let check = cluster.ask(&["storage-versions", "check"]).await;
    assert_eq!(check.code, 8);
    assert!(
        check
            .out
            .contains("server-a encodes v1; server-b encodes v2"),
        "{}",
        check.out
    );
    second.encodes("widgets.example.com", "v1").await;
    let check = ["storage-versions", "check", "widgets.example.com"];
    well(
        cluster
            .ask(&[&check[..], &["--assume-complete"]].concat())
            .await,
    );
    // Without a roster, somebody has to vouch for the agreement.
    let assumed = cluster.ask(&check).await;
    assert_eq!(assumed.code, 8, "{}", assumed.err);
    assert!(assumed.out.contains("no roster says"), "{}", assumed.out);
}

#[tokio::test]
async fn a_resource_that_nobody_reports_is_forgotten() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let server = Server::join(&client, "server-a").await;
    server.encodes("widgets.example.com", "v1").await;
    let forget = ["storage-versions", "forget", "widgets.example.com"];
    let refused = cluster.ask(&forget).await;
    assert_eq!(refused.code, 4);
    assert!(
        refused.err.contains("1 members report it"),
        "{}",
        refused.err
    );
    server.leaves_drained().await;
    let list = ["sv", "list", "-o", "name"];
    assert_eq!(well(cluster.ask(&list).await), "");
    let list = ["sv", "list", "--unreported", "-o", "name"];
    assert_eq!(well(cluster.ask(&list).await), "widgets.example.com\n");
    let name = GroupResource::new("example.com", "widgets").unwrap();
    let view = client.storage_version(&name, ReadOptions::linearizable());
    let state = view.await.unwrap().storage_state.unwrap();
    let revision = state.metadata.resource_version.to_string();
    let stale = cluster
        .ask(&[&forget[..], &["--if-revision", "1"]].concat())
        .await;
    assert_eq!(stale.code, 4, "{}", stale.err);
    let last_changed = format!("was last changed at revision {revision}, not 1");
    assert!(stale.err.contains(&last_changed), "{}", stale.err);
    landed(&client, &name).await;
    let forget = [&forget[..], &["--if-revision", &revision]].concat();
    let tried = well(cluster.ask(&[&forget[..], &["--dry-run"]].concat()).await);
    assert_eq!(tried, "widgets.example.com would be forgotten\n");
    assert_eq!(well(cluster.ask(&list).await), "widgets.example.com\n");
    let forgotten = well(cluster.ask(&forget).await);
    assert!(
        forgotten.starts_with("widgets.example.com is forgotten at revision "),
        "{forgotten}"
    );
    assert_eq!(cluster.ask(&forget).await.code, 3);
    let get = ["storage-versions", "get", "widgets.example.com"];
    assert_eq!(cluster.ask(&get).await.code, 3);
}

/// The members of the test above.
async fn members_are_shown(cluster: &Cluster) {
    let members = well(cluster.ask(&["members"]).await);
    let ids: Vec<&str> = rows(&members).iter().map(|row| row[0]).collect();
    assert_eq!(ids, ["server-a", "server-b"]);
    let member = well(
        cluster
            .ask(&["members", "get", "server-a", "-o", "json"])
            .await,
    );
    let member: serde_json::Value = serde_json::from_str(&member).unwrap();
    assert_eq!(member["member"]["phase"], "MEMBER_PHASE_JOINING");
    assert_eq!(member["member"]["ttlMs"], "3600000");
    assert_eq!(cluster.ask(&["members", "get", "server-c"]).await.code, 3);
}

#[tokio::test]
async fn a_check_that_waits_ends_with_the_agreement() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let first = Server::join(&client, "server-a").await;
    let second = Server::join(&client, "server-b").await;
    let check = ["storage-versions", "check", "widgets.example.com"];
    let words = [&check[..], &["--assume-complete", "--wait"]].concat();

    let never = cluster.ask(&[&words[..], &["100ms"]].concat()).await;
    assert_eq!(never.code, 3, "it was never reported: {}", never.err);
    first.votes("widgets.example.com", "v1").await;
    second.votes("widgets.example.com", "v1").await;
    well(cluster.ask(&[&words[..], &["60s"]].concat()).await);

    // Both members vote for v2 now, so it is selected; neither has adopted it.
    first.votes("widgets.example.com", "v2").await;
    second.votes("widgets.example.com", "v2").await;
    let options = ReadOptions::linearizable();
    let view = client
        .storage_version(&named("widgets.example.com"), options)
        .await
        .unwrap();
    let selected = view.storage_version.unwrap().status.selected_revision;
    let late = cluster.ask(&[&words[..], &["100ms"]].concat()).await;
    assert_eq!(late.code, 8, "{}", late.err);
    let why = format!("server-a, server-b have not adopted v2, selected at revision {selected}");
    assert!(late.out.contains(&why), "{}", late.out);

    let mut waiting = cluster.begin(&[&words[..], &["60s"]].concat());
    first.adopts("widgets.example.com", selected).await;
    second.adopts("widgets.example.com", selected).await;
    assert_eq!(waiting.ended().await.code(), Some(0));
    let out = [waiting.line().await.unwrap(), waiting.line().await.unwrap()].join("\n");
    assert_eq!(rows(&out)[0], ["widgets.example.com", "yes", "v2", "-"]);
}

#[tokio::test]
async fn settings_are_changed_once_and_compared() {
    let cluster = Cluster::start().await;
    let changed = well(
        cluster
            .ask(&["settings", "set", "write_grace=30s", "members_max=500"])
            .await,
    );
    assert_eq!(rows(&changed)[0][0], "yes");
    let again = well(cluster.ask(&["settings", "set", "write_grace=30s"]).await);
    assert_eq!(rows(&again)[0][0], "no");
    let shown = well(cluster.ask(&["settings"]).await);
    assert!(
        rows(&shown).contains(&vec!["write_grace", "30s"]),
        "{shown}"
    );
    assert!(
        rows(&shown).contains(&vec!["members_max", "500"]),
        "{shown}"
    );

    let tried = ["settings", "set", "write_grace=31s", "--dry-run"];
    let tried = well(cluster.ask(&tried).await);
    assert_eq!(rows(&tried)[0][0], "yes");
    let bounds = ["settings", "set", "write_grace=1ms", "--dry-run"];
    assert_eq!(cluster.ask(&bounds).await.code, 2);
    let shown = well(cluster.ask(&["settings"]).await);
    assert!(
        rows(&shown).contains(&vec!["write_grace", "30s"]),
        "it was only tried out: {shown}"
    );

    let lost = cluster
        .ask(&["settings", "set", "write_grace=40s", "--if-revision", "1"])
        .await;
    assert_eq!(lost.code, 4, "{}", lost.err);
    assert!(lost.err.starts_with("error: CONFLICT: "), "{}", lost.err);
    let settings = cluster
        .client()
        .await
        .settings(ReadOptions::linearizable())
        .await
        .unwrap()
        .settings;
    let revision = settings.revision.to_string();
    well(
        cluster
            .ask(&[
                "settings",
                "set",
                "write_grace=40s",
                "--if-revision",
                &revision,
            ])
            .await,
    );

    let bounds = cluster
        .ask(&["settings", "set", "write_grace=1ms", "members_max=0"])
        .await;
    assert_eq!(bounds.code, 2);
    for part in [
        "\n  write_grace: Invalid value: 1: ",
        "\n  members_max: Invalid value: 0: ",
    ] {
        assert!(bounds.err.contains(part), "{}", bounds.err);
    }
}

#[tokio::test]
async fn every_command_prints_every_form() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    Server::join(&client, "server-a")
        .await
        .encodes("pods", "v1")
        .await;
    assert_eq!(
        client
            .storage_versions(ListStorageVersions::new())
            .all()
            .await
            .unwrap()
            .items
            .len(),
        1
    );
    for words in [
        &["status"][..],
        &["members"],
        &["members", "list"],
        &["members", "get", "server-a"],
        &["storage-versions", "list"],
        &["storage-versions", "get", "pods"],
        &["storage-versions", "matrix"],
        &["storage-versions", "check", "--assume-complete"],
        &["storage-versions", "history", "pods"],
        &["settings"],
        &["settings", "get"],
        &["settings", "set", "members_max=10000"],
    ] {
        let print = async |format| well(cluster.ask(&[words, &["-o", format]].concat()).await);
        assert!(!rows(&print("table").await).is_empty(), "{words:?}");
        assert!(!print("wide").await.is_empty());
        let json: serde_json::Value = serde_json::from_str(&print("json").await).unwrap();
        let yaml: serde_json::Value = synod_yaml::from_str(&print("yaml").await).unwrap();
        assert_eq!(shape(&json), shape(&yaml), "{words:?}");
        print("name").await;
    }
}

/// A document without the values that depend on the time, or on which replica was asked: the leader alone knows how long a
/// member has left.
fn shape(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::Object(fields) => fields
            .iter()
            .filter(|(key, _)| *key != "remainingMs")
            .flat_map(|(key, value)| {
                shape(value)
                    .into_iter()
                    .map(move |rest| format!("{key}.{rest}"))
            })
            .collect(),
        serde_json::Value::Array(items) => items.iter().flat_map(shape).collect(),
        serde_json::Value::String(_) => vec!["text".to_owned()],
        other => vec![other.to_string()],
    }
}

#[tokio::test]
async fn the_hash_is_that_of_kubernetes() {
    let printed = run(&["hash", "apps", "v1", "Deployment"]).await;
    assert_eq!((printed.code, printed.out.as_str()), (0, "8aSe+NMegvE=\n"));
}

#[tokio::test]
async fn help_goes_to_standard_output() {
    for words in [
        &["--help"][..],
        &["serve", "--help"],
        &["storage-versions", "check", "-h"],
        &["--version"],
    ] {
        let printed = run(words).await;
        assert_eq!((printed.code, printed.err.as_str()), (0, ""), "{words:?}");
        assert!(printed.out.contains("synod"), "{words:?}");
    }
}
