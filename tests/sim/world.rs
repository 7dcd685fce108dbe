//! The simulated world: the loop that advances the machines, the network and the clients.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use synod_server::seams::random;

use crate::checkers::Checkers;
use crate::clients::Clients;
use crate::machine::{Kind, Machine};
use crate::net::{Host, Net};
use crate::trace::Trace;

/// The hosts of every simulation, whose replicas form the first set.
pub(crate) const HOSTS: [Host; 3] = [1, 2, 3];

/// A step of the world, in milliseconds: short against the network's latency.
const STEP: u64 = 2;

/// Three machines, the network between them, and clients.
pub(crate) struct World {
    pub(crate) now: u64,
    pub(crate) rng: StdRng,
    pub(crate) net: Net,
    pub(crate) machines: BTreeMap<Host, Machine>,
    pub(crate) clients: Clients,
    pub(crate) trace: Trace,
    checkers: Checkers,
    looks_away: bool,
}

impl World {
    /// Makes the world of this seed, and starts all machines.
    pub(crate) fn new(kind: Kind, seed: u64) -> Self {
        random::seed_this_thread(seed);
        let mut rng = StdRng::seed_from_u64(seed);
        let net = Net::new(rng.random());
        let trace = Trace::default();
        let machines = HOSTS.map(|host| {
            let rate = rng.random_range(950..=1_050);
            let mut machine = Machine::new(host, kind, rate, net.clone(), trace.clone());
            machine.start();
            (host, machine)
        });
        let clients = match kind {
            Kind::Bare => Clients::proposing(),
            Kind::Whole => Clients::serving(&net, &trace, &mut rng),
        };
        let checkers = Checkers::default();
        Self {
            now: 0,
            rng,
            net,
            machines: machines.into(),
            clients,
            trace,
            checkers,
            looks_away: false,
        }
    }

    /// Lets `millis` pass while clients make calls.
    pub(crate) fn run_for(&mut self, millis: u64) {
        self.run_until(millis, |_| false);
    }

    /// Lets time pass while clients make calls, until `condition` holds, at most `millis`. Returns whether it holds.
    pub(crate) fn run_until(&mut self, millis: u64, condition: impl Fn(&Self) -> bool) -> bool {
        let end = self.now + millis;
        while self.now < end {
            if condition(self) {
                return true;
            }
            self.clients
                .begin(&self.machines, &mut self.rng, &self.trace);
            self.step();
        }
        condition(self)
    }

    /// Lets `millis` pass in which clients start no new calls of their own accord.
    pub(crate) fn rest(&mut self, millis: u64) {
        let end = self.now + millis;
        while self.now < end {
            self.step();
        }
    }

    /// Cuts the links between a replica and the others, or heals them. Clients still reach it.
    pub(crate) fn isolate(&self, replica: Host, cut: bool) {
        for other in self.hosts().into_iter().filter(|other| *other != replica) {
            self.net.set_cut(replica, other, cut);
        }
    }

    /// The machines with replicas.
    pub(crate) fn hosts(&self) -> Vec<Host> {
        self.machines.keys().copied().collect()
    }

    /// Starts a machine whose replica has no data and waits to be added to the replica set.
    pub(crate) fn add_machine(&mut self, host: Host) {
        let rate = self.rng.random_range(950..=1_050);
        let mut machine = Machine::new(
            host,
            Kind::Whole,
            rate,
            self.net.clone(),
            self.trace.clone(),
        );
        machine.joins = true;
        machine.start();
        self.machines.insert(host, machine);
    }

    pub(crate) fn machine(&mut self, host: Host) -> &mut Machine {
        self.machines.get_mut(&host).unwrap()
    }

    /// A machine whose replica says that it leads.
    pub(crate) fn leader(&self) -> Option<Host> {
        self.machines
            .values()
            .find(|machine| machine.leads())
            .map(|machine| machine.host)
    }

    /// The index of the last entry that a replica has applied, 0 if it has applied none or does not run.
    pub(crate) fn applied(&self, host: Host) -> u64 {
        let consensus = self.machines[&host].consensus();
        consensus.map_or(0, |consensus| consensus.published().applied_index())
    }

    fn step(&mut self) {
        self.now += STEP;
        self.trace.advance(self.now);
        self.net.advance(self.now);
        for machine in self.machines.values_mut() {
            machine.advance(STEP);
        }
        self.clients.advance(STEP);
        if !self.looks_away {
            self.checkers
                .look(self.now, &self.machines, &self.clients, &self.trace);
        }
    }

    /// Checks no invariants from now on, because what follows is certain to break some.
    pub(crate) fn look_away(&mut self) {
        self.looks_away = true;
    }
}
