//! `ObserveStorage`: what discovery shows of a resource that nobody reports stands for the agreement.

use synod_model::{AbortCause, ErrorKind, ObserveStorage, Persisted, Refusal, Revision};

use crate::turn::Turn;
use crate::voting::fresh_state;
use crate::{Answer, StateStatus};

pub(crate) fn apply(turn: &mut Turn<'_>, observe: &ObserveStorage) -> Result<Answer, Refusal> {
    let state = turn.state();
    let resource = &observe.resource;
    if state.storage_versions.contains_key(resource) {
        return Err(Refusal::new(
            ErrorKind::Conflict,
            format!(
                "resource \"{resource}\": members report it, so what discovery shows does not count"
            ),
        )
        .with("resource", resource.storage_version_name()));
    }
    let kept = state.storage_states.get(resource);
    if kept.is_none() && state.is_full() {
        let message = "the state is full: delete what is not needed or raise state_quota_bytes";
        return Err(Refusal::new(ErrorKind::Quota, message));
    }
    let before = kept.map(|kept| kept.row.status.clone());
    let heartbeat = state.heartbeat(resource);
    let is_stale = heartbeat.is_some_and(|heartbeat| state.is_stale(heartbeat));
    let after = observed(before.as_ref(), is_stale, observe, turn.revision());
    if is_stale {
        // What they have rewritten so far may have been written over meanwhile.
        turn.abort_unfinished(resource, AbortCause::StorageUnknown);
    }
    if before.as_ref() != Some(&after) {
        turn.put_storage_state(resource, after, None);
    }
    if is_stale {
        turn.migrate(resource);
    }
    turn.set_heartbeat(resource);
    Ok(Answer::Done)
}

fn observed(
    before: Option<&StateStatus>,
    is_stale: bool,
    observe: &ObserveStorage,
    revision: Revision,
) -> StateStatus {
    let mut after = before.cloned().unwrap_or_else(fresh_state);
    if after.observed.is_empty() || is_stale {
        // What was written while nobody looked is not known, whatever is shown now.
        after.persisted.insert(Persisted::Unknown);
    } else {
        for hash in observe.hashes.difference(&after.observed) {
            Persisted::observed(*hash).join(&mut after.persisted);
        }
    }
    if after.observed != observe.hashes {
        after.observed = observe.hashes.clone();
        after.agreement_revision = revision;
    }
    after
}
