//! Those who keep objects and leases in Synod: what they do, what they were told, and whether all of it can be true.

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

/// The machine of who declares the collection.
const FOUNDER: Host = 40;

/// The machines of those who write objects.
const WRITERS: [Host; 3] = [41, 42, 43];

/// The machines of those who want leases.
const HOLDERS: [Host; 3] = [51, 52, 53];

/// So many simulated milliseconds what is left of a deletion may stay.
const PATIENCE: u64 = 60_000;

/// Users at work.
pub(crate) struct Users(Crowd<Ledger>);

/// What each of them has.
type User = Person<Ledger>;

impl Users {
    /// Declares the collection, and lets them begin.
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

    /// Lets them end what they have begun.
    pub(crate) fn finish(&self, world: &mut World) {
        self.0.finish(world);
    }

    /// Checks everything that they were told against what the replicas hold and how that came about.
    pub(crate) fn check(&self, world: &mut World) {
        let ledger = &self.0.ledger;
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
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}
