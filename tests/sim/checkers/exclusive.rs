//! No one acts under a lease that has been granted to another holder.

use std::collections::BTreeMap;

use synod_model::Revision;

use crate::clients::Clients;
use crate::machine::Machine;
use crate::net::Host;

pub(crate) fn look(machines: &BTreeMap<Host, Machine>, clients: &Clients) {
    let Clients::Serving(servers) = clients else {
        return;
    };
    let Some(users) = servers.users() else { return };
    // Empty in most steps.
    for (key, token) in users.take_acts() {
        for machine in machines.values() {
            let Some(consensus) = machine.consensus() else {
                continue;
            };
            let lease = consensus.published().state.present().lease(&key);
            let hold = lease.as_ref().and_then(|lease| lease.hold.as_ref());
            let given = hold.map(|hold| hold.token.revision());
            check(token, given)
                .unwrap_or_else(|fault| panic!("{key}, as {} has it: {fault}", machine.host));
        }
    }
}

/// Whether the holder of `token` may act. A lagging replica may not know it yet, but none may know a later one.
fn check(token: Revision, given: Option<Revision>) -> Result<(), String> {
    match given.filter(|given| *given > token) {
        Some(given) => Err(format!(
            "somebody acts by {token}, and it was given on by {given}"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_acts_after_the_lease_was_given_on_is_found() {
        let token = Revision::new;
        for may in [None, Some(token(6)), Some(token(7))] {
            check(token(7), may).unwrap();
        }
        let fault = check(token(7), Some(token(8))).unwrap_err();
        assert_eq!(fault, "somebody acts by 7, and it was given on by 8");
    }
}
