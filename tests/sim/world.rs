//! The loop that moves everything.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use synod_server::seams::random;

use crate::checkers::Checkers;
use crate::net::{Host, Net};
use crate::replica::Machine;
use crate::trace::Trace;
use crate::workload::{self, Ledger};

/// The hosts of every simulation.
pub(crate) const HOSTS: [Host; 3] = [1, 2, 3];

/// One step of the world, in milliseconds: no longer than the shortest way through the network matters.
const STEP: u64 = 2;

/// Three machines, the network between them, and clients.
pub(crate) struct World {
    pub(crate) now: u64,
    pub(crate) rng: StdRng,
    pub(crate) net: Net,
    pub(crate) machines: BTreeMap<Host, Machine>,
    pub(crate) trace: Trace,
    pub(crate) ledger: Ledger,
    checkers: Checkers,
}

impl World {
    /// The world of this seed, with all machines started.
    pub(crate) fn new(seed: u64) -> Self {
        random::seed_this_thread(seed);
        let mut rng = StdRng::seed_from_u64(seed);
        let net = Net::new(rng.random());
        let trace = Trace::default();
        let machines = HOSTS.map(|host| {
            let rate = rng.random_range(950..=1_050);
            let mut machine = Machine::new(host, rate, net.clone(), trace.clone());
            machine.start(&HOSTS);
            (host, machine)
        });
        Self {
            now: 0,
            rng,
            net,
            machines: machines.into(),
            trace,
            ledger: Ledger::default(),
            checkers: Checkers::default(),
        }
    }

    /// Lets `millis` pass, with clients at work.
    pub(crate) fn run_for(&mut self, millis: u64) {
        let end = self.now + millis;
        while self.now < end {
            self.clients();
            self.step();
        }
    }

    /// Lets time pass, with clients at work, until `condition` holds; at most `millis`. Whether it came to hold.
    pub(crate) fn run_until(
        &mut self,
        millis: u64,
        mut condition: impl FnMut(&Self) -> bool,
    ) -> bool {
        let end = self.now + millis;
        while self.now < end {
            if condition(self) {
                return true;
            }
            self.clients();
            self.step();
        }
        condition(self)
    }

    /// Lets `millis` pass without clients.
    pub(crate) fn rest(&mut self, millis: u64) {
        let end = self.now + millis;
        while self.now < end {
            self.step();
        }
    }

    pub(crate) fn machine(&mut self, host: Host) -> &mut Machine {
        self.machines.get_mut(&host).unwrap()
    }

    /// Who leads, as its own replica sees it.
    pub(crate) fn leader(&self) -> Option<Host> {
        let leads = |machine: &&Machine| {
            machine
                .consensus()
                .is_some_and(|it| it.leadership().borrow().is_me)
        };
        self.machines
            .values()
            .find(leads)
            .map(|machine| machine.host)
    }

    fn step(&mut self) {
        self.now += STEP;
        self.trace.advance(self.now);
        self.net.advance(self.now);
        for machine in self.machines.values_mut() {
            machine.advance(STEP);
        }
        self.checkers
            .look(&self.machines, &self.ledger, &self.trace);
    }

    fn clients(&mut self) {
        if self.rng.random_ratio(1, 4)
            && let Some(machine) = workload::pick(&self.machines, &mut self.rng)
        {
            self.ledger.propose(machine, &self.trace);
        }
        if self.rng.random_ratio(1, 20)
            && let Some(machine) = workload::pick(&self.machines, &mut self.rng)
        {
            self.ledger.read(machine, &self.trace);
        }
    }
}
