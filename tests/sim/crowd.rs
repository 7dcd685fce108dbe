//! A group of clients that run until they are told to end, each on a machine with its own clock.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use synod_client::Client;

use crate::api_servers::client;
use crate::clients::Clients;
use crate::net::{Host, Net};
use crate::trace::Trace;
use crate::world::World;

/// The time that a client may take to end, in simulated milliseconds.
const PATIENCE: u64 = 60_000;

/// Running clients, which record their answers in one ledger.
pub(crate) struct Crowd<L> {
    pub(crate) ledger: L,
    over: Arc<AtomicBool>,
    running: Arc<AtomicUsize>,
}

/// One client of the group, with its connections and its randomness.
pub(crate) struct Person<L> {
    pub(crate) host: Host,
    pub(crate) net: Net,
    pub(crate) client: Client,
    pub(crate) ledger: L,
    pub(crate) trace: Trace,
    pub(crate) rng: StdRng,
    over: Arc<AtomicBool>,
}

impl<L: Clone + Default + Send + 'static> Crowd<L> {
    /// A group without clients.
    pub(crate) fn new() -> Self {
        Self {
            ledger: L::default(),
            over: Arc::default(),
            running: Arc::default(),
        }
    }

    /// Starts a client.
    pub(crate) fn spawn<F>(
        &self,
        world: &mut World,
        host: Host,
        work: impl FnOnce(Person<L>) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send,
    {
        let (rate, seed) = (world.rng.random_range(950..=1_050), world.rng.random());
        let (net, trace) = (world.net.clone(), world.trace.clone());
        let Clients::Serving(servers) = &mut world.clients else {
            panic!("consensus alone serves no clients");
        };
        self.running.fetch_add(1, Ordering::Relaxed);
        let (ledger, over, running) = (
            self.ledger.clone(),
            Arc::clone(&self.over),
            Arc::clone(&self.running),
        );
        servers.visit_at(rate, async move {
            let client = client(host, &net, seed).await;
            let rng = StdRng::seed_from_u64(seed);
            let person = Person {
                host,
                net,
                client,
                ledger,
                trace,
                rng,
                over,
            };
            work(person).await;
            running.fetch_sub(1, Ordering::Relaxed);
        });
    }

    /// Lets the world go on until all clients have ended.
    pub(crate) fn idle(&self, world: &mut World) {
        let idle = world.run_until(PATIENCE, |_| self.running.load(Ordering::Relaxed) == 0);
        assert!(idle, "they do not come to an end");
    }

    /// Tells the clients to end, and waits for them.
    pub(crate) fn finish(&self, world: &mut World) {
        self.over.store(true, Ordering::Relaxed);
        self.idle(world);
    }
}

impl<L> Person<L> {
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    pub(crate) async fn pause(&mut self, millis: Range<u64>) {
        let pause = Duration::from_millis(self.rng.random_range(millis));
        tokio::time::sleep(pause).await;
    }
}
