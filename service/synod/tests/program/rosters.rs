//! Sets rosters on the command line, and checks what they require.

use synod_client::{Client, MigrationId, WorkerName};

use crate::cluster::{Cluster, Server, claimed};
use crate::program::Printed;

const WIDGETS: &str = "widgets.example.com";

fn well(printed: Printed) -> String {
    assert_eq!(printed.code, 0, "{}{}", printed.out, printed.err);
    printed.out
}

#[tokio::test]
async fn a_roster_is_set_shown_and_deleted_by_hand() {
    let cluster = Cluster::start().await;
    let set = ["rosters", "set", "*", "--members", "server-a,server-b"];
    well(cluster.ask(&[&set[..], &["--dry-run"]].concat()).await);
    assert_eq!(well(cluster.ask(&["rosters", "-o", "name"]).await), "");
    let first = [&set[..], &["--if-revision", "0"]].concat();
    assert!(well(cluster.ask(&first).await).contains("yes"));
    assert_eq!(cluster.ask(&first).await.code, 4, "there is one");
    let again = well(cluster.ask(&set).await);
    assert!(again.contains("no"), "{again}");
    let labels = ["rosters", "set", "core.*", "--labels", "tier=control"];
    well(
        cluster
            .ask(&[&labels[..], &["--least", "2"]].concat())
            .await,
    );
    let listed = well(cluster.ask(&["rosters", "list", "-o", "name"]).await);
    assert_eq!(listed, "*\ncore.*\n");
    let got = well(cluster.ask(&["rosters", "get", "core.*"]).await);
    assert!(got.contains("tier=control   2"), "{got}");

    let delete = ["rosters", "delete", "core.*"];
    let stale = [&delete[..], &["--if-revision", "1"]].concat();
    assert_eq!(cluster.ask(&stale).await.code, 4);
    well(cluster.ask(&[&delete[..], &["--dry-run"]].concat()).await);
    well(cluster.ask(&delete).await);
    assert_eq!(cluster.ask(&delete).await.code, 3);
    assert_eq!(cluster.ask(&["rosters", "get", "core.*"]).await.code, 3);
}

#[tokio::test]
async fn what_is_no_roster_is_refused_with_its_place() {
    for (words, said) in [
        (&["set", "Pods", "--least", "1"][..], "SCOPE"),
        (&["set", "*", "--members", "A b"], "--members"),
        (&["set", "*", "--labels", "a in ("], "--labels"),
        (
            &["set", "*"],
            "<--members <IDS>|--labels <SELECTOR>|--least <NUMBER>>",
        ),
        (
            &["set", "*", "--members", "a,b,a"],
            "--members: Duplicate value: \"a\"",
        ),
        (&["set", "*", "--labels", ""], "--labels: Required value: "),
        (&["set", "*", "--least", "0"], "--members: Required value: "),
        (
            &["set", "*", "--least", "1000000"],
            "--least: Invalid value: ",
        ),
        (
            &["set", "", "--least", "1"],
            "`*`, `<group>.*`, with `core` for the core group, or a resource as `<resource>.<group>`",
        ),
        (&["get", ".*"], "SCOPE"),
    ] {
        let printed = crate::program::run(&[&["rosters"], words].concat()).await;
        assert_eq!(printed.code, 2, "{words:?}: {}", printed.err);
        assert!(printed.err.contains(said), "{words:?}: {}", printed.err);
    }
}

async fn complete(client: &Client, name: &str) {
    let id = MigrationId::parse(name).unwrap();
    let worker = WorkerName::parse("worker-a").unwrap();
    let claim = claimed(client, &id, &worker).await;
    client.complete_migration(&claim).await.unwrap();
}

// Guarantee: V-06
#[tokio::test]
async fn nothing_is_safe_until_all_take_part_that_a_roster_asks_for() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let server = Server::join(&client, "server-a").await;
    server.encodes(WIDGETS, "v2").await;
    let listed = well(cluster.ask(&["migrations", "list", "-o", "name"]).await);
    complete(&client, listed.trim()).await;
    let drop = ["check-drop", WIDGETS, "v1"];
    let vouched = [&drop[..], &["--assume-complete"]].concat();
    well(cluster.ask(&vouched).await);

    let mut watch = cluster.begin(&["watch", "--kinds", "roster", "--from", "1"]);
    let asked = [
        "rosters",
        "set",
        "example.com.*",
        "--members",
        "server-a,server-b",
    ];
    well(cluster.ask(&asked).await);
    let event = watch.line().await.unwrap();
    assert!(event.contains("OBJECT_KIND_ROSTER"), "{event}");
    for words in [&drop[..], &vouched] {
        let printed = cluster.ask(words).await;
        assert_eq!(printed.code, 8, "{}", printed.out);
        assert!(
            printed.out.contains("the roster asks for server-b"),
            "{}",
            printed.out
        );
        // What was migrated before the roster was set is on trust.
        assert!(printed.out.contains("assumed"), "{}", printed.out);
    }
    let missing = "missing by its roster: server-b";
    let list = ["storage-versions", "list"];
    assert!(well(cluster.ask(&list).await).contains(missing));
    let check = ["storage-versions", "check", WIDGETS];
    let in_vain = [&check[..], &["--wait", "100ms"]].concat();
    for words in [&check[..], &in_vain] {
        let printed = cluster.ask(words).await;
        assert_eq!(printed.code, 8, "{}", printed.err);
        assert!(printed.out.contains(missing), "{}", printed.out);
    }
    let history = ["storage-versions", "history", WIDGETS];
    assert!(well(cluster.ask(&history).await).contains("(roster)"));

    let mut waiting = cluster.begin(&[&check[..], &["--wait", "1m"]].concat());
    let other = Server::join(&client, "server-b").await;
    other.encodes(WIDGETS, "v2").await;
    assert_eq!(waiting.ended().await.code(), Some(0));
    let assumed = cluster.ask(&drop).await;
    assert_eq!(assumed.code, 8, "{}", assumed.out);
    assert!(
        assumed.out.contains("synod migrations start"),
        "{}",
        assumed.out
    );
    well(cluster.ask(&["migrations", "start", WIDGETS]).await);
    let listed = well(cluster.ask(&["migrations", "list", "-o", "name"]).await);
    let latest = listed.lines().max_by_key(|name| name.len()).unwrap();
    complete(&client, latest).await;
    let safe = well(cluster.ask(&drop).await);
    assert!(safe.contains("yes"), "{safe}");
    assert!(!safe.to_lowercase().contains("assumed"), "{safe}");
}
