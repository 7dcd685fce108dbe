//! The invariants, one file each: checked after every step, costly ones every 100, `together` last.

mod acknowledged;
mod alive;
mod counts;
mod exclusive;
mod forward;
mod keys;
mod one_history;
mod reads;
mod replica_set;
mod together;
mod topics;
mod versions;
mod watches;

use std::collections::BTreeMap;

use crate::clients::Clients;
use crate::machine::Machine;
use crate::net::Host;
use crate::trace::Trace;

pub(crate) use together::come_together;

/// The invariants that must hold at any time.
#[derive(Default)]
pub(crate) struct Checkers {
    acknowledged: acknowledged::Acknowledged,
    counts: counts::Counts,
    forward: forward::Forward,
    one_history: one_history::OneHistory,
    replica_sets: replica_set::ReplicaSets,
    topics: topics::Topics,
    watches: watches::Watches,
}

impl Checkers {
    /// Checks the invariants. Panics at the first one that is broken.
    pub(crate) fn look(
        &mut self,
        now: u64,
        machines: &BTreeMap<Host, Machine>,
        clients: &Clients,
        trace: &Trace,
    ) {
        for machine in machines.values() {
            let Some(consensus) = machine.consensus() else {
                self.forward.forget(machine.host);
                continue;
            };
            let published = consensus.published();
            self.forward
                .look(machine.host, &consensus, &published, trace);
            self.one_history.look(machine.host, &published);
            self.replica_sets.look(machine.host, &consensus, &published);
            self.acknowledged.look(machine.host, &published, clients);
            self.counts.look(machine.host, &published);
        }
        exclusive::look(machines, clients);
        self.topics.look(now, machines, clients);
        reads::look(clients);
        self.watches.look(clients);
        alive::look(trace);
    }
}
