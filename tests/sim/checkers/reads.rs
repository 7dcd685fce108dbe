//! A linearizable read sees everything that was acknowledged before it began.

use crate::clients::Clients;

pub(crate) fn look(clients: &Clients) {
    let broken = match clients {
        Clients::Proposing(ledger) => ledger.broken_reads(),
        Clients::Serving(servers) => servers.notes().stale(),
    };
    assert!(broken.is_empty(), "{broken:?}");
}
