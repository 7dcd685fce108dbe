//! The rule of storage versions: what follows for a resource when the reports of its members change.
//!
//! [`decide`] is pure. It takes what some members now say of a resource and works out, in this order: the entries, the
//! selected version, the encodings that voters take, the common encoding, agreement, and what is added to `persisted`
//! and to the drains. A command collects the decisions of all resources that it touches, refuses if one refuses, and
//! only then carries them out.

mod conditions;
mod decision;
mod departures;
mod draft;
mod drains;
mod observation;
mod outside;
mod parts;
mod promises;
mod refusal;
mod returns;
mod roster;
mod selected;
mod trust;
mod versions;

use std::collections::BTreeSet;

use synod_model::limits::SAID_STOPPED_MAX;
use synod_model::{GroupResource, LogTime, MemberId, Persisted, Refusal, Revision, TopicKind};

use self::decision::fresh_state;
pub(crate) use self::decision::{
    Cause, Decided, DecidedVersion, LateWrites, Occasion, Reported, Said,
};
use self::draft::Draft;
pub(crate) use self::drains::{drained_by_replacement, raise_drains};
pub(crate) use self::observation::{dismiss, lapse, look};
use self::roster::absent;
use crate::StateStatus;
use crate::objects::guarantee;
use crate::state::State;

/// Decides what follows when members say this of the resource. `None`: nothing changes.
///
/// # Errors
///
/// `NOT_DECODABLE` if a reported entry cannot decode the selected version, or the stored ones where that is enforced;
/// `INVALID_ARGUMENT` if it names a date that is too far away.
pub(crate) fn decide(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
    said: &[(&MemberId, Said<'_>)],
) -> Result<Option<Decided>, Refusal> {
    let resource = &*state.first_name(resource);
    let mut draft = Draft::of(state, resource, occasion);
    draft.doubt_collection(state, resource);
    for (member, said) in said {
        draft.take(member, *said);
    }
    draft.note_outside(state, resource);
    draft.doubt_returns(state, resource, said);
    draft.forget_what_nobody_does(said.is_empty());
    draft.select(state, resource);
    draft.let_voters_take_selected();
    if let Some(overdue) = occasion.lapses {
        draft.lapse(overdue, state.write_grace_ends());
    }
    for (member, said) in said {
        if let Said::Reports { entry, .. } = said {
            guarantee::check_stance(state, resource, member, entry)?;
            draft.check_decodable(state, &entry.resource, member, entry)?;
            draft.check_date(resource, member, entry)?;
        }
    }
    Ok(draft.finish(state, resource))
}

/// The storage state of a never reported resource with a new, empty collection: nothing is stored.
pub(crate) fn declare(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
) -> StateStatus {
    let mut draft = Draft::of(state, resource, occasion);
    draft.after.persisted = BTreeSet::new();
    let decided = draft.finish(state, resource);
    let kept = decided.and_then(|decided| decided.state);
    kept.expect("what was not known is another state")
}

/// Decides what follows for a resource when the member that has an entry for it is replaced after a long absence. `None`:
/// nothing changes.
pub(crate) fn decide_return(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
    member: &MemberId,
) -> Option<Decided> {
    let row = state.memberships.get(member)?;
    let resource = &*state.first_name(resource);
    let mut draft = Draft::of(state, resource, occasion);
    if !row.was_long_away() || !draft.is_rewritten() || state.is_counted(resource) {
        return None;
    }
    draft.raise_unknown_drain(state, resource, state.write_grace_ends());
    if state.has_roster(resource) {
        draft.doubt_after_absence();
    }
    draft.finish(state, resource)
}

/// Decides what follows for a resource when the process of a member without a gate, which had gone without saying so, writes no
/// more: another one speaks for the member, or somebody says that it has stopped. `None`: nothing changes.
pub(crate) fn decide_stop(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
    member: &MemberId,
    somebody_says_so: bool,
) -> Option<Decided> {
    let mut draft = Draft::of(state, resource, occasion);
    let said = &draft.after.said_stopped;
    if somebody_says_so && said.len() >= SAID_STOPPED_MAX && !said.contains_key(member) {
        // What was said is remembered of so many only: of this one it stays an assumption that it has stopped.
        return None;
    }
    if !draft.forget_ungated_gone(member) {
        return None;
    }
    let until = state.write_grace_ends();
    draft.raise_unknown_drain(state, resource, until);
    if somebody_says_so {
        // An earlier process of the member may have been promised more.
        let kept = draft.after.said_stopped.entry(member.clone());
        let last = kept.or_insert(until);
        *last = until.max(*last);
    }
    draft.finish(state, resource)
}

/// Decides about a store whose names have changed: it is agreed on anew, and what is stored is on trust.
pub(crate) fn decide_anew(state: &State, occasion: Occasion<'_>, first: &GroupResource) -> Decided {
    let mut draft = Draft::of(state, first, occasion);
    draft.select(state, first);
    draft.let_voters_take_selected();
    let decided = draft.finish(state, first);
    decided.expect("another agreement is another state")
}

/// The status of a resource of which nothing is known.
pub(crate) fn unknown_status(state: &State, resource: &GroupResource) -> StateStatus {
    fresh_state(state, state.topic_kind(resource))
}

/// New knowledge of a resource's store.
#[derive(Debug)]
pub(crate) struct Anew {
    /// The encodings that it may hold, including all that the entries demand.
    pub(crate) persisted: BTreeSet<Persisted>,
    /// Whether the selection is removed.
    pub(crate) unselects: bool,
    /// Whether the observation is dropped.
    pub(crate) forgets_observation: bool,
    /// The migration that gave this knowledge by its success, if one did.
    pub(crate) migrated: Option<SuccessfulMigration>,
}

/// A migration that succeeds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuccessfulMigration {
    /// The revision that created it.
    pub(crate) created: Revision,
    /// The log time of the claim under which it succeeds, if that is known.
    pub(crate) claimed: Option<LogTime>,
}

/// Decides what follows for a resource when only what is known of its store changes. `None`: nothing changes.
pub(crate) fn reconsider(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
    anew: Anew,
) -> Option<Decided> {
    state.state_of(resource)?;
    let mut draft = Draft::of(state, resource, occasion);
    draft.after.persisted = anew.persisted;
    if anew.forgets_observation {
        draft.forget_observation(state.write_grace_ends());
    }
    if let Some(migrated) = anew.migrated {
        if state.has_roster(resource) {
            draft.settle_trust(migrated.created);
        }
        draft.settle_doubts(migrated, state.settings.write_grace);
    }
    if anew.unselects && draft.after.selected.take().is_some() {
        draft.after.selected_revision = occasion.revision;
    }
    draft.finish(state, resource)
}

/// Decides what follows for a resource when its roster or the members it asks for change. `None`: nothing, and then it also
/// stays noted who was heard under a roster that is gone. A roster that begins to ask by labels asks anew, which forgets them.
pub(crate) fn recount(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
) -> Option<Decided> {
    let kept = &state.state_of(resource)?.row.status;
    let is_trusted_anew =
        occasion.asks_anew || (kept.on_trust.is_none() && !state.has_roster(resource));
    let is_same = kept.absent == absent(state, occasion, resource);
    if !is_trusted_anew && is_same {
        return None;
    }
    let mut draft = Draft::of(state, resource, occasion);
    // Who is missing hinders that a version is served, and that a key or a level is selected.
    let looks_at_roster = draft.kind == TopicKind::Served || draft.kind.waits_for_named_members();
    if looks_at_roster && !is_same {
        draft.select(state, resource);
        draft.let_voters_take_selected();
    }
    draft.finish(state, resource)
}
