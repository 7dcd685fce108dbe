//! Migrations on the command line: from an agreement to a version that may be dropped.

use synod_client::{
    ClaimKey, ErrorKind, FailureClass, FailureReason, MigrationFailure, MigrationProgress,
};
use synod_client::{Client, MigrationId, WorkerName};

use crate::cluster::{Cluster, Server, claimed};
use crate::program::Printed;

fn well(printed: Printed) -> String {
    assert_eq!(printed.code, 0, "{}{}", printed.out, printed.err);
    printed.out
}

async fn claim(client: &Client, name: &str) -> ClaimKey {
    let id = MigrationId::parse(name).unwrap();
    let worker = WorkerName::parse("worker-a").unwrap();
    claimed(client, &id, &worker).await
}

#[tokio::test]
async fn a_migration_is_followed_to_its_end_and_makes_a_version_safe_to_drop() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let server = Server::join(&client, "server-a").await;
    server.encodes("widgets.example.com", "v2").await;
    let drop = ["check-drop", "widgets.example.com", "v1"];
    let unsafe_yet = cluster.ask(&drop).await;
    assert_eq!(unsafe_yet.code, 8, "{}", unsafe_yet.err);
    assert!(unsafe_yet.out.contains("versions that nobody can name"));

    let listed = well(cluster.ask(&["migrations", "list", "-o", "name"]).await);
    let name = listed.trim();
    let mut watch = cluster.begin(&["migrations", "watch", name]);
    assert!(watch.line().await.unwrap().contains("pending  0 done"));
    let claim = claim(&client, name).await;
    assert!(watch.line().await.unwrap().contains("running  0 done"));
    let progress = MigrationProgress {
        done: 7,
        estimate: Some(10),
        continue_token: None,
    };
    let told = client.report_migration_progress(&claim, progress).await;
    told.unwrap();
    assert!(watch.line().await.unwrap().contains("running  7/10 done"));
    client.complete_migration(&claim).await.unwrap();
    assert!(watch.line().await.unwrap().contains("succeeded"));
    assert_eq!(watch.ended().await.code(), Some(0));
    // It is safe if nobody but the members writes, and nobody has vouched for that.
    let assumed = cluster.ask(&drop).await;
    assert_eq!(assumed.code, 8, "{}", assumed.err);
    for said in ["yes", "assumed: only reporting members", "rosters set"] {
        assert!(assumed.out.contains(said), "{said} in {}", assumed.out);
    }
    let vouched = [&drop[..], &["--assume-complete"]].concat();
    assert_eq!(well(cluster.ask(&vouched).await), assumed.out);
    let got = well(cluster.ask(&["migrations", "get", name]).await);
    assert!(got.contains("no-roster"), "{got}");
}

#[tokio::test]
async fn migrations_are_aborted_started_retried_and_reset_by_hand() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let server = Server::join(&client, "server-a").await;
    server.encodes("widgets.example.com", "v2").await;
    let listed = well(cluster.ask(&["migrations", "list", "-o", "name"]).await);
    let first = listed.trim();
    let tried = well(
        cluster
            .ask(&["migrations", "abort", first, "--dry-run"])
            .await,
    );
    assert_eq!(tried, format!("{first} would be aborted\n"));
    let aborted = well(cluster.ask(&["migrations", "abort", first]).await);
    assert!(aborted.starts_with(&format!("{first} is aborted at revision ")));
    assert_eq!(cluster.ask(&["migrations", "abort", first]).await.code, 4);
    assert_eq!(cluster.ask(&["migrations", "watch", first]).await.code, 1);

    let start = ["migrations", "start", "widgets.example.com"];
    let tried = well(cluster.ask(&[&start[..], &["--dry-run"]].concat()).await);
    let second = well(cluster.ask(&start).await);
    assert_eq!(
        tried,
        "a migration of widgets.example.com would be created\n"
    );
    let second = second.trim();
    assert_eq!(cluster.ask(&start).await.code, 4, "one waits already");
    let claim = claim(&client, second).await;
    let failure = MigrationFailure {
        class: FailureClass::Undecodable,
        reason: FailureReason::parse("default/one is of no version").unwrap(),
    };
    client.fail_migration(&claim, failure, None).await.unwrap();
    let watched = cluster.ask(&["migrations", "watch", second]).await;
    assert_eq!(watched.code, 1, "nobody tries it again by itself");
    assert!(watched.out.contains("default/one is of no version"));
    let tried = well(
        cluster
            .ask(&["migrations", "retry", second, "--dry-run"])
            .await,
    );
    assert_eq!(tried, format!("{second} would wait for a worker\n"));
    let got = well(cluster.ask(&["migrations", "get", second]).await);
    assert!(got.contains("failed"), "{got}");
    well(cluster.ask(&["migrations", "retry", second]).await);
    let got = well(cluster.ask(&["migrations", "get", second]).await);
    assert!(got.contains("pending"), "{got}");
    let reset = ["migrations", "reset", "--all"];
    let tried = well(cluster.ask(&[&reset[..], &["--dry-run"]].concat()).await);
    assert_eq!(
        tried,
        "the persisted versions of all resources would be unknown\n"
    );
    let got = well(cluster.ask(&["migrations", "get", second]).await);
    assert!(got.contains("pending"), "{got}");
    well(cluster.ask(&reset).await);
    let got = well(cluster.ask(&["migrations", "get", second]).await);
    assert!(!got.contains("pending"), "{got}");
    let nobody = cluster.ask(&["migrations", "reset", "pods"]).await;
    assert_eq!(nobody.code, 3);
}

#[tokio::test]
async fn the_claim_of_a_worker_that_is_gone_is_given_back_by_hand() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let server = Server::join(&client, "server-a").await;
    server.encodes("widgets.example.com", "v2").await;
    let listed = well(cluster.ask(&["migrations", "list", "-o", "name"]).await);
    let name = listed.trim();
    let release = ["migrations", "release", name];
    let nothing = cluster.ask(&release).await;
    assert_eq!(nothing.code, 4, "{}", nothing.err);
    assert!(
        nothing.err.contains("nobody has claimed"),
        "{}",
        nothing.err
    );
    let claim = claim(&client, name).await;
    let progress = MigrationProgress {
        done: 7,
        estimate: None,
        continue_token: None,
    };
    let told = client.report_migration_progress(&claim, progress).await;
    told.unwrap();
    let stale = (claim.token.get() - 1).to_string();
    let other = cluster
        .ask(&[&release[..], &["--token", &stale]].concat())
        .await;
    assert_eq!(other.code, 4, "{}", other.err);
    let token = claim.token.get().to_string();
    let released = well(
        cluster
            .ask(&[&release[..], &["--token", &token]].concat())
            .await,
    );
    assert!(
        released.starts_with(&format!("{name} waits for a worker at revision ")),
        "{released}"
    );
    let got = well(cluster.ask(&["migrations", "get", name]).await);
    assert!(got.contains("pending") && got.contains('7'), "{got}");
    // The worker was not gone after all.
    let late = client.complete_migration(&claim).await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Conflict);
}

#[tokio::test]
async fn a_migration_goes_by_its_alias_and_is_deleted_while_it_is_worked_at() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let server = Server::join(&client, "server-a").await;
    server.encodes("widgets.example.com", "v2").await;
    let drop = ["check-drop", "widgets.example.com", "v1"];
    let first = well(cluster.ask(&["migrations", "list", "-o", "name"]).await);
    let named = [
        "migrations",
        "start",
        "widgets.example.com",
        "--alias",
        "to-v2",
    ];
    let tried = well(cluster.ask(&[&named[..], &["--dry-run"]].concat()).await);
    assert_eq!(
        tried,
        "a migration of widgets.example.com would be created\n"
    );
    let id = well(cluster.ask(&named).await);
    let again = cluster.ask(&named).await;
    assert_eq!(again.code, 4, "{}", again.err);
    assert!(
        again.err.contains("has the alias \"to-v2\""),
        "{}",
        again.err
    );
    let wide = well(cluster.ask(&["migrations", "list", "-o", "wide"]).await);
    assert!(wide.contains("to-v2"), "{wide}");
    for bad in ["Mine", "widgets-7"] {
        let refused = ["migrations", "start", "widgets.example.com", "--alias", bad];
        let refused = cluster.ask(&refused).await;
        assert_eq!(refused.code, 2, "{}", refused.err);
        assert!(refused.err.contains("--alias"), "{}", refused.err);
    }
    // The one that began by itself comes first.
    well(cluster.ask(&["migrations", "delete", first.trim()]).await);
    let claim = claim(&client, id.trim()).await;
    let got = well(cluster.ask(&["migrations", "get", "to-v2"]).await);
    assert!(got.contains("running"), "{got}");
    let unsafe_yet = cluster.ask(&drop).await.out;

    let delete = ["migrations", "delete", "to-v2"];
    let tried = well(cluster.ask(&[&delete[..], &["--dry-run"]].concat()).await);
    assert_eq!(tried, "to-v2 would be deleted\n");
    let stale = cluster
        .ask(&[&delete[..], &["--if-revision", "1"]].concat())
        .await;
    assert_eq!(stale.code, 4, "{}", stale.err);
    let mut watch = cluster.begin(&["migrations", "watch", "to-v2"]);
    assert!(watch.line().await.unwrap().contains("running"));
    let deleted = well(cluster.ask(&delete).await);
    assert!(
        deleted.starts_with("to-v2 is deleted at revision "),
        "{deleted}"
    );
    assert_eq!(watch.ended().await.code(), Some(3), "there is none");
    let late = client.complete_migration(&claim).await.unwrap_err();
    assert_eq!(late.kind(), ErrorKind::NotFound);
    assert_eq!(cluster.ask(&delete).await.code, 3);
    let unsafe_still = cluster.ask(&drop).await;
    assert_eq!((unsafe_still.code, unsafe_still.out), (8, unsafe_yet));
    well(cluster.ask(&named).await);
}

#[tokio::test]
async fn a_binary_that_cannot_read_what_is_written_must_not_join() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let server = Server::join(&client, "server-a").await;
    server.encodes("widgets.example.com", "v2").await;
    let listed = well(cluster.ask(&["migrations", "list", "-o", "name"]).await);
    let claim = claim(&client, listed.trim()).await;
    client.complete_migration(&claim).await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("binary.yaml");
    let check = ["check-binary", "-f", file.to_str().unwrap()];
    let widgets = |rest: &str| {
        format!("resources: [{{resource: widgets.example.com, decodableVersions: {rest}}}]")
    };
    for (text, alone, vouched) in [
        (widgets("[v1]"), 8, 8),
        (widgets("[v1, v2]"), 8, 0),
        (widgets("[v1, v2], encodingVersion: v1"), 8, 0),
        (widgets("[v2, v3], encodingVersion: v3"), 8, 8),
        (widgets("[v1, '']"), 2, 2),
        // A manifest without a resource is refused: it would be called safe without any check.
        ("resources: []".to_owned(), 2, 2),
        (
            "{resources: [], leftToOthers: [example.com.*]}".to_owned(),
            2,
            2,
        ),
    ] {
        std::fs::write(&file, &text).unwrap();
        let vouching = [&check[..], &["--assume-complete"]].concat();
        for (words, code) in [(&check[..], alone), (&vouching, vouched)] {
            let printed = cluster.ask(words).await;
            assert_eq!(printed.code, code, "{text}: {}{}", printed.out, printed.err);
        }
    }
}
