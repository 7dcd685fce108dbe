//! `ObserveStorage`: what discovery shows of a resource. It is the agreement while no member reports the resource, and
//! is weighed against the reports otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use synod_model::limits::ENCODINGS_MAX;
use synod_model::{
    AbortCause, ErrorKind, GroupResource, MemberId, ObserveStorage, Refusal, Revision, Violation,
};

use crate::looks::{OverdueLooks, check_bounds};
use crate::state::over_quota;
use crate::turn::Turn;
use crate::voting::{Cause, Occasion, lapse, look};
use crate::{Answer, Expire, Holder, State, StateStatus};

pub(crate) fn apply(turn: &mut Turn<'_>, observe: &ObserveStorage) -> Result<Answer, Refusal> {
    let state = turn.state();
    let resource = &observe.resource;
    state.check_has_store(resource)?;
    check_name(state, observe)?;
    check_revision(state, observe)?;
    check_room(state, observe)?;
    let kept = state.state_of(resource);
    let looks = kept.map(|kept| kept.row.status.all_looks());
    let looks = looks.unwrap_or_default();
    check_bounds(&looks, observe)?;
    let observer = observe.observer.as_ref();
    if observer.is_some_and(|it| !looks.named.contains_key(it)) && observe.shows_nothing() {
        return Ok(Answer::Done);
    }
    let is_late = state.is_look_over(resource, observer, state.log_time);
    // Its servers may have written what nobody has seen, and beside the looks of others there may be a migration.
    let is_doubtful = looks.shows_anything() && (is_late || !looks.has_live(observer));
    let is_reported = state.is_reported(resource);
    let drain_until = state.write_grace_ends();
    let decided = look(state, occasion(turn), observe, is_late, drain_until);
    let after = decided.as_ref().and_then(|decided| decided.state.as_ref());
    check_encodings(state, resource, after)?;
    if is_doubtful && !is_reported {
        // What the workers have rewritten so far may have been overwritten since.
        turn.abort_unfinished(resource, AbortCause::StorageUnknown);
    }
    if let Some(decided) = decided {
        turn.carry_out(decided);
    }
    set_deadline(turn, observe);
    turn.set_heartbeat(resource);
    Ok(Answer::Done)
}

/// Sets the deadline of a look. A named observer moves it only if it has reached every server that its look keeps.
fn set_deadline(turn: &mut Turn<'_>, observe: &ObserveStorage) {
    let resource = &observe.resource;
    let holder = match &observe.observer {
        None => Holder::Observation(resource.clone()),
        Some(observer) => {
            let status = turn.state().status(resource);
            let look = status.looks.get(observer);
            if !look.is_some_and(|look| look.is_reached_by(observe)) {
                return;
            }
            Holder::Look(resource.clone(), observer.clone())
        }
    };
    // The first moment after two periods: an observation at the end of the second is in time.
    let span = turn.state().settings.discovery_period * 2 + Duration::from_millis(1);
    turn.set_deadline(holder, span);
}

/// Refuses a look at one of several names that does not tell what each server shows under all of them: it would end what was shown
/// under the others.
fn check_name(state: &State, observe: &ObserveStorage) -> Result<(), Refusal> {
    let names = state.names(&observe.resource);
    let (first, others) = names.split_first().expect("a store has a name");
    let field = if others.is_empty() || (observe.observer.is_some() && *first == observe.resource) {
        return Ok(());
    } else if observe.observer.is_none() {
        "observer"
    } else {
        "resource"
    };
    let listed: Vec<&str> = names.iter().map(GroupResource::qualified).collect();
    let message = format!(
        "resource \"{}\" is one store under several names: {}: look at the first as a named observer, and say of each server what \
         it shows under all of them",
        observe.resource,
        listed.join(", ")
    );
    let mut refusal =
        Refusal::new(ErrorKind::InvalidArgument, message).with("names", listed.join(","));
    let violation = Violation::required(
        "names the observer of a store with several names, and the first of these",
    );
    refusal.violations.push(violation.at(field));
    Err(refusal)
}

/// Refuses an observation made before the present state, because it must not remove what was learned since.
fn check_revision(state: &State, observe: &ObserveStorage) -> Result<(), Refusal> {
    let resource = &observe.resource;
    let kept = state.state_of(resource);
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
    let Some(kept) = state.state_of(resource) else {
        return state.check_quota();
    };
    let shown = kept.row.status.shown_hashes();
    let shows_more = !observe.shown_hashes().is_subset(&shown);
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
    let kept = state.state_of(resource);
    let before = kept.map(|kept| &kept.row.status);
    let Some(after) = after else {
        return Ok(());
    };
    let now = state.log_time;
    let draining = |status: &StateStatus| {
        let drains = status.hash_drains.values();
        drains.filter(|until| **until > now).count()
    };
    let shown = |status: &StateStatus| status.shown_hashes().len();
    let count = |status: &StateStatus| {
        let stored = status.persisted.len();
        stored.max(draining(status)).max(shown(status))
    };
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

/// The looks that the command names and that are past their deadlines.
pub(super) fn overdue(state: &State, expire: &Expire) -> BTreeMap<GroupResource, OverdueLooks> {
    let is_due = |holder: &Holder| state.deadlines.is_due(holder, state.log_time);
    let mut overdue: BTreeMap<GroupResource, OverdueLooks> = BTreeMap::new();
    for resource in &expire.observations {
        if is_due(&Holder::Observation(resource.clone())) {
            overdue.entry(resource.clone()).or_default().unnamed = true;
        }
    }
    for (resource, observer) in &expire.looks {
        if is_due(&Holder::Look(resource.clone(), observer.clone())) {
            let looks = overdue.entry(resource.clone()).or_default();
            looks.named.insert(observer.clone());
        }
    }
    overdue
}

/// Ends the looks at these resources, which are past their deadlines. Those of resources whose entries this
/// command removed before were decided with the entries.
///
/// The members that are `gone` are not removed yet, but no roster asks for them any more.
pub(super) fn expire(
    turn: &mut Turn<'_>,
    lapsing: &BTreeMap<GroupResource, OverdueLooks>,
    gone: &BTreeSet<MemberId>,
) {
    for (resource, overdue) in lapsing {
        let state = turn.state();
        let is_reported = state.is_reported(resource);
        let occasion = Occasion {
            gone: Some(gone),
            ..occasion(turn)
        };
        let decided = lapse(state, occasion, resource, overdue);
        if overdue.unnamed {
            turn.clear_deadline(&Holder::Observation(resource.clone()));
        }
        for observer in &overdue.named {
            turn.clear_deadline(&Holder::Look(resource.clone(), observer.clone()));
        }
        if !is_reported {
            turn.abort_unfinished(resource, AbortCause::StorageUnknown);
        }
        if let Some(decided) = decided {
            turn.carry_out(decided);
        }
    }
}

pub(super) fn occasion(turn: &Turn<'_>) -> Occasion<'static> {
    Occasion {
        cause: Some(Cause::Observed),
        ..turn.occasion()
    }
}
