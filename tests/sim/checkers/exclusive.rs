//! Nobody acts under a lease that has been given to another.

use std::collections::BTreeMap;

use crate::clients::Clients;
use crate::machine::Machine;
use crate::net::Host;

pub(crate) fn look(machines: &BTreeMap<Host, Machine>, clients: &Clients) {
    let Clients::Serving(servers) = clients else {
        return;
    };
    let Some(users) = servers.users() else { return };
    // In most steps nobody acts.
    for (key, token) in users.take_acts() {
        for machine in machines.values() {
            let Some(consensus) = machine.consensus() else {
                continue;
            };
            let lease = consensus.published().state.present().lease(&key);
            let hold = lease.as_ref().and_then(|lease| lease.hold.as_ref());
            let given = hold.map(|hold| hold.token.revision());
            assert!(
                given.is_none_or(|given| given <= token),
                "somebody acts under {key} by {token}, which {} has given on by {given:?}",
                machine.host
            );
        }
    }
}
