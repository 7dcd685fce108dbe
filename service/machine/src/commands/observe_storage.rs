//! `ObserveStorage`: what discovery shows of a resource stands for the agreement while nobody reports it, and beside the
//! reports while members do.

use std::collections::BTreeSet;
use std::time::Duration;

use synod_model::{AbortCause, GroupResource, MemberId, ObserveStorage, Refusal};

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
    let drain_until = state.write_grace_ends();
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

/// Ends the observations of these resources, which are past their deadline. Those of resources whose entries went before
/// it in the same command have been decided with them.
///
/// The members that are `gone` are there still, and no roster asks for them any more.
pub(super) fn expire(
    turn: &mut Turn<'_>,
    lapsing: &BTreeSet<GroupResource>,
    gone: &BTreeSet<MemberId>,
) {
    for resource in lapsing {
        let state = turn.state();
        let is_reported = state.storage_versions.contains_key(resource);
        let occasion = Occasion {
            gone: Some(gone),
            ..occasion(turn)
        };
        let decided = lapse(state, occasion, resource);
        turn.clear_deadline(&Holder::Observation(resource.clone()));
        if !is_reported {
            turn.abort_unfinished(resource, AbortCause::StorageUnknown);
        }
        if let Some(decided) = decided {
            turn.carry_out(decided);
        }
    }
}

fn occasion(turn: &Turn<'_>) -> Occasion<'static> {
    Occasion {
        cause: Some(Cause::Observed),
        ..turn.occasion()
    }
}
