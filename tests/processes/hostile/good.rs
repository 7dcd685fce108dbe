//! Well-behaved clients, which must not notice the hostile ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use synod_client::{Client, GroupResource, ReadOptions};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::cluster::Cluster;
use crate::waiting::{eventually, within};

/// The number of calls that must succeed before failures are counted against it.
const ENOUGH: usize = 300;

/// Two clients: one that stays connected, and one that reconnects for each call.
pub(super) struct Good {
    over: Arc<AtomicBool>,
    counts: Arc<Counts>,
    tasks: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Counts {
    served: AtomicUsize,
    failed: AtomicUsize,
}

/// The numbers of calls that succeeded and failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fared {
    pub(super) served: usize,
    pub(super) failed: usize,
}

impl Good {
    /// Starts both clients at one replica.
    pub(super) async fn start(cluster: &Cluster, replica: u64) -> Self {
        let (over, counts) = (Arc::<AtomicBool>::default(), Arc::<Counts>::default());
        let staying = cluster.client_of(replica).await;
        let builder = cluster.builder(vec![cluster.endpoint(replica)]);
        let tasks = vec![
            tokio::spawn(work(Arc::clone(&over), Arc::clone(&counts), move || {
                let client = staying.clone();
                async move { Some(client) }
            })),
            tokio::spawn(work(Arc::clone(&over), Arc::clone(&counts), move || {
                let builder = builder.clone();
                async move { builder.connect().await.ok() }
            })),
        ];
        Self {
            over,
            counts,
            tasks,
        }
    }

    /// Waits until enough calls have succeeded, stops the clients, and returns the numbers.
    pub(super) async fn fared(self) -> Fared {
        eventually("enough that is served", async || {
            let served = self.counts.served.load(Ordering::Relaxed);
            let is_enough = served >= ENOUGH;
            is_enough.then_some(()).ok_or_else(|| served.to_string())
        })
        .await;
        self.over.store(true, Ordering::Relaxed);
        for task in self.tasks {
            within("the end of a client", task).await.expect("it works");
        }
        Fared {
            served: self.counts.served.load(Ordering::Relaxed),
            failed: self.counts.failed.load(Ordering::Relaxed),
        }
    }
}

impl Fared {
    /// Panics if more than one call in a thousand failed.
    pub(super) fn well(self) {
        assert!(self.failed * 1_000 <= self.served, "{self:?}");
    }
}

async fn work<F>(over: Arc<AtomicBool>, counts: Arc<Counts>, client: impl Fn() -> F)
where
    F: Future<Output = Option<Client>>,
{
    let mut beat = interval(Duration::from_millis(5));
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !over.load(Ordering::Relaxed) {
        let served = match client().await {
            Some(client) => ask(&client).await,
            None => false,
        };
        let count = if served {
            &counts.served
        } else {
            &counts.failed
        };
        count.fetch_add(1, Ordering::Relaxed);
        beat.tick().await;
    }
}

/// A linearizable read of a storage version that does not exist.
async fn ask(client: &Client) -> bool {
    let resource = GroupResource::new("example.com", "nothing").expect("it is a resource");
    let read = client.storage_version(&resource, ReadOptions::linearizable());
    matches!(read.await, Err(error) if error.kind() == synod_client::ErrorKind::NotFound)
}
