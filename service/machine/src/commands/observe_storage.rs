//! `ObserveStorage`: what discovery shows of a resource. It is the agreement while no member reports the resource, and
//! is weighed against the reports otherwise.

use std::collections::BTreeSet;
use std::time::Duration;

use synod_model::limits::ENCODINGS_MAX;
use synod_model::{
    AbortCause, ErrorKind, GroupResource, MemberId, ObserveStorage, Refusal, Revision,
};

use crate::state::over_quota;
use crate::turn::Turn;
use crate::voting::{Cause, Occasion, lapse, look};
use crate::{Answer, Holder, State, StateStatus};

pub(crate) fn apply(turn: &mut Turn<'_>, observe: &ObserveStorage) -> Result<Answer, Refusal> {
    let state = turn.state();
    let resource = &observe.resource;
    state.check_has_store(resource)?;
    check_revision(state, observe)?;
    check_room(state, observe)?;
    let is_late = state.is_observation_over(resource);
    let is_reported = state.storage_versions.contains_key(resource);
    let drain_until = state.write_grace_ends();
    let decided = look(state, occasion(turn), observe, is_late, drain_until);
    let after = decided.as_ref().and_then(|decided| decided.state.as_ref());
    check_encodings(state, resource, after)?;
    if is_late && !is_reported {
        // What the workers have rewritten so far may have been overwritten since.
        turn.abort_unfinished(resource, AbortCause::StorageUnknown);
    }
    if let Some(decided) = decided {
        turn.carry_out(decided);
    }
    // The first moment after two periods: an observation at the end of the second is in time.
    let span = turn.state().settings.discovery_period * 2 + Duration::from_millis(1);
    turn.set_deadline(Holder::Observation(resource.clone()), span);
    turn.set_heartbeat(resource);
    Ok(Answer::Done)
}

/// Refuses an observation made before the present state, because it must not remove what was learned since.
fn check_revision(state: &State, observe: &ObserveStorage) -> Result<(), Refusal> {
    let resource = &observe.resource;
    let kept = state.storage_states.get(resource);
    let present = kept.map_or(Revision::ZERO, |kept| kept.row.metadata.resource_version);
    let Some(expected) = observe.if_revision.filter(|expected| *expected != present) else {
        return Ok(());
    };
    let message = format!(
        "resource \"{resource}\": what is known of it was last changed at revision {present}, not {expected}: look at its \
         discovery again"
    );
    let refusal = Refusal::new(ErrorKind::Conflict, message)
        .with("resource", resource.storage_version_name())
        .with("resource_version", present);
    Err(refusal)
}

/// A new resource needs room like anything new. Evidence against a known one may use the reserve: without it, something
/// might look safe.
fn check_room(state: &State, observe: &ObserveStorage) -> Result<(), Refusal> {
    let resource = &observe.resource;
    let Some(kept) = state.storage_states.get(resource) else {
        return state.check_quota();
    };
    let shown = kept.row.status.observation.as_ref();
    let shows_more = !shown.is_some_and(|shown| observe.hashes.is_subset(&shown.hashes));
    if shows_more && state.is_over_quota() {
        let what = format!("resource \"{resource}\" shows an encoding that it did not show before");
        return Err(over_quota(state, &what));
    }
    Ok(())
}

/// Bounds the encodings, so that a server that shows another one each time cannot fill the state.
fn check_encodings(
    state: &State,
    resource: &GroupResource,
    after: Option<&StateStatus>,
) -> Result<(), Refusal> {
    let kept = state.storage_states.get(resource);
    let before = kept.map(|kept| &kept.row.status);
    let Some(after) = after else {
        return Ok(());
    };
    let now = state.log_time;
    let draining = |status: &StateStatus| {
        let drains = status.hash_drains.values();
        drains.filter(|until| **until > now).count()
    };
    let count = |status: &StateStatus| status.persisted.len().max(draining(status));
    if count(after) <= ENCODINGS_MAX || before.is_some_and(|before| count(after) <= count(before)) {
        return Ok(());
    }
    let message = format!(
        "resource \"{resource}\": more than {ENCODINGS_MAX} encodings may be stored of it, or still land: migrate it, or \
         find out which server shows another one each time"
    );
    let refusal = Refusal::new(ErrorKind::Quota, message);
    Err(refusal.with("resource", resource.storage_version_name()))
}

/// Ends the observations of these resources, which are past their deadlines. Those of resources whose entries this
/// command removed before were decided with the entries.
///
/// The members that are `gone` are not removed yet, but no roster asks for them any more.
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
