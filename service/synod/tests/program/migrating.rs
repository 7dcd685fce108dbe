//! Runs `synod migrate` against an API server over TLS, which fails in all the ways of real ones.

mod api_server;
mod relay;
mod released;
mod unserved;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use synod_client::{Client, ListMigrations, Migration, MigrationPhase, StorageVersionHash};
use synod_tests::free_address;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use crate::certificates::{Folder, Serves, text};
use crate::cluster::{Cluster, Server, landed, named};
use crate::program::{Printed, Running};
use api_server::{ApiServer, Mood};
use relay::Relay;

const WIDGETS: &str = "widgets.example.io";

/// How soon after an abort a worker has stopped.
const PROMISED: Duration = Duration::from_secs(1);

/// How often that is tried which a process may come too late for: on a busy machine it waits for a second or two now and then,
/// and hardly always.
const TRIES: u32 = 5;

/// What even a busy machine takes no longer than. What is left to rewrite would take twenty, and a claim runs out after fifteen.
const SOON: Duration = Duration::from_secs(10);

/// No word of a user: `{}` in YAML.
const NOBODY: &str = "    username: nobody";

/// A cluster whose only migration rewrites widgets in v2, and an API server that has them.
struct Stage {
    cluster: Cluster,
    client: Client,
    folder: Folder,
    api: ApiServer,
    kubeconfig: PathBuf,
}

impl Stage {
    async fn set(widgets: u64, serves: Serves) -> Self {
        let cluster = Cluster::start().await;
        let client = cluster.client().await;
        let server = Server::join(&client, "server-a").await;
        server.encodes(WIDGETS, "example.io/v2").await;
        landed(&client, &named(WIDGETS)).await;
        let folder = Folder::new();
        let api = ApiServer::start(folder.acceptor(serves), widgets).await;
        let kubeconfig = folder.kubeconfig(api.port(), "", NOBODY);
        Self {
            cluster,
            client,
            folder,
            api,
            kubeconfig,
        }
    }

    fn words<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let mut words = vec![
            "migrate",
            "--kubeconfig",
            text(&self.kubeconfig),
            "--page-size",
            "5",
        ];
        words.extend(more);
        words
    }

    /// Works until nothing waits any more.
    async fn work(&self, more: &[&str]) -> (i32, Vec<Value>) {
        let words = self.words(&[&["--once"], more].concat());
        let printed = self.cluster.ask(&words).await;
        (printed.code, events(&printed))
    }

    fn begin(&self, more: &[&str]) -> Running {
        self.cluster.begin(&self.words(more))
    }

    /// Aborts what a worker has claimed until it has stopped within the promised time once; it always stops soon.
    async fn aborts_in_time(&self, running: &mut Running, mut claimed: Value) {
        for tries in 1.. {
            let name = claimed["migration"].as_str().unwrap();
            let aborted = self.cluster.ask(&["migrations", "abort", name]).await;
            let since = Instant::now();
            assert_eq!(aborted.code, 0, "{}", aborted.err);
            assert_eq!(next(running, "ended").await["outcome"], "LOST");
            let took = since.elapsed();
            assert!(took < SOON, "{took:?}");
            if took < PROMISED {
                return;
            }
            assert!(
                tries < TRIES,
                "it always takes more than a second: {took:?}"
            );
            let again = ["migrations", "start", WIDGETS, "--rewrite-all"];
            let started = self.cluster.ask(&again).await;
            assert_eq!(started.code, 0, "{}", started.err);
            claimed = next(running, "claimed").await;
        }
    }

    async fn migration(&self) -> Migration {
        let all = self
            .client
            .migrations(ListMigrations::new())
            .all()
            .await
            .unwrap();
        assert_eq!(all.items.len(), 1);
        all.items[0].clone()
    }
}

fn events(printed: &Printed) -> Vec<Value> {
    let read = |line| {
        serde_json::from_str(line).unwrap_or_else(|_| panic!("{}{}", printed.out, printed.err))
    };
    printed.out.lines().map(read).collect()
}

/// What the last event says of how the work ended.
fn ended(events: &[Value]) -> &Value {
    let ended = &events.last().expect("nothing was told")["ended"];
    assert!(ended.is_object(), "{events:?}");
    ended
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

// Guarantee: MG-13
#[tokio::test]
async fn every_object_is_rewritten_once_whatever_comes_between() {
    let stage = Stage::set(23, Serves::Anybody).await;
    {
        let mut world = stage.api.world();
        world.lists.extend([
            Some(Mood::Busy(1)),
            None,
            Some(Mood::Fails(502)),
            Some(Mood::Expired { has_token: true }),
            None,
            Some(Mood::Hangs),
        ]);
        world.writes.extend([
            None,
            Some(Mood::Overtaken),
            Some(Mood::Deleted),
            Some(Mood::Executes),
            Some(Mood::Fails(500)),
            Some(Mood::Busy(0)),
            Some(Mood::Hangs),
            None,
            // An API server that does not serve the resource just now.
            Some(Mood::Fails(404)),
        ]);
    }
    let (code, events) = stage.work(&["--server-timeout", "5s"]).await;
    assert_eq!(code, 0, "{events:?}");
    let ended = ended(&events);
    assert_eq!(ended["outcome"], "COMPLETED", "{events:?}");
    assert_eq!(stage.migration().await.phase, MigrationPhase::Succeeded);
    let world = stage.api.world();
    assert_eq!(world.old(), Vec::<&String>::new());
    assert_eq!(world.objects.len(), 22, "one was deleted by somebody else");
    assert!(world.objects.values().all(|stored| stored.writes <= 1));
    let changed = world
        .objects
        .values()
        .filter(|stored| stored.content.contains("changed"));
    assert_eq!(changed.count(), 1, "what somebody else wrote stays");
    // What was executed without an answer is met again as written by somebody.
    assert_eq!(
        (&ended["rewritten"], &ended["skipped"]),
        (&20.into(), &3.into())
    );
}

// Guarantee: MG-13
#[tokio::test]
async fn a_list_that_expires_without_a_token_begins_anew() {
    let stage = Stage::set(12, Serves::Anybody).await;
    let expired = Some(Mood::Expired { has_token: false });
    stage.api.world().lists.extend([None, expired]);
    let (code, events) = stage.work(&[]).await;
    assert_eq!((code, &ended(&events)["outcome"]), (0, &"COMPLETED".into()));
    assert!(stage.api.world().old().is_empty());
}

#[tokio::test]
async fn an_answer_of_success_that_is_no_list_is_not_the_end_of_one() {
    let stage = Stage::set(12, Serves::Anybody).await;
    let status = r#"{"kind":"Status","metadata":{},"status":"Failure","message":"not now"}"#;
    let answers = [
        Some(Mood::Says("{}")),
        None,
        Some(Mood::Says(status)),
        Some(Mood::Fails(502)),
    ];
    stage.api.world().lists.extend(answers);
    let printed = stage.cluster.ask(&stage.words(&["--dry-run"])).await;
    assert_eq!(printed.code, 0, "{}{}", printed.out, printed.err);
    assert_eq!(events(&printed)[0]["counted"]["objects"], 12);
    stage.api.world().lists.extend(answers);
    let (code, events) = stage.work(&[]).await;
    assert_eq!((code, &ended(&events)["outcome"]), (0, &"COMPLETED".into()));
    assert_eq!(ended(&events)["rewritten"], 12, "{events:?}");
    assert!(stage.api.world().old().is_empty());
}

#[tokio::test]
async fn an_api_server_that_encodes_in_something_else_is_waited_for() {
    let stage = Stage::set(30, Serves::Anybody).await;
    let hash = |version| StorageVersionHash::of("example.io", version, "Widget").to_string();
    // It is not there yet; then it is for two pages, is taken back, and is there again.
    stage.api.world().shown = ["v1", "v2", "v2", "v2", "v1", "v1", "v2"].map(hash).into();
    let (code, events) = stage.work(&[]).await;
    let why = events[0]["fault"]["why"].as_str().unwrap();
    assert!(why.contains("encodes widgets"), "{events:?}");
    assert_eq!((code, &ended(&events)["outcome"]), (0, &"COMPLETED".into()));
    // While it was taken back, another worker could have had the migration. That is no failure.
    let released = events
        .iter()
        .filter(|event| event["ended"]["outcome"] == "RELEASED");
    assert_eq!(released.count(), 1, "{events:?}");
    assert_eq!(stage.migration().await.failures, 0);
    let world = stage.api.world();
    assert!(world.old().is_empty());
    assert_eq!(world.pages, 2 + 6, "it began anew");
    let again = world.objects.values().filter(|stored| stored.writes == 2);
    assert_eq!(again.count(), 10);
}

// Guarantee: MG-13
#[tokio::test]
async fn an_api_server_that_is_taken_back_while_the_last_page_is_written_is_found() {
    let stage = Stage::set(10, Serves::Anybody).await;
    let hash = |version| StorageVersionHash::of("example.io", version, "Widget").to_string();
    stage.api.world().shown = ["v2", "v2", "v2", "v1", "v2"].map(hash).into();
    let (code, events) = stage.work(&[]).await;
    assert_eq!((code, &ended(&events)["outcome"]), (0, &"COMPLETED".into()));
    let world = stage.api.world();
    assert_eq!(world.pages, 2 + 2, "it began anew");
    assert!(world.objects.values().all(|stored| stored.writes == 2));
}

// Guarantee: MG-13
#[tokio::test]
async fn who_goes_on_for_a_dead_worker_writes_its_last_page_once_more() {
    let stage = Stage::set(30, Serves::Anybody).await;
    let hangs = {
        let mut world = stage.api.world();
        world.lists.extend([None, None, Some(Mood::Hangs)]);
        Arc::clone(&world.hangs)
    };
    let mut first = stage.begin(&[]);
    hangs.notified().await;
    first.signal(Signal::KILL);
    first.ended().await;
    // Its claim ends first.
    let mut second = stage.begin(&["--worker", "second"]);
    assert_eq!(next(&mut second, "ended").await["outcome"], "COMPLETED");
    let world = stage.api.world();
    assert!(world.old().is_empty());
    let again = world.objects.values().filter(|stored| stored.writes == 2);
    assert_eq!(again.count(), 5);
}

// Guarantee: MG-13
#[tokio::test]
async fn a_hook_that_refuses_by_a_conflict_is_not_taken_for_another_writer() {
    let stage = Stage::set(3, Serves::Anybody).await;
    stage.api.world().writes.extend([Some(Mood::Hooked)]);
    let (code, events) = stage.work(&[]).await;
    assert_eq!((code, &ended(&events)["outcome"]), (1, &"FAILED".into()));
    let why = ended(&events)["why"].as_str().unwrap();
    assert!(why.contains("/widget-") && why.contains("409"), "{why}");
    assert_eq!(stage.migration().await.phase, MigrationPhase::Failed);
}

// Guarantee: MG-14
#[tokio::test]
async fn two_workers_at_once_write_no_object_twice() {
    let stage = Stage::set(60, Serves::Anybody).await;
    let (one, other) = tokio::join!(stage.work(&[]), stage.work(&["--worker", "other"]));
    assert_eq!((one.0, other.0), (0, 0));
    let world = stage.api.world();
    assert!(world.old().is_empty());
    assert!(world.objects.values().all(|stored| stored.writes == 1));
}

// Guarantee: MG-14
#[tokio::test]
async fn an_aborted_migration_and_a_signal_stop_it_within_a_second() {
    let stage = Stage::set(500, Serves::Anybody).await;
    let mut running = stage.begin(&["--objects-per-second", "20", "--objects-at-once", "1"]);
    let claimed = next(&mut running, "claimed").await;
    assert_eq!(claimed["through"], "example.io/v2");
    stage.aborts_in_time(&mut running, claimed).await;
    let written = stage.api.world().all_writes;
    assert!(written < 500);

    let since = Instant::now();
    running.signal(Signal::TERM);
    assert!(running.ended().await.success());
    assert!(since.elapsed() < SOON, "{:?}", since.elapsed());
    assert_eq!(stage.api.world().all_writes, written);
}

#[tokio::test]
async fn the_bytes_of_a_second_bound_what_it_writes() {
    let stage = Stage::set(40, Serves::Anybody).await;
    // An object has some hundred bytes, so all of them take longer than three seconds. A slow machine only takes more.
    let since = Instant::now();
    let (code, _) = stage.work(&["--bytes-per-second", "1000"]).await;
    assert_eq!(code, 0);
    assert!(
        since.elapsed() > Duration::from_secs(2),
        "{:?}",
        since.elapsed()
    );
    assert!(stage.api.world().old().is_empty());
}

#[tokio::test]
async fn an_abort_while_the_api_server_leaves_a_write_unanswered_stops_it_within_a_second() {
    let stage = Stage::set(500, Serves::Anybody).await;
    let hangs = {
        let mut world = stage.api.world();
        let moods = std::iter::repeat_n(Some(Mood::Hangs), 500);
        world.writes.extend([None, None].into_iter().chain(moods));
        Arc::clone(&world.hangs)
    };
    // Nothing but the abort ends the wait for an answer.
    let patience = ["--server-timeout", "10m", "--objects-at-once", "1"];
    let mut running = stage.begin(&patience);
    let claimed = next(&mut running, "claimed").await;
    hangs.notified().await;
    stage.aborts_in_time(&mut running, claimed).await;
    assert!(stage.api.world().all_writes <= 2);
    running.signal(Signal::TERM);
    assert!(running.ended().await.success());
}

#[tokio::test]
async fn a_list_goes_on_where_it_was_when_its_server_comes_back() {
    let stage = Stage::set(30, Serves::Anybody).await;
    let mut relay = Relay::to(stage.api.port()).await;
    let stage = Stage {
        kubeconfig: stage.folder.kubeconfig(relay.port(), "", NOBODY),
        ..stage
    };
    let hangs = {
        let mut world = stage.api.world();
        world.lists.extend([None, None, Some(Mood::Hangs)]);
        Arc::clone(&world.hangs)
    };
    let mut running = stage.begin(&[]);
    next(&mut running, "claimed").await;
    hangs.notified().await;
    relay.vanishes();
    // It asks six times, ever more slowly.
    let given_up = next(&mut running, "ended").await;
    assert_eq!(given_up["outcome"], "FAILED", "{given_up}");
    let last = given_up["lastFault"].as_str().unwrap();
    assert!(last.contains("not reached"), "{given_up}");

    // The cluster tries it again by itself.
    relay.comes_back().await;
    let ended = next(&mut running, "ended").await;
    assert_eq!(ended["outcome"], "COMPLETED", "{ended}");
    running.signal(Signal::TERM);
    assert!(running.ended().await.success());
    let world = stage.api.world();
    assert!(world.old().is_empty());
    let again = world.objects.values().filter(|stored| stored.writes == 2);
    assert_eq!(
        again.count(),
        5,
        "it goes on with the page that it wrote last"
    );
}

#[tokio::test]
async fn a_worker_whose_certificate_has_expired_is_told_so_and_works_with_a_new_one() {
    let stage = Stage::set(7, Serves::Known).await;
    let user = "    client-certificate: late.crt\n    client-key: late.key";
    stage.folder.issue_expired("late", "worker");
    let stage = Stage {
        kubeconfig: stage.folder.kubeconfig(stage.api.port(), "", user),
        ..stage
    };
    let mut running = stage.begin(&["--once"]);
    let fault = next(&mut running, "fault").await;
    let why = fault["why"].as_str().unwrap().to_lowercase();
    assert!(why.contains("expired"), "{fault}");
    assert_eq!(stage.migration().await.phase, MigrationPhase::Pending);
    running.signal(Signal::TERM);
    assert!(running.ended().await.success());
    assert_eq!(stage.api.world().all_writes, 0);
    stage.folder.issue("late", "worker");
    let (code, events) = stage.work(&[]).await;
    assert_eq!((code, &ended(&events)["outcome"]), (0, &"COMPLETED".into()));
}

#[tokio::test]
async fn a_dry_run_with_nothing_to_do_says_so() {
    let stage = Stage::set(3, Serves::Anybody).await;
    let (code, _) = stage.work(&[]).await;
    assert_eq!(code, 0);
    let dry = stage.cluster.ask(&stage.words(&["--dry-run"])).await;
    assert_eq!(dry.code, 0, "{}", dry.err);
    let told = events(&dry);
    assert_eq!(told[0]["nothing"]["why"], "no migration is open");
    let text = ["--dry-run", "-o", "text"];
    let dry = stage.cluster.ask(&stage.words(&text)).await;
    assert_eq!(
        dry.out,
        "no migration is open: nothing would be rewritten\n"
    );
}

// Guarantee: MG-14
#[tokio::test]
async fn a_dry_run_counts_and_writes_nothing() {
    let stage = Stage::set(12, Serves::Anybody).await;
    let printed = stage.cluster.ask(&stage.words(&["--dry-run"])).await;
    assert_eq!(printed.code, 0, "{}", printed.err);
    let events = events(&printed);
    assert_eq!(events[0]["counted"]["objects"], 12);
    assert!(events[0]["counted"]["bytes"].as_u64().unwrap() > 1_000);
    assert_eq!(stage.migration().await.phase, MigrationPhase::Pending);
    let world = stage.api.world();
    assert_eq!(
        (world.all_writes, world.old().len(), world.pages),
        (0, 12, 3)
    );
}

// Guarantee: MG-16
#[tokio::test]
async fn a_token_that_is_replaced_while_it_works_is_read_again() {
    let mut stage = Stage::set(40, Serves::Anybody).await;
    stage.folder.replace("token", "first\n");
    stage.kubeconfig = stage
        .folder
        .kubeconfig(stage.api.port(), "", "    tokenFile: token");
    stage.api.world().token = Some("first".to_owned());
    let mut running = stage.begin(&[
        "--once",
        "--objects-per-second",
        "20",
        "--objects-at-once",
        "1",
    ]);
    next(&mut running, "claimed").await;
    {
        let mut world = stage.api.world();
        stage.folder.replace("token", "second\n");
        world.token = Some("second".to_owned());
    }
    assert_eq!(next(&mut running, "ended").await["outcome"], "COMPLETED");
    assert!(running.ended().await.success());
    let world = stage.api.world();
    assert!(world.old().is_empty());
    assert!(
        world.refused <= 2,
        "{} requests were refused",
        world.refused
    );
}

// Guarantee: MG-16
#[tokio::test]
async fn a_plugin_is_asked_again_when_its_token_is_refused() {
    let mut stage = Stage::set(40, Serves::Anybody).await;
    stage.folder.replace("said", "first");
    let plugin = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho run >> runs\n\
        printf '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{\"token\":\"%s\"}}' \
        \"$(cat said)\"\n";
    stage.folder.replace("login", plugin);
    let user = "    exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: [LOGIN], interactiveMode: Never}"
        .replace("LOGIN", text(&stage.folder.path("login")));
    stage.kubeconfig = stage.folder.kubeconfig(stage.api.port(), "", &user);
    stage.api.world().token = Some("first".to_owned());
    let mut running = stage.begin(&[
        "--once",
        "--objects-per-second",
        "20",
        "--objects-at-once",
        "1",
    ]);
    next(&mut running, "claimed").await;
    {
        let mut world = stage.api.world();
        stage.folder.replace("said", "second");
        world.token = Some("second".to_owned());
    }
    assert_eq!(next(&mut running, "ended").await["outcome"], "COMPLETED");
    assert!(running.ended().await.success());
    let runs = std::fs::read_to_string(stage.folder.path("runs")).unwrap();
    assert_eq!(
        runs.lines().count(),
        2,
        "once at the begin, and once when it was refused"
    );
    assert!(stage.api.world().old().is_empty());
}

#[tokio::test]
async fn a_certificate_proves_who_calls_and_a_proxy_stands_between() {
    let mut stage = Stage::set(7, Serves::Known).await;
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = proxy.local_addr().unwrap().port();
    let proxying = tokio::spawn(proxied(proxy));
    let cluster = format!("    proxy-url: http://127.0.0.1:{port}");
    let user = "    client-certificate: own.crt\n    client-key: own.key";
    stage.kubeconfig = stage.folder.kubeconfig(stage.api.port(), &cluster, user);
    let (code, events) = stage.work(&[]).await;
    assert_eq!((code, &ended(&events)["outcome"]), (0, &"COMPLETED".into()));
    assert!(stage.api.world().old().is_empty());
    proxying.abort();
}

/// A proxy that passes connections on.
async fn proxied(listener: TcpListener) {
    loop {
        let (mut from, _) = listener.accept().await.unwrap();
        tokio::spawn(async move {
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                asked.push(from.read_u8().await.unwrap());
            }
            let asked = String::from_utf8(asked).unwrap();
            let to = asked
                .strip_prefix("CONNECT ")
                .unwrap()
                .split(' ')
                .next()
                .unwrap()
                .to_owned();
            let mut to = TcpStream::connect(to).await.unwrap();
            from.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            let _ = copy_bidirectional(&mut from, &mut to).await;
        });
    }
}

// Guarantee: MG-16
#[tokio::test]
async fn a_server_that_is_not_to_be_trusted_gets_no_token_and_is_named() {
    let stage = Stage::set(3, Serves::Expired).await;
    stage.api.world().token = Some("another".to_owned());
    let mut running = stage.begin(&["--once"]);
    let fault = next(&mut running, "fault").await;
    assert!(
        fault["why"].as_str().unwrap().contains("expired"),
        "{fault}"
    );
    running.signal(Signal::TERM);
    assert!(running.ended().await.success());
    {
        let world = stage.api.world();
        assert_eq!((world.refused, world.old().len()), (0, 3));
    }
    assert_eq!(stage.migration().await.phase, MigrationPhase::Pending);
}

// Guarantee: MG-15
#[tokio::test]
async fn stored_versions_are_trimmed_only_if_the_definition_stayed_as_it_was() {
    let stage = Stage::set(30, Serves::Anybody).await;
    let trim = [
        "--trim-stored-versions",
        "--objects-per-second",
        "40",
        "--objects-at-once",
        "1",
    ];
    let mut running = stage.begin(&[&["--once"], &trim[..]].concat());
    next(&mut running, "claimed").await;
    stage.api.world().definition["metadata"]["generation"] = 4.into();
    let left = next(&mut running, "ended").await;
    assert!(
        left["storedVersionsLeft"]
            .as_str()
            .unwrap()
            .contains("changed"),
        "{left}"
    );
    let stored = stage.api.world().definition["status"]["storedVersions"].clone();
    assert_eq!(stored, serde_json::json!(["v1", "v2"]));
    assert!(running.ended().await.success());

    let again = ["migrations", "start", WIDGETS, "--rewrite-all"];
    let started = stage.cluster.ask(&again).await;
    assert_eq!(started.code, 0, "{}", started.err);
    // What passes is tried again.
    stage.api.world().definitions.extend([503, 409]);
    let (code, events) = stage.work(&["--trim-stored-versions"]).await;
    assert_eq!(
        (code, &ended(&events)["storedVersions"]),
        (0, &serde_json::json!(["v2"]))
    );
    let stored = stage.api.world().definition["status"]["storedVersions"].clone();
    assert_eq!(stored, serde_json::json!(["v2"]));
    let writes: Vec<u64> = stage
        .api
        .world()
        .objects
        .values()
        .map(|one| one.writes)
        .collect();
    assert!(writes.iter().all(|writes| *writes == 2), "{writes:?}");
}

#[tokio::test]
async fn metrics_are_served_under_the_names_of_the_earlier_migrator() {
    let stage = Stage::set(9, Serves::Anybody).await;
    let at = free_address().to_string();
    let mut running = stage.begin(&["--listen-metrics", &at]);
    next(&mut running, "ended").await;
    let mut asked = TcpStream::connect(&at).await.unwrap();
    let request = format!("GET /metrics HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n\r\n");
    asked.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    asked.read_to_string(&mut text).await.unwrap();
    let name = "storage_migrator_core_migrator";
    let resource = "resource=\"example.io/v2, Resource=widgets\"";
    for line in [
        format!("{name}_migrated_objects{{{resource}}} 9"),
        format!("{name}_remaining_objects{{{resource}}} 0"),
        format!("{name}_migrations{{{resource},Status=\"Succeeded\"}} 1"),
    ] {
        assert!(text.contains(&line), "{line} in {text}");
    }
    running.signal(Signal::TERM);
    assert!(running.ended().await.success());
}

#[tokio::test]
async fn what_leads_to_no_server_is_said_before_anything_is_claimed() {
    let stage = Stage::set(1, Serves::Anybody).await;
    for (words, part) in [
        (
            vec!["migrate", "--kubeconfig", "/nowhere/config"],
            "/nowhere/config",
        ),
        (stage.words(&["--kube-context", "other"]), "\"other\""),
        (
            stage.words(&["--kube-server", "gopher://a"]),
            "--kube-server",
        ),
        (stage.words(&["not a resource"]), "RESOURCE"),
        (
            stage.words(&["--objects-per-second", "0"]),
            "--objects-per-second",
        ),
    ] {
        let printed = stage.cluster.ask(&words).await;
        assert_eq!(printed.code, 2, "{words:?}: {}", printed.err);
        assert!(printed.err.contains(part), "{words:?}: {}", printed.err);
    }
}
