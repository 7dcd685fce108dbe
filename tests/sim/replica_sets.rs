//! The replica set changes while faults come and go: replicas are added, promoted, replaced and removed by calls of the
//! client library, as `synod cluster` does it, and one that has lost its disk is replaced.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::RngExt;
use synod_client::{Changed, Client, Error, ErrorKind};
use synod_store::SimDisk;

use crate::api_servers::client_of;
use crate::checkers::come_together;
use crate::clients::Clients;
use crate::faults::torment;
use crate::machine::Kind;
use crate::net::{Host, peer_address};
use crate::seeds::for_each_seed;
use crate::users::Users;
use crate::world::{HOSTS, World};

/// The machine of the operator.
const OPERATOR: Host = 71;

/// Changes in one run.
const CHANGES: usize = 6;

/// The most replicas in the set.
const REPLICAS_MAX: usize = 5;

/// The time until a change has been carried out after all faults are healed, and until who has left ends, in simulated
/// milliseconds.
const PATIENCE: u64 = 60_000;

/// The pause before the operator asks again.
const PAUSE: Duration = Duration::from_millis(300);

/// A change of the replica set.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// A fresh replica is added as a learner.
    Add,
    /// A learner becomes a voter.
    Promote(Host),
    /// A learner becomes a voter in place of another one.
    Replace(Host, Host),
    /// A replica leaves.
    Remove(Host),
    /// A fresh replica asks for the id of one that has left.
    Again(Host),
    /// A voter loses its disk, and is replaced by a fresh replica.
    Lose(Host),
}

/// What the operator asks for.
#[derive(Clone, Copy, Debug)]
enum Request {
    Add(Host),
    Promote(Host, Option<Host>),
    Remove(Host),
}

/// The replica set, as the operator knows it.
struct Operator {
    voters: BTreeSet<Host>,
    learners: BTreeSet<Host>,
    left: Vec<Host>,
    /// An id that no replica has had.
    next: Host,
}

// Guarantee: S-04
#[test]
fn the_replica_set_survives_whatever_changes_it() {
    let test = "the_replica_set_survives_whatever_changes_it";
    for_each_seed(test, Kind::Whole, 1..3, |world| {
        let formed = world.run_until(5_000, |world| world.clients.acknowledged() > 0);
        assert!(formed, "nothing is acknowledged within five seconds");
        let users = Users::start(world);
        let mut operator = Operator {
            voters: HOSTS.into(),
            learners: BTreeSet::new(),
            left: Vec::new(),
            next: 4,
        };
        for _ in 0..CHANGES {
            let change = operator.choose(world);
            world.trace.add(format_args!("change {change:?}"));
            operator.carry_out(world, change);
        }
        users.finish(world);
        come_together(world);
        users.check(world);
        operator.check(world);
    });
}

impl Operator {
    fn choose(&self, world: &mut World) -> Change {
        let (learner, voter) = (pick(world, &self.learners), pick(world, &self.voters));
        let voter = voter.expect("there are voters");
        let left = pick(world, &self.left.iter().copied().collect());
        let has_room = self.voters.len() + self.learners.len() < REPLICAS_MAX;
        loop {
            match (world.rng.random_range(0..12), learner, left) {
                (0..3, _, _) if has_room => return Change::Add,
                (3..5, Some(learner), _) => return Change::Promote(learner),
                (5..7, Some(learner), _) => return Change::Replace(learner, voter),
                (7, _, _) if self.voters.len() > 2 => return Change::Remove(voter),
                (8, Some(learner), _) => return Change::Remove(learner),
                (9..11, _, _) if has_room && self.voters.len() > 2 => return Change::Lose(voter),
                (11, _, Some(left)) => return Change::Again(left),
                _ => {}
            }
        }
    }

    fn carry_out(&mut self, world: &mut World, change: Change) {
        match change {
            Change::Add => {
                let fresh = self.fresh(world);
                self.done(world, Request::Add(fresh));
                self.learners.insert(fresh);
            }
            Change::Promote(learner) => {
                self.done(world, Request::Promote(learner, None));
                self.promoted(learner);
            }
            Change::Replace(learner, old) => {
                world.machine(old).let_end();
                self.done(world, Request::Promote(learner, Some(old)));
                self.promoted(learner);
                self.gone(world, old);
            }
            Change::Remove(old) => {
                world.machine(old).let_end();
                self.done(world, Request::Remove(old));
                self.gone(world, old);
            }
            Change::Again(left) => {
                world.add_machine(left);
                let told = self.ask(world, Request::Add(left));
                let refused = told.expect_err("an id was given again");
                assert_eq!(refused, ErrorKind::AlreadyExists);
                switch_off(world, left);
            }
            Change::Lose(old) => self.lose(world, old),
        }
    }

    fn lose(&mut self, world: &mut World, old: Host) {
        world.machine(old).kill();
        world.run_for(500);
        let others: BTreeSet<Host> = self
            .voters
            .iter()
            .copied()
            .filter(|it| *it != old)
            .collect();
        let other = pick(world, &others).expect("there are others");
        if others.len() == 2 {
            // The lost one and another would be left: no majority.
            self.refused(world, Request::Remove(other));
        }
        let machine = world.machine(old);
        machine.disk = SimDisk::new();
        machine.let_end();
        // Without data it asks those of the first set, and nobody else.
        let mut others = HOSTS.iter().filter(|host| **host != old);
        let asks = HOSTS.contains(&old) && others.any(|host| world.machines.contains_key(host));
        let comes_back = asks && world.rng.random_ratio(1, 2);
        if comes_back {
            world.machine(old).start();
        }
        let fresh = self.fresh(world);
        self.done(world, Request::Add(fresh));
        self.done(world, Request::Promote(fresh, Some(old)));
        self.promoted(fresh);
        if comes_back {
            self.gone(world, old);
        } else {
            self.forget(world, old);
        }
    }

    /// Starts a replica under an id that none has had.
    fn fresh(&mut self, world: &mut World) -> Host {
        let fresh = self.next;
        self.next += 1;
        world.add_machine(fresh);
        fresh
    }

    fn promoted(&mut self, learner: Host) {
        self.learners.remove(&learner);
        self.voters.insert(learner);
    }

    /// Waits until a replica that has left ends by itself.
    fn gone(&mut self, world: &mut World, old: Host) {
        let ended = world.run_until(PATIENCE, |world| world.machines[&old].has_ended());
        assert!(ended, "{old} has left, and does not end");
        self.forget(world, old);
    }

    fn forget(&mut self, world: &mut World, old: Host) {
        switch_off(world, old);
        self.voters.remove(&old);
        self.learners.remove(&old);
        self.left.push(old);
    }

    fn done(&self, world: &mut World, request: Request) {
        let told = self.ask(world, request);
        assert_eq!(told, Ok(()), "{request:?}");
    }

    /// Asks until it is decided, while faults come and go.
    fn ask(&self, world: &mut World, request: Request) -> Result<(), ErrorKind> {
        let told = self.send(world, request, true);
        let faults = world.rng.random_range(0..3);
        torment(world, faults);
        world.run_until(PATIENCE, |_| told.lock().unwrap().is_some());
        let told = *told.lock().unwrap();
        told.unwrap_or_else(|| panic!("healed, and nobody carries out {request:?}"))
    }

    /// Asks once for what must not be done.
    fn refused(&self, world: &mut World, request: Request) {
        let told = self.send(world, request, false);
        world.run_until(PATIENCE, |_| told.lock().unwrap().is_some());
        let told = told.lock().unwrap().expect("somebody answers");
        assert!(
            told.is_err(),
            "{request:?} leaves no majority, and was done"
        );
    }

    fn send(&self, world: &mut World, request: Request, insists: bool) -> Told {
        let (net, trace, told) = (world.net.clone(), world.trace.clone(), Told::default());
        let seed = world.rng.random();
        let replicas: Vec<Host> = self.voters.iter().copied().collect();
        let Clients::Serving(servers) = &mut world.clients else {
            panic!("consensus alone serves no clients");
        };
        let answer = Arc::clone(&told);
        servers.visit(async move {
            let client = client_of(replicas, OPERATOR, &net, seed).await;
            let decided = loop {
                let Err(error) = request.send(&client).await else {
                    break Ok(());
                };
                trace.add(format_args!("{request:?}: {error}"));
                let is_decided = error.kind() == ErrorKind::AlreadyExists;
                if is_decided || !insists {
                    break Err(error.kind());
                }
                tokio::time::sleep(PAUSE).await;
            };
            trace.add(format_args!("{request:?}: {decided:?}"));
            *answer.lock().unwrap() = Some(decided);
        });
        told
    }

    /// Checks that all replicas have the set that the operator was told of.
    fn check(&self, world: &World) {
        for machine in world.machines.values() {
            let status = machine.consensus().expect("everything is healed").status();
            let of_kind = |voter: bool| -> BTreeSet<Host> {
                let replicas = status.replicas.iter();
                let some = replicas.filter(|(_, replica)| replica.voter == voter);
                some.map(|(id, _)| id.get()).collect()
            };
            assert_eq!(
                of_kind(true),
                self.voters,
                "voters as {} has them",
                machine.host
            );
            assert_eq!(
                of_kind(false),
                self.learners,
                "learners as {} has them",
                machine.host
            );
        }
    }
}

impl Request {
    async fn send(self, client: &Client) -> Result<Changed, Error> {
        match self {
            Self::Add(host) => client.add_replica(host, &peer_address(host)).await,
            Self::Promote(host, replaces) => client.promote_replica(host, replaces).await,
            Self::Remove(host) => client.remove_replica(host).await,
        }
    }
}

/// What the operator is told, once it is.
type Told = Arc<Mutex<Option<Result<(), ErrorKind>>>>;

/// Takes a machine away.
fn switch_off(world: &mut World, host: Host) {
    if world.machines[&host].is_running() {
        world.machine(host).kill();
    }
    // The checkers see that it has ended: another one may get its number.
    world.run_for(10);
    world.machines.remove(&host);
}

fn pick(world: &mut World, among: &BTreeSet<Host>) -> Option<Host> {
    let place = world.rng.random_range(0..among.len().max(1));
    among.iter().nth(place).copied()
}
