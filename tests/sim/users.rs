//! Clients that store objects and hold leases, and the check of all their answers.

mod history;
mod holder;
mod ledger;
mod truth;
mod writer;

use std::time::Duration;

use synod_client::{
    Client, CollectionRules, CreateCollection, ErrorKind, GroupResource, Kind as ObjectKind,
};

use crate::clients::Clients;
use crate::crowd::{Crowd, Person};
use crate::net::Host;
use crate::world::World;

pub(crate) use ledger::Ledger;

/// The machine of the client that declares the collection.
const FOUNDER: Host = 40;

/// The machines of the clients that write objects.
const WRITERS: [Host; 3] = [41, 42, 43];

/// The machines of the clients that hold leases.
const HOLDERS: [Host; 3] = [51, 52, 53];

/// The machines of the clients that hold a lease for as long as they can.
const KEEPERS: [Host; 3] = [54, 55, 56];

/// The time until a deletion has removed all dependents, in simulated milliseconds.
const PATIENCE: u64 = 60_000;

/// The running users.
pub(crate) struct Users(Crowd<Ledger>);

/// One user.
type User = Person<Ledger>;

impl Users {
    /// Declares the collection, and starts the users.
    pub(crate) fn start(world: &mut World) -> Self {
        let users = Crowd::<Ledger>::new();
        if let Clients::Serving(servers) = &mut world.clients {
            servers.used_by(&users.ledger);
        }
        users.spawn(world, FOUNDER, async |user| found(&user.client).await);
        users.idle(world);
        for host in WRITERS {
            users.spawn(world, host, writer::run);
        }
        for host in HOLDERS {
            users.spawn(world, host, holder::run);
        }
        Self(users)
    }

    /// Starts clients that hold a lease for as long as they can, and nobody else.
    pub(crate) fn keeping(world: &mut World) -> Self {
        let users = Crowd::<Ledger>::new();
        if let Clients::Serving(servers) = &mut world.clients {
            servers.used_by(&users.ledger);
        }
        for host in KEEPERS {
            users.spawn(world, host, holder::keep);
        }
        Self(users)
    }

    /// Lets the users end what they have begun.
    pub(crate) fn finish(&self, world: &mut World) {
        self.0.finish(world);
    }

    /// Checks the answers to all users against the replicas' states and histories.
    pub(crate) fn check(&self, world: &mut World) {
        let ledger = &self.0.ledger;
        // The leader removes the dependents of the last deletions by itself.
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
            let checked = truth::check(state, ledger);
            checked.unwrap_or_else(|fault| panic!("{}: {fault}", machine.host));
        }
        let told = ledger.told();
        world.trace.add(format_args!("users: {told:?}"));
        assert!(
            told.is_worth_something(),
            "hardly anything was done: {told:?}"
        );
    }
}

/// The resource of all objects.
pub(crate) fn resource() -> GroupResource {
    GroupResource::new("example.com", "cards").unwrap()
}

/// Declares the collection, and retries until it is declared.
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
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}
