//! Workers that are killed at every step.

use std::future::{pending, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use synod_client::{
    Client, ContinueToken, Migration, MigrationId, MigrationPhase, MigrationReason, Migrator,
    Store, StoreError, StorePage, Ttl, Worked,
};
use tokio::sync::Notify;

use super::{ITEMS, encodes, newest, options};
use crate::cluster::{Cluster, legal, pass, resource, within};
use crate::objects::V2;

const ITEM_COUNT: usize = 100;
const PAGE: usize = 20;

/// When a worker is killed in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Before the store has executed the request.
    Before,
    /// After that, and before the worker has the answer.
    After,
}

/// How often each item was written.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<Vec<usize>>>);

impl Shelf {
    fn full() -> Self {
        Self(Arc::new(Mutex::new(vec![0; ITEM_COUNT])))
    }

    fn check(&self, case: &str) {
        let written = self.0.lock().unwrap();
        let missed = written.iter().position(|times| *times == 0);
        assert_eq!(missed, None, "{case}: an item was missed");
        let twice = written.iter().filter(|times| **times > 1).count();
        assert!(twice <= PAGE, "{case}: {twice} items were written twice");
        assert!(
            written.iter().all(|times| *times <= 2),
            "{case}: an item was written again and again"
        );
    }
}

/// The shelf as seen by one worker, which is killed at a step, or never.
struct Hands {
    shelf: Shelf,
    steps: Mutex<usize>,
    killed_at: Option<(usize, At)>,
    killed: Arc<Notify>,
}

impl Hands {
    fn new(shelf: &Shelf, killed_at: Option<(usize, At)>) -> Self {
        Self {
            shelf: shelf.clone(),
            steps: Mutex::new(0),
            killed_at,
            killed: Arc::new(Notify::new()),
        }
    }

    /// One request to the store.
    async fn step<T>(&self, what: impl FnOnce(&mut Vec<usize>) -> T) -> T {
        let step = {
            let mut steps = self.steps.lock().unwrap();
            *steps += 1;
            *steps
        };
        self.die(step, At::Before).await;
        let done = what(&mut self.shelf.0.lock().unwrap());
        self.die(step, At::After).await;
        done
    }

    async fn die(&self, step: usize, at: At) {
        if self.killed_at == Some((step, at)) {
            self.killed.notify_one();
            pending().await
        }
    }
}

impl Store for Hands {
    type Object = usize;

    async fn list_page(
        &self,
        _: &Migration,
        token: Option<&ContinueToken>,
    ) -> Result<StorePage<usize>, StoreError> {
        let from = token.map_or(0, |token| token.as_str().parse().unwrap());
        let page = |items: &mut Vec<usize>| (from..items.len().min(from + PAGE)).collect();
        let objects: Vec<usize> = self.step(page).await;
        let next = from + PAGE;
        let next = (next < ITEM_COUNT).then(|| legal(ContinueToken::parse(&next.to_string())));
        Ok(StorePage {
            objects,
            next,
            remaining: None,
        })
    }

    async fn rewrite(&self, _: &Migration, item: &usize) -> Result<(), StoreError> {
        self.step(|items| items[*item] += 1).await;
        Ok(())
    }
}

/// Runs a worker until it is killed or has completed the migration. Returns whether it has.
async fn worked(client: &Client, id: &MigrationId, hands: Hands) -> bool {
    let killed = Arc::clone(&hands.killed);
    let options = options("worker").ttl(legal(Ttl::from_millis(1_000)));
    let worker = Migrator::new(client.clone(), hands, options);
    let working = async {
        loop {
            // The claim of a killed worker has to end first.
            match worker.run_one(id).await.unwrap() {
                None => pass(Duration::from_millis(200)).await,
                Some(ended) => return ended,
            }
        }
    };
    let working = Box::pin(within(working));
    tokio::select! {
        biased;
        () = killed.notified() => false,
        ended = working => {
            assert!(matches!(ended, Worked::Completed { .. }), "{ended:?}");
            true
        }
    }
}

// Guarantee: MG-26
#[tokio::test(start_paused = true)]
async fn a_worker_killed_at_any_step_leaves_nothing_out_and_repeats_no_more_than_its_page() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let _membership = encodes(&client, ITEMS, V2).await;
    let mut id = newest(&client, ITEMS).await.id;
    let items = resource(ITEMS);
    let steps = ITEM_COUNT + ITEM_COUNT / PAGE;
    for step in 1..=steps + 1 {
        for at in [At::Before, At::After] {
            let (shelf, case) = (Shelf::full(), format!("killed {at:?} step {step}"));
            let has_ended = worked(&client, &id, Hands::new(&shelf, Some((step, at)))).await;
            assert_eq!(has_ended, step > steps, "{case}");
            if !has_ended {
                assert!(
                    worked(&client, &id, Hands::new(&shelf, None)).await,
                    "{case}"
                );
            }
            shelf.check(&case);
            let started = client.start_migration(&items, MigrationReason::Manual);
            id = within(started).await.unwrap().id;
        }
    }
}

// Guarantee: MG-26
#[tokio::test(start_paused = true)]
async fn workers_that_all_die_bring_a_migration_to_its_end_all_the_same() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let _membership = encodes(&client, ITEMS, V2).await;
    let id = newest(&client, ITEMS).await.id;
    let shelf = Shelf::full();
    // Each worker lives a step longer than the one before; none finishes a page before it lives long enough for one.
    let mut lives = 1;
    while !worked(&client, &id, Hands::new(&shelf, Some((lives, At::After)))).await {
        lives += 1;
    }
    assert!(lives > PAGE);
    let written = shelf.0.lock().unwrap();
    assert!(written.iter().all(|times| *times > 0));
}

/// The result of `working`, unless it is dropped before its next poll after this many polls.
async fn killed_after<T>(polls: usize, working: impl Future<Output = T>) -> Option<T> {
    let mut working = Box::pin(working);
    let mut polled = 0;
    poll_fn(|context| {
        polled += 1;
        if polled > polls {
            return Poll::Ready(None);
        }
        working.as_mut().poll(context).map(Some)
    })
    .await
}

// Guarantee: MG-26
#[tokio::test(start_paused = true)]
async fn a_worker_killed_at_any_word_of_the_cluster_leaves_nothing_out_and_repeats_its_page() {
    let cluster = Cluster::start(1).await;
    let client = cluster.client().await;
    let _membership = encodes(&client, ITEMS, V2).await;
    let (mut id, items) = (newest(&client, ITEMS).await.id, resource(ITEMS));
    // The store answers at once, so the worker waits only for the cluster's answers and for its next report.
    for polls in 1.. {
        let shelf = Shelf::full();
        let worker = || {
            let options = options("worker").ttl(legal(Ttl::from_millis(1_000)));
            Migrator::new(client.clone(), Hands::new(&shelf, None), options)
        };
        let first = worker();
        let ended = killed_after(polls, first.run_one(&id)).await;
        let second = worker();
        let is_open = async || {
            let view = within(client.migration(&id, Default::default())).await;
            view.unwrap().migration.phase != MigrationPhase::Succeeded
        };
        while is_open().await {
            within(second.run_one(&id)).await.unwrap();
            pass(Duration::from_millis(200)).await;
        }
        shelf.check(&format!("killed when it went on for the {polls}th time"));
        if ended.is_some() {
            assert!(
                polls > ITEM_COUNT / PAGE,
                "it says something with each page"
            );
            return;
        }
        let started = client.start_migration(&items, MigrationReason::Manual);
        id = within(started).await.unwrap().id;
    }
}
