//! Claims of `synod migrate` that are given back, and what it says while it cannot have one.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use synod_client::{
    Client, Migration, MigrationPhase, ObjectKind, SettingsPatch, StorageVersionHash,
};
use tokio::time::{Instant, timeout};

use super::{SOON, Stage, TRIES, WIDGETS, events, next};
use crate::certificates::Serves;
use crate::cluster::Server;
use crate::program::Running;

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

/// Tries this until a worker has given its claim back in the two seconds that it has for that.
async fn in_time(trying: impl AsyncFn() -> bool) {
    for _ in 0..TRIES {
        // Boxed, since whoever waits would carry all that is tried.
        if Box::pin(trying()).await {
            return;
        }
    }
    panic!("no claim was given back in time");
}

/// Tells a worker to stop, and returns whether it gave its claim back in the time that it has for that.
async fn gives_back(worker: &mut Running, signal: Signal) -> bool {
    worker.signal(signal);
    let since = Instant::now();
    let mut is_given_back = false;
    while let Some(line) = worker.line().await {
        let event: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        if let Some(ended) = event.get("ended") {
            assert_eq!(ended["outcome"], "RELEASED", "{ended}");
            is_given_back = true;
        }
    }
    assert!(worker.ended().await.success());
    assert!(since.elapsed() < SOON, "{:?}", since.elapsed());
    is_given_back
}

// Guarantee: MG-07
#[tokio::test]
async fn who_is_told_to_stop_gives_its_claim_back_and_the_next_goes_on_at_once() {
    in_time(stops_twice_and_goes_on).await;
}

async fn stops_twice_and_goes_on() -> bool {
    let stage = Stage::set(100, Serves::Anybody).await;
    for signal in [Signal::TERM, Signal::INT] {
        // Progress is shown after five seconds at the latest, when most is left still.
        let slowly = ["--objects-per-second", "5", "--objects-at-once", "1"];
        let mut first = stage.begin(&slowly);
        next(&mut first, "claimed").await;
        let begun = stage.migration().await.done;
        until(&stage.client, |one| one.done >= begun + 5).await;
        if !gives_back(&mut first, signal).await {
            return false;
        }
    }
    // Without a claim there is none that the next one would have to wait for.
    let given_back = stage.migration().await;
    assert_eq!((given_back.claim, given_back.failures), (None, 0));
    assert!(given_back.done >= 10, "{}", given_back.done);
    let mut last = stage.begin(&["--once", "--worker", "last"]);
    next(&mut last, "claimed").await;
    let ended = next(&mut last, "ended").await;
    assert_eq!(ended["outcome"], "COMPLETED", "{ended}");
    assert!(last.ended().await.success());
    let world = stage.api.world();
    assert!(world.old().is_empty());
    // Each who goes on writes the last page once more, and the page in which the one before it was stopped.
    let again = world.objects.values().filter(|stored| stored.writes > 1);
    assert!(again.count() <= 2 * 2 * 5);
    true
}

// Guarantee: MG-07
#[tokio::test]
async fn a_worker_that_waits_has_what_another_gives_back_in_the_next_moment() {
    in_time(passes_to_who_waits).await;
}

async fn passes_to_who_waits() -> bool {
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
    if !gives_back(&mut first, Signal::TERM).await {
        return false;
    }
    let claimed = next(&mut second, "claimed").await;
    // A claim that is not given back runs out after 15 seconds.
    assert!(since.elapsed() < SOON, "{:?}", since.elapsed());
    let held = until(&stage.client, |one| one.claim.is_some()).await;
    assert_eq!(claimed["migration"], held.id.to_string());
    let worker = held.claim.map(|claim| claim.worker.to_string());
    assert_eq!(worker.as_deref(), Some("second"));
    true
}

impl Stage {
    async fn writes_land_within(&self, write_grace: Duration) {
        let patch = SettingsPatch {
            write_grace: Some(write_grace),
            ..SettingsPatch::default()
        };
        self.client.update_settings(patch, None).await.unwrap();
    }
}

// Guarantee: MG-08
#[tokio::test]
async fn what_a_drain_keeps_waiting_is_said_once_however_often_it_is_asked_for() {
    let stage = Stage::set(3, Serves::Anybody).await;
    let old = Server::join(&stage.client, "server-b").await;
    old.encodes(WIDGETS, "example.io/v1").await;
    stage.writes_land_within(Duration::from_secs(70)).await;
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

// Guarantee: MG-07
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

// Guarantee: MG-07
#[tokio::test]
async fn two_workers_and_an_api_server_that_changes_its_mind_claim_less_and_less_often() {
    let stage = Stage::set(30, Serves::Anybody).await;
    let hash = |version| StorageVersionHash::of("example.io", version, "Widget").to_string();
    // As of two API servers behind one address, of which one encodes in the version before.
    let in_turn = ["v2", "v1"].map(hash).into_iter().cycle();
    stage.api.world().shown = in_turn.take(100_000).collect();
    let begun = Instant::now();
    let mut first = stage.begin(&["--worker", "first"]);
    let mut second = stage.begin(&["--worker", "second"]);
    let before = stage.migration().await.metadata.resource_version;
    let mut given_back = 0;
    while given_back < 6 {
        let line = tokio::select! {
            biased;
            line = first.line() => line,
            line = second.line() => line,
        };
        let event: Value = serde_json::from_str(&line.expect("it has ended")).unwrap();
        assert_ne!(event["ended"]["outcome"], "COMPLETED", "{event}");
        given_back += u32::from(event["ended"]["outcome"] == "RELEASED");
    }
    // One of the two gave back three times, and paused for two seconds at least after each of the first two, also where a page
    // was done in between, as the other one looked in the wrong moment.
    let passed = begun.elapsed();
    assert!(passed >= Duration::from_secs(4), "{passed:?}");
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
