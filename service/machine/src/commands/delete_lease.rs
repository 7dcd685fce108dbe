//! `DeleteLease`: takes a lease away from whoever holds it. Its successor, if there is one, has a lease of its own.

use synod_model::{Current, DeleteLease, Refusal};

use super::succession::{Present, settle};
use crate::Answer;
use crate::turn::Turn;

/// The resource name of leases, in Kubernetes' wording.
const LEASES: &str = "leases.coordination.k8s.io";

pub(crate) fn apply(turn: &mut Turn<'_>, delete: &DeleteLease) -> Result<Answer, Refusal> {
    let DeleteLease { key, preconditions } = delete;
    let Some(lease) = turn.state().leases.rows.get(key) else {
        let refusal = Refusal::not_found(LEASES, key.name());
        return Err(refusal.with("lease", key.as_str()));
    };
    if let Some(fault) = preconditions.fault_of_delete(&lease.metadata) {
        let refusal = Refusal::conflict(LEASES, key.name(), fault);
        return Err(refusal
            .with("lease", key.as_str())
            .with("resource_version", lease.metadata.resource_version)
            .with_current(Current::Lease((**lease).clone())));
    }
    settle(turn, key, Present::GoesWithItsLease);
    Ok(Answer::Done)
}
