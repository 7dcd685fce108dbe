//! A worker that rewrites several objects of a page at the same time.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use synod_client::{
    Client, ContinueToken, Migration, Migrator, MigratorOptions, Store, StoreError, StorePage,
    Worked,
};
use tokio::time::Instant;

use super::store::{Shop, ShopStore};
use super::{ITEMS, encodes, newest, options};
use crate::cluster::{Cluster, legal, pass, within};
use crate::objects::V2;

const ITEM_COUNT: usize = 40;
/// How long a write takes.
const WRITE: Duration = Duration::from_secs(1);

/// A shop whose writes take time, and which counts how many are under way.
struct Slow {
    shop: ShopStore,
    waiting: AtomicUsize,
    most: AtomicUsize,
}

impl Slow {
    fn of(shop: &Shop) -> Self {
        Self {
            shop: ShopStore::of(shop),
            waiting: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        }
    }
}

impl Store for &Slow {
    type Object = String;

    async fn list_page(
        &self,
        migration: &Migration,
        token: Option<&ContinueToken>,
    ) -> Result<StorePage<String>, StoreError> {
        self.shop.list_page(migration, token).await
    }

    async fn rewrite(&self, migration: &Migration, name: &String) -> Result<(), StoreError> {
        let waiting = self.waiting.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(waiting, Ordering::Relaxed);
        pass(WRITE).await;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.shop.rewrite(migration, name).await
    }
}

fn at_once(count: usize) -> MigratorOptions {
    options("one").objects_at_once(legal(NonZeroUsize::new(count).ok_or("zero")))
}

/// Migrates a shop; returns how many writes were under way at once at most, and how long it took.
async fn migrated(client: &Client, shop: &Shop, options: MigratorOptions) -> (usize, Duration) {
    let slow = Slow::of(shop);
    let worker = Migrator::new(client.clone(), &slow, options);
    let id = newest(client, ITEMS).await.id;
    let begin = Instant::now();
    let worked = within(worker.run_one(&id)).await.unwrap();
    assert!(
        matches!(worked, Some(Worked::Completed { .. })),
        "it is completed"
    );
    assert!(shop.in_old_version().is_empty());
    assert_eq!(newest(client, ITEMS).await.done, ITEM_COUNT as u64);
    (slow.most.load(Ordering::Relaxed), begin.elapsed())
}

#[tokio::test(start_paused = true)]
async fn as_many_objects_are_rewritten_at_the_same_time_as_the_options_say() {
    for count in [1, 3] {
        let cluster = Cluster::start(1).await;
        let client = cluster.client().await;
        let _membership = encodes(&client, ITEMS, V2).await;
        let shop = Shop::with(ITEM_COUNT);
        let (most, _) = migrated(&client, &shop, at_once(count)).await;
        assert_eq!(most, count);
        assert_eq!(shop.written(), ITEM_COUNT, "{count} at once");
    }
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_the_rate_holds_for_all_that_are_rewritten_at_the_same_time() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let _membership = encodes(&client, ITEMS, V2).await;
    let shop = Shop::with(ITEM_COUNT);
    let two_a_second = legal(NonZeroU32::new(2).ok_or("zero"));
    let options = at_once(4).objects_per_second(two_a_second);
    let (most, taken) = migrated(&client, &shop, options).await;
    assert!(most > 1, "they were rewritten one by one");
    let least = (ITEM_COUNT as u32 - 1) * Duration::from_secs(1) / 2;
    assert!(taken >= least, "{taken:?}");
}

#[tokio::test(start_paused = true)]
async fn one_that_is_refused_for_good_ends_them_all() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let _membership = encodes(&client, ITEMS, V2).await;
    let shop = Shop::with(ITEM_COUNT);
    shop.answers("PUT item-1", &[403]);
    let slow = Slow::of(&shop);
    let worker = Migrator::new(client.clone(), &slow, at_once(3));
    let id = newest(&client, ITEMS).await.id;
    let worked = within(worker.run_one(&id)).await.unwrap();
    assert!(matches!(worked, Some(Worked::Failed(_))), "{worked:?}");
    let written = shop.written();
    assert!(written < 4, "{written} were written behind the refusal");
    pass(Duration::from_secs(60)).await;
    assert_eq!(shop.written(), written);
}
