//! Whoever uses the replicas.

use std::collections::BTreeMap;

use rand::rngs::StdRng;

use crate::api_servers::ApiServers;
use crate::machine::Machine;
use crate::net::{Host, Net};
use crate::proposals::Ledger;
use crate::trace::Trace;

/// Whoever uses the replicas, as fits what runs on the machines.
pub(crate) enum Clients {
    /// They propose to consensus itself.
    Proposing(Ledger),
    /// They are API servers, and use the client library.
    Serving(ApiServers),
}

impl Clients {
    pub(crate) fn proposing() -> Self {
        Self::Proposing(Ledger::default())
    }

    pub(crate) fn serving(net: &Net, trace: &Trace, rng: &mut StdRng) -> Self {
        Self::Serving(ApiServers::start(net, trace, rng))
    }

    /// Lets those begin something who do not by themselves.
    pub(crate) fn begin(
        &self,
        machines: &BTreeMap<Host, Machine>,
        rng: &mut StdRng,
        trace: &Trace,
    ) {
        match self {
            Self::Proposing(ledger) => ledger.begin(machines, rng, trace),
            Self::Serving(_) => {}
        }
    }

    /// Lets those run who have machines of their own.
    pub(crate) fn advance(&mut self, millis: u64) {
        match self {
            Self::Proposing(_) => {}
            Self::Serving(servers) => servers.advance(millis),
        }
    }

    /// How many changes were acknowledged.
    pub(crate) fn acknowledged(&self) -> usize {
        match self {
            Self::Proposing(ledger) => ledger.acknowledged().len(),
            Self::Serving(servers) => servers.notes().acknowledged(),
        }
    }

    /// How many reads were answered.
    pub(crate) fn reads(&self) -> usize {
        match self {
            Self::Proposing(ledger) => ledger.reads(),
            Self::Serving(servers) => servers.notes().reads(),
        }
    }
}
