//! `ObserveStorage`: what discovery shows of a resource stands for the agreement while nobody reports it, and beside the
//! reports while members do.

use std::time::Duration;

use synod_model::{AbortCause, GroupResource, ObserveStorage, Refusal};

use crate::turn::Turn;
use crate::voting::{Cause, Occasion, lapse, look};
use crate::{Answer, Holder};

pub(crate) fn apply(turn: &mut Turn<'_>, observe: &ObserveStorage) -> Result<Answer, Refusal> {
    let state = turn.state();
    let resource = &observe.resource;
    if !state.storage_states.contains_key(resource) {
        state.check_quota()?;
    }
    let is_late = state.is_observation_over(resource);
    let is_reported = state.storage_versions.contains_key(resource);
    let drain_until = turn.log_time().after(state.settings.write_grace);
    let decided = look(state, occasion(turn), observe, is_late, drain_until);
    if is_late && !is_reported {
        // What they have rewritten so far may have been written over meanwhile.
        turn.abort_unfinished(resource, AbortCause::StorageUnknown);
    }
    if let Some(decided) = decided {
        turn.carry_out(decided);
    }
    // The first moment past two periods: who looks at the end of the second is in time.
    let span = turn.state().settings.discovery_period * 2 + Duration::from_millis(1);
    turn.set_deadline(Holder::Observation(resource.clone()), span);
    turn.set_heartbeat(resource);
    Ok(Answer::Done)
}

/// Ends an observation that is past its deadline, if it is.
pub(super) fn expire(turn: &mut Turn<'_>, resource: &GroupResource) -> bool {
    let holder = Holder::Observation(resource.clone());
    let state = turn.state();
    if !state.deadlines.is_due(&holder, turn.log_time()) {
        return false;
    }
    let is_reported = state.storage_versions.contains_key(resource);
    let decided = lapse(state, occasion(turn), resource);
    turn.clear_deadline(&holder);
    if !is_reported {
        turn.abort_unfinished(resource, AbortCause::StorageUnknown);
    }
    if let Some(decided) = decided {
        turn.carry_out(decided);
    }
    true
}

fn occasion(turn: &Turn<'_>) -> Occasion<'static> {
    Occasion {
        cause: Some(Cause::Observed),
        ..turn.occasion()
    }
}
