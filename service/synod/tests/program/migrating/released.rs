//! Claims of `synod migrate` that are given back, and what it says while it cannot have one.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use synod_client::{Client, Migration, MigrationPhase, ObjectKind, StorageVersionHash};
use tokio::time::{Instant, sleep_until, timeout};

use super::{SOON, Stage, WIDGETS, events, next};
use crate::certificates::Serves;
use crate::cluster::Server;

/// Longer than anything here takes.
const SURELY: Duration = Duration::from_secs(60);

/// Waits until a migration is as wanted.
async fn until(client: &Client, is_wanted: impl Fn(&Migration) -> bool) -> Migration {
    let reflector = client.reflect(vec![ObjectKind::Migration]).await.unwrap();
    loop {
        let revision = reflector.revision();
        let found = reflector
            .migrations()
            .into_iter()
            .find(|one| is_wanted(one));
        if let Some(found) = found {
            return Migration::clone(&found);
        }
        let changed = timeout(SURELY, reflector.changed(revision)).await;
        changed.expect("no migration is as wanted").unwrap();
    }
}

#[tokio::test]
async fn who_is_told_to_stop_gives_its_claim_back_and_the_next_goes_on_at_once() {
    let stage = Stage::set(100, Serves::Anybody).await;
    for signal in [Signal::TERM, Signal::INT] {
        // Progress is shown after five seconds at the latest, when most is left still.
        let slowly = ["--objects-per-second", "5", "--objects-at-once", "1"];
        let mut first = stage.begin(&slowly);
        next(&mut first, "claimed").await;
        let begun = stage.migration().await.done;
        until(&stage.client, |one| one.done >= begun + 5).await;
        first.signal(signal);
        let since = Instant::now();
        assert_eq!(next(&mut first, "ended").await["outcome"], "RELEASED");
        assert!(first.ended().await.success());
        assert!(since.elapsed() < SOON, "{:?}", since.elapsed());
    }
    let given_back = stage.migration().await;
    assert_eq!((given_back.claim, given_back.failures), (None, 0));
    assert!(given_back.done >= 10, "{}", given_back.done);
    let mut last = stage.begin(&["--once", "--worker", "last"]);
    let since = Instant::now();
    next(&mut last, "claimed").await;
    // A claim that is not given back runs out after 15 seconds.
    assert!(since.elapsed() < SOON, "{:?}", since.elapsed());
    let ended = next(&mut last, "ended").await;
    assert_eq!(ended["outcome"], "COMPLETED", "{ended}");
    assert!(last.ended().await.success());
    let world = stage.api.world();
    assert!(world.old().is_empty());
    // Each who goes on writes the last page once more, and the page in which the one before it was stopped.
    let again = world.objects.values().filter(|stored| stored.writes > 1);
    assert!(again.count() <= 2 * 2 * 5);
}

#[tokio::test]
async fn a_worker_that_waits_has_what_another_gives_back_in_the_next_moment() {
    let stage = Stage::set(100, Serves::Anybody).await;
    let mut first = stage.begin(&["--objects-per-second", "5", "--objects-at-once", "1"]);
    next(&mut first, "claimed").await;
    until(&stage.client, |one| one.done >= 5).await;
    let mut second = stage.begin(&["--worker", "second", "--objects-per-second", "20"]);
    // It says that it waits for something once it is ready.
    let ready = ["migrations", "start", WIDGETS, "--rewrite-all"];
    assert_eq!(stage.cluster.ask(&ready).await.code, 0);
    let waits = next(&mut second, "waits").await;
    assert_eq!(waits["code"], "CONFLICT", "{waits}");
    let since = Instant::now();
    first.signal(Signal::TERM);
    let claimed = next(&mut second, "claimed").await;
    assert!(since.elapsed() < SOON, "{:?}", since.elapsed());
    let held = until(&stage.client, |one| one.claim.is_some()).await;
    assert_eq!(claimed["migration"], held.id.to_string());
    let worker = held.claim.map(|claim| claim.worker.to_string());
    assert_eq!(worker.as_deref(), Some("second"));
    assert!(first.ended().await.success());
}

#[tokio::test]
async fn what_a_drain_keeps_waiting_is_said_once_however_often_it_is_asked_for() {
    let stage = Stage::set(3, Serves::Anybody).await;
    let old = Server::join(&stage.client, "server-b").await;
    old.encodes(WIDGETS, "example.io/v1").await;
    old.leaves_undrained().await;
    let pending = until(&stage.client, |one| one.is_open())
        .await
        .id
        .to_string();
    let mut running = stage.begin(&["--once"]);
    let waits = next(&mut running, "waits").await;
    assert_eq!(waits["migration"], pending.as_str(), "{waits}");
    assert_eq!(waits["code"], "DRAINING");
    let left = waits["leftMs"].as_u64().unwrap();
    assert!((1_000..=70_000).contains(&left), "{waits}");
    assert!(
        waits["why"].as_str().unwrap().contains("example.io/v2"),
        "{waits}"
    );
    // Each of these has it ask again at once.
    let starts = ["migrations", "start", WIDGETS, "--rewrite-all"];
    let started = stage.cluster.ask(&starts).await;
    assert_eq!(started.code, 0, "{}", started.err);
    let other = started.out.trim();
    let waits = next(&mut running, "waits").await;
    assert_eq!(
        waits["migration"], other,
        "what was said before is not said again"
    );
    assert_eq!(waits["code"], "CONFLICT", "an older one comes first");
    for name in [other, &pending] {
        assert_eq!(
            stage.cluster.ask(&["migrations", "abort", name]).await.code,
            0
        );
    }
    assert_eq!(running.line().await, None, "nothing more is said");
    assert!(running.ended().await.success());
    assert_eq!(stage.api.world().all_writes, 0);
}

#[tokio::test]
async fn what_is_waited_for_is_said_in_a_line_where_text_is_asked_for() {
    let stage = Stage::set(3, Serves::Anybody).await;
    let old = Server::join(&stage.client, "server-b").await;
    old.encodes(WIDGETS, "example.io/v1").await;
    old.leaves_undrained().await;
    until(&stage.client, |one| one.is_open()).await;
    let mut running = stage.begin(&["--once", "-o", "text"]);
    let line = running.line().await.unwrap();
    assert!(
        line.contains("  waits: writes in another version than example.io/v2 may land for "),
        "{line}"
    );
    assert!(line.ends_with(" s more"), "{line}");
    running.signal(Signal::TERM);
    assert!(running.ended().await.success());
}

#[tokio::test]
async fn an_api_server_that_is_taken_back_gives_other_workers_their_turn() {
    let stage = Stage::set(30, Serves::Anybody).await;
    let hash = |version| StorageVersionHash::of("example.io", version, "Widget").to_string();
    // Good when it is looked at and before the first page, and never again.
    stage.api.world().shown = ["v2", "v2", "v1"].map(hash).into();
    let mut running = stage.begin(&["--once"]);
    let released = next(&mut running, "ended").await;
    assert_eq!(released["outcome"], "RELEASED", "{released}");
    assert!(
        released["why"]
            .as_str()
            .unwrap()
            .contains("encodes widgets"),
        "{released}"
    );
    let migration = until(&stage.client, |one| one.claim.is_none()).await;
    assert_eq!(migration.failures, 0);
    let view = stage.client.migration(&migration.id, Default::default());
    let progress = view.await.unwrap().progress.unwrap();
    assert_eq!(
        progress.continue_token, None,
        "what was written does not count"
    );
    // It says what it waits for, and claims nothing meanwhile.
    let fault = next(&mut running, "fault").await;
    assert!(fault["why"].as_str().unwrap().contains("encodes widgets"));
    stage.api.world().shown = [hash("v2")].into();
    assert_eq!(next(&mut running, "ended").await["outcome"], "COMPLETED");
    assert!(running.ended().await.success());
    assert!(stage.api.world().old().is_empty());
    let printed = stage.cluster.ask(&stage.words(&["--once"])).await;
    assert_eq!((printed.code, events(&printed).len()), (0, 0));
}

#[tokio::test]
async fn two_workers_and_an_api_server_that_changes_its_mind_claim_less_and_less_often() {
    let stage = Stage::set(30, Serves::Anybody).await;
    let hash = |version| StorageVersionHash::of("example.io", version, "Widget").to_string();
    // As of two API servers behind one address: good when it is looked at, and no more before the first page.
    let in_turn = ["v2", "v1"].map(hash).into_iter().cycle();
    stage.api.world().shown = in_turn.take(100_000).collect();
    let mut first = stage.begin(&["--worker", "first"]);
    let mut second = stage.begin(&["--worker", "second"]);
    let before = stage.migration().await.metadata.resource_version;
    let over = Instant::now() + Duration::from_secs(8);
    let mut given_back = 0;
    loop {
        let line = tokio::select! {
            biased;
            () = sleep_until(over) => break,
            line = first.line() => line,
            line = second.line() => line,
        };
        let event: Value = serde_json::from_str(&line.expect("it has ended")).unwrap();
        given_back += u32::from(event["ended"]["outcome"] == "RELEASED");
    }
    // Each pauses for two seconds at least, also where a page was done in between, as the other one looked in the wrong moment.
    assert!((1..=10).contains(&given_back), "{given_back}");
    let after = stage.migration().await.metadata.resource_version;
    let written = after.get() - before.get();
    assert!(written <= 40, "{written} revisions");
    stage.api.world().shown = [hash("v2")].into();
    until(&stage.client, |one| one.phase == MigrationPhase::Succeeded).await;
    for mut running in [first, second] {
        running.signal(Signal::TERM);
        assert!(running.ended().await.success());
    }
    assert!(stage.api.world().old().is_empty());
}
