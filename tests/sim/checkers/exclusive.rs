//! No one acts under a lease that has been granted to another holder, or writes under a membership that has ended.

use std::collections::BTreeMap;

use synod_model::{Epoch, Revision};

use crate::clients::Clients;
use crate::machine::Machine;
use crate::net::Host;

pub(crate) fn look(machines: &BTreeMap<Host, Machine>, clients: &Clients) {
    let Clients::Serving(servers) = clients else {
        return;
    };
    for (member, epoch) in servers.notes().take_writers() {
        for machine in machines.values() {
            let Some(consensus) = machine.consensus() else {
                continue;
            };
            let state = &consensus.published().state;
            let known = state.present().member(&member).map(|member| member.epoch);
            check_member(epoch, known, state.revision())
                .unwrap_or_else(|fault| panic!("{member}, as {} has it: {fault}", machine.host));
        }
    }
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

/// Whether a member may write under `epoch`, which a replica at `revision` knows by `known`. A lagging replica may not know
/// the epoch yet, but none may know that it has ended.
pub(super) fn check_member(
    epoch: Epoch,
    known: Option<Epoch>,
    revision: Revision,
) -> Result<(), String> {
    if known == Some(epoch) || revision < epoch.revision() {
        return Ok(());
    }
    Err(format!(
        "its gate is open under epoch {epoch}, and at revision {revision} it has {known:?}"
    ))
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

    #[test]
    fn who_writes_after_its_epoch_has_ended_is_found() {
        let epoch = |at| Epoch::new(Revision::new(at));
        for (known, revision) in [(Some(epoch(7)), 9), (Some(epoch(5)), 6), (None, 6)] {
            check_member(epoch(7), known, Revision::new(revision)).unwrap();
        }
        for known in [None, Some(epoch(8))] {
            check_member(epoch(7), known, Revision::new(8)).unwrap_err();
        }
    }
}
