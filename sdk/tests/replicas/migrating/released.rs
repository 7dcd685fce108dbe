//! Workers that give their claims back.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use synod_client::{
    Attempt, ContinueToken, ErrorKind, Migration, MigrationPhase, Migrator, SettingsPatch, Store,
    StoreError, StorePage, Switch, Ttl, Worked,
};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::store::{Shop, ShopStore};
use super::{ITEMS, encodes, newest, options};
use crate::cluster::{Cluster, endpoint, legal, pass, within};
use crate::network::Weather;
use crate::objects::V2;

/// Longer than any of these tests lasts: whoever goes on before has not waited for a claim to run out.
const AN_HOUR: u64 = 3_600_000;

/// A worker of this store told to stop in the middle of its fifth page, and what it answered.
async fn stopped(
    cluster: &Cluster,
    shop: &Shop,
    name: &str,
) -> (Instant, Result<(), synod_client::Error>) {
    let slow = options(name)
        .ttl(legal(Ttl::from_millis(AN_HOUR)))
        .objects_per_second(NonZeroU32::MIN);
    let worker = Migrator::new(cluster.client().await, ShopStore::of(shop), slow);
    let stop = Arc::new(Notify::new());
    let told = Arc::clone(&stop);
    let working = tokio::spawn(async move { worker.run_until(told.notified()).await });
    let before = shop.written();
    while shop.written() < before + 18 {
        pass(Duration::from_millis(200)).await;
    }
    let since = Instant::now();
    stop.notify_one();
    (since, within(working).await.unwrap())
}

// Guarantee: MG-07
#[tokio::test(start_paused = true)]
async fn another_worker_goes_on_within_a_second_where_one_that_was_told_to_stop_stood() {
    let cluster = Cluster::start(3).await;
    let client = cluster.client().await;
    let _membership = encodes(&client, ITEMS, V2).await;
    let shop = Shop::with(40);
    let waiting = Migrator::new(client.clone(), ShopStore::of(&shop), options("waits"));
    let running = async {
        let (since, ended) = stopped(&cluster, &shop, "stops").await;
        ended.unwrap();
        let migration = newest(&client, ITEMS).await;
        assert_eq!(
            (migration.phase, migration.claim),
            (MigrationPhase::Pending, None)
        );
        assert_eq!(
            (migration.done, migration.failures),
            (16, 0),
            "four pages are done"
        );
        assert!(
            since.elapsed() < Duration::from_secs(1),
            "{:?}",
            since.elapsed()
        );
        let over = waiting.run_until(async {
            while newest(&client, ITEMS).await.phase != MigrationPhase::Succeeded {
                pass(Duration::from_millis(10)).await;
            }
        });
        over.await.unwrap();
        assert!(
            since.elapsed() < Duration::from_secs(1),
            "{:?}",
            since.elapsed()
        );
    };
    within(running).await;
    assert!(shop.in_old_version().is_empty());
    let twice = shop.written() - 40;
    assert!(twice <= 4, "{twice} were written twice, and a page has 4");
    assert_eq!(newest(&client, ITEMS).await.done, 40);
}

// Guarantee: MG-07
#[tokio::test(start_paused = true)]
async fn a_worker_that_cannot_give_back_stops_all_the_same() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let _membership = encodes(&client, ITEMS, V2).await;
    let shop = Shop::with(40);
    let slow = options("one").objects_per_second(NonZeroU32::MIN);
    let worker = Migrator::new(client.clone(), ShopStore::of(&shop), slow);
    let mut since = Instant::now();
    let told = async {
        while shop.written() < 3 {
            pass(Duration::from_millis(200)).await;
        }
        cluster.network.set(&endpoint(1), Weather::Cut);
        since = Instant::now();
    };
    within(worker.run_until(told)).await.unwrap();
    assert!(
        since.elapsed() <= Duration::from_secs(3),
        "{:?}",
        since.elapsed()
    );
    cluster.network.set(&endpoint(1), Weather::Fair);
    // Its claim runs out, as that of a dead one.
    while newest(&client, ITEMS).await.claim.is_some() {
        pass(Duration::from_secs(1)).await;
    }
    assert!(
        since.elapsed() >= Duration::from_secs(10),
        "{:?}",
        since.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_is_told_to_stop_before_it_begins_claims_nothing() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let _membership = encodes(&client, ITEMS, V2).await;
    let id = newest(&client, ITEMS).await.id;
    let shop = Shop::with(3);
    let worker = Migrator::new(client.clone(), ShopStore::of(&shop), options("one"));
    let attempt = within(worker.run_one_until(&id, async {})).await.unwrap();
    assert!(matches!(attempt, Attempt::Stopped), "{attempt:?}");
    within(worker.run_until(async {})).await.unwrap();
    let migration = newest(&client, ITEMS).await;
    assert_eq!(migration.phase, MigrationPhase::Pending);
    assert_eq!(
        migration.metadata.resource_version,
        migration.metadata.create_revision
    );
    // Whoever is refused hears why.
    let other = options("other").worker;
    let taken = client.claim_migration(&id, &other, Ttl::DEFAULT);
    within(taken).await.unwrap();
    let attempt = worker.run_one_until(&id, std::future::pending());
    let Attempt::Refused(refusal) = within(attempt).await.unwrap() else {
        panic!("another worker has it");
    };
    assert_eq!(refusal.kind(), ErrorKind::Conflict);
    assert!(refusal.message().contains("\"other\""), "{refusal}");
}

/// A store that is not ready for a number of lists, and counts them.
#[derive(Clone, Default)]
struct Unready {
    lists: Arc<AtomicUsize>,
    until: usize,
}

impl Store for Unready {
    type Object = ();

    async fn list_page(
        &self,
        _: &Migration,
        _: Option<&ContinueToken>,
    ) -> Result<StorePage<()>, StoreError> {
        if self.lists.fetch_add(1, Ordering::Relaxed) < self.until {
            return Err(StoreError::NotReady("it encodes in v1 still".to_owned()));
        }
        Ok(StorePage {
            objects: Vec::new(),
            next: None,
            remaining: None,
        })
    }

    async fn rewrite(&self, _: &Migration, (): &()) -> Result<(), StoreError> {
        Ok(())
    }
}

// Guarantee: MG-07
#[tokio::test(start_paused = true)]
async fn a_store_that_is_not_ready_is_no_failure_and_another_worker_may_have_its_turn() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let _membership = encodes(&client, ITEMS, V2).await;
    let id = newest(&client, ITEMS).await.id;
    let store = Unready {
        until: 12,
        ..Unready::default()
    };
    let unready = Migrator::new(client.clone(), store.clone(), options("one"));
    let worked = within(unready.run_one(&id)).await.unwrap();
    let Some(Worked::Released { why }) = worked else {
        panic!("it is given back: {worked:?}");
    };
    assert!(why.contains("in v1 still"), "{why}");
    let migration = newest(&client, ITEMS).await;
    assert_eq!(
        (migration.phase, migration.failures),
        (MigrationPhase::Pending, 0)
    );
    // It asks again by itself, however often that takes, and not as fast as it can.
    let since = Instant::now();
    let ready = async {
        while newest(&client, ITEMS).await.phase != MigrationPhase::Succeeded {
            pass(Duration::from_secs(1)).await;
        }
    };
    tokio::select! {
        biased;
        ended = unready.run() => panic!("it ended: {ended:?}"),
        () = ready => {}
    }
    assert_eq!(store.lists.load(Ordering::Relaxed), 13);
    // Each pause is twice as long, and a minute at most: 5, 10, 20 and 40 seconds, and then seven minutes.
    let waited = since.elapsed();
    let (least, most) = (Duration::from_secs(495), Duration::from_secs(520));
    assert!((least..most).contains(&waited), "{waited:?}");
    assert_eq!(newest(&client, ITEMS).await.failures, 0);
}

// Guarantee: MG-07
#[tokio::test(start_paused = true)]
async fn a_worker_lets_go_while_migrations_are_switched_off() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let _membership = encodes(&client, ITEMS, V2).await;
    let id = newest(&client, ITEMS).await.id;
    let shop = Shop::with(1_000);
    let slow = options("one").objects_per_second(legal(NonZeroU32::new(10).ok_or("zero")));
    let worker = Migrator::new(client.clone(), ShopStore::of(&shop), slow);
    let off = async {
        while shop.written() < 10 {
            pass(Duration::from_millis(100)).await;
        }
        let patch = SettingsPatch {
            migrations: Some(Switch::Off),
            ..SettingsPatch::default()
        };
        within(client.update_settings(patch, None)).await.unwrap();
        std::future::pending::<()>().await
    };
    let worked = tokio::select! {
        biased;
        worked = within(worker.run_one(&id)) => worked.unwrap(),
        () = off => None,
    };
    let Some(Worked::Released { why }) = worked else {
        panic!("it is given back: {worked:?}");
    };
    assert!(why.contains("migrations=on"), "{why}");
    let migration = newest(&client, ITEMS).await;
    assert_eq!(
        (migration.phase, migration.claim),
        (MigrationPhase::Pending, None)
    );
}
