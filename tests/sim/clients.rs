//! The clients of the replicas.

use std::collections::BTreeMap;

use rand::rngs::StdRng;

use crate::api_servers::ApiServers;
use crate::machine::Machine;
use crate::net::{Host, Net};
use crate::proposals::Ledger;
use crate::trace::Trace;

/// The clients of the replicas, according to what runs on the machines.
pub(crate) enum Clients {
    /// Clients that propose directly to consensus.
    Proposing(Ledger),
    /// API servers, which use the client library.
    Serving(ApiServers),
}

impl Clients {
    pub(crate) fn proposing() -> Self {
        Self::Proposing(Ledger::default())
    }

    pub(crate) fn serving(net: &Net, trace: &Trace, rng: &mut StdRng) -> Self {
        Self::Serving(ApiServers::start(net, trace, rng))
    }

    /// Starts a new call of clients that do not run by themselves.
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

    /// Runs the clients that have machines of their own.
    pub(crate) fn advance(&mut self, millis: u64) {
        match self {
            Self::Proposing(_) => {}
            Self::Serving(servers) => servers.advance(millis),
        }
    }

    /// The number of acknowledged changes.
    pub(crate) fn acknowledged(&self) -> usize {
        match self {
            Self::Proposing(ledger) => ledger.acknowledged().len(),
            Self::Serving(servers) => servers.notes().acknowledged(),
        }
    }

    /// The number of answered reads.
    pub(crate) fn reads(&self) -> usize {
        match self {
            Self::Proposing(ledger) => ledger.reads(),
            Self::Serving(servers) => servers.notes().reads(),
        }
    }
}
