//! Those who keep objects and leases in Synod: what they do, what they were told, and whether all of it can be true.

mod history;
mod holder;
mod ledger;
mod truth;
mod writer;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use synod_client::{
    Client, CollectionRules, CreateCollection, ErrorKind, GroupResource, Kind as ObjectKind,
};

use crate::api_servers::client;
use crate::clients::Clients;
use crate::net::{Host, Net};
use crate::trace::Trace;
use crate::world::World;

pub(crate) use ledger::Ledger;

/// The machine of who declares the collection.
const FOUNDER: Host = 40;

/// The machines of those who write objects.
const WRITERS: [Host; 3] = [41, 42, 43];

/// The machines of those who want leases.
const HOLDERS: [Host; 3] = [51, 52, 53];

/// So many simulated milliseconds anything may take that they have begun.
const PATIENCE: u64 = 60_000;

/// Users at work.
pub(crate) struct Users {
    ledger: Ledger,
    over: Arc<AtomicBool>,
    running: Arc<AtomicUsize>,
}

/// What each of them has.
struct User {
    host: Host,
    client: Client,
    ledger: Ledger,
    trace: Trace,
    rng: StdRng,
    over: Arc<AtomicBool>,
}

impl Users {
    /// Declares the collection, and lets them begin.
    pub(crate) fn start(world: &mut World) -> Self {
        let users = Self {
            ledger: Ledger::default(),
            over: Arc::default(),
            running: Arc::default(),
        };
        users.spawn(world, FOUNDER, async |user| found(&user.client).await);
        users.idle(world);
        for host in WRITERS {
            users.spawn(world, host, async |user| writer::run(user).await);
        }
        for host in HOLDERS {
            users.spawn(world, host, async |user| holder::run(user).await);
        }
        users
    }

    /// Lets them end what they have begun.
    pub(crate) fn finish(&self, world: &mut World) {
        self.over.store(true, Ordering::Relaxed);
        self.idle(world);
    }

    /// Checks everything that they were told against what the replicas hold and how that came about.
    pub(crate) fn check(&self, world: &mut World) {
        // What is left of the last deletions is cleared away without anybody asking.
        let cleared = world.run_until(PATIENCE, |world| {
            world.machines.values().all(|machine| {
                let consensus = machine.consensus();
                consensus.is_some_and(|consensus| !consensus.published().state.has_garbage())
            })
        });
        assert!(cleared, "owned objects are left for ever");
        for machine in world.machines.values() {
            let consensus = machine.consensus().expect("everything is healed");
            let state = &consensus.published().state;
            let checked = truth::check(state, &self.ledger);
            checked.unwrap_or_else(|fault| panic!("{}: {fault}", machine.host));
        }
        let told = self.ledger.told();
        world.trace.add(format_args!("users: {told:?}"));
        assert!(
            told.is_worth_something(),
            "hardly anything was done: {told:?}"
        );
    }

    fn idle(&self, world: &mut World) {
        let idle = world.run_until(PATIENCE, |_| self.running.load(Ordering::Relaxed) == 0);
        assert!(idle, "users do not come to an end");
    }

    fn spawn<F>(&self, world: &mut World, host: Host, work: impl FnOnce(User) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send,
    {
        let (rate, seed) = (world.rng.random_range(950..=1_050), world.rng.random());
        let (net, trace) = (world.net.clone(), world.trace.clone());
        let Clients::Serving(servers) = &mut world.clients else {
            panic!("consensus alone serves no clients");
        };
        servers.used_by(&self.ledger);
        self.running.fetch_add(1, Ordering::Relaxed);
        let (ledger, over, running) = (
            self.ledger.clone(),
            Arc::clone(&self.over),
            Arc::clone(&self.running),
        );
        servers.visit_at(rate, async move {
            work(User::new(host, &net, seed, ledger, trace, over).await).await;
            running.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

impl User {
    async fn new(
        host: Host,
        net: &Net,
        seed: u64,
        ledger: Ledger,
        trace: Trace,
        over: Arc<AtomicBool>,
    ) -> Self {
        Self {
            host,
            client: client(host, net, seed).await,
            ledger,
            trace,
            rng: StdRng::seed_from_u64(seed),
            over,
        }
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    async fn pause(&mut self, millis: std::ops::Range<u64>) {
        let pause = std::time::Duration::from_millis(self.rng.random_range(millis));
        tokio::time::sleep(pause).await;
    }
}

/// The resource of all objects.
fn resource() -> GroupResource {
    GroupResource::new("example.com", "cards").unwrap()
}

/// Declares the collection, however often that takes.
async fn found(client: &Client) {
    loop {
        let create = CreateCollection {
            resource: resource(),
            kind: ObjectKind::parse("Card").unwrap(),
            namespaced: false,
            rules: CollectionRules::default(),
        };
        match client.collections().create(create).await {
            Ok(_) => return,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return,
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(200)).await,
        }
    }
}
