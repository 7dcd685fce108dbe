//! The rule of storage versions: what follows for a resource when its entries change.
//!
//! [`decide`] is pure. It takes what some members now say of a resource and works out, in this order: the entries, the
//! selected version, the encodings that voters take, the common encoding, agreement, and what is added to `persisted`
//! and to the drains. A command collects the decisions of all resources that it touches, refuses if one refuses, and
//! only then carries them out.

mod conditions;
mod decision;
mod draft;
mod drains;
mod observation;
mod refusal;
mod roster;
mod selected;
mod trust;

use std::collections::BTreeSet;

use synod_model::{GroupResource, MemberId, Persisted, Refusal, Revision};

pub(crate) use self::decision::{Cause, Decided, Occasion, Reported, Said};
use self::draft::Draft;
pub(crate) use self::drains::{drained_by_replacement, raise_drains};
pub(crate) use self::observation::{lapse, look};
use self::roster::absent;
use crate::StateStatus;
use crate::objects::guarantee;
use crate::state::State;

/// Works out what follows when the members say this of the resource. `None`: nothing changes.
///
/// # Errors
///
/// `NOT_DECODABLE` if a reported entry could not read what is selected, or what is stored where that is enforced.
pub(crate) fn decide(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
    said: &[(&MemberId, Said<'_>)],
) -> Result<Option<Decided>, Refusal> {
    let present = state.storage_versions.get(resource);
    let before = state
        .storage_states
        .get(resource)
        .map(|kept| &kept.row.status);
    let mut draft = Draft::of(present, before, occasion);
    for (member, said) in said {
        draft.take(member, *said);
    }
    draft.select();
    draft.let_voters_take_selected();
    if occasion.lapses {
        draft.lapse(state.write_grace_ends());
    }
    for (member, said) in said {
        if let Said::Reports { entry, .. } = said {
            guarantee::check_stance(state, resource, member, entry)?;
            draft.check_decodable(state, resource, member, entry)?;
        }
    }
    Ok(draft.finish(state, resource))
}

/// What is known of a resource that nobody ever reported, once an empty collection is declared for it: nothing is stored.
pub(crate) fn declare(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
) -> StateStatus {
    let mut draft = Draft::of(None, None, occasion);
    draft.after.persisted = BTreeSet::new();
    let decided = draft.finish(state, resource);
    let kept = decided.and_then(|decided| decided.state);
    kept.expect("what was not known is another state")
}

/// What becomes known of a resource's store.
#[derive(Debug)]
pub(crate) struct Anew {
    /// What it may hold, with all that the entries demand.
    pub(crate) persisted: BTreeSet<Persisted>,
    /// Whether nothing is selected any more.
    pub(crate) unselects: bool,
    /// Whether what discovery showed says nothing any more.
    pub(crate) forgets_observation: bool,
    /// When the migration was created that made it so, if one did.
    pub(crate) migrated_since: Option<Revision>,
}

/// Works out what follows for a resource when what is known of its store changes, and nothing else. `None`: nothing
/// changes.
pub(crate) fn reconsider(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
    anew: Anew,
) -> Option<Decided> {
    let present = state.storage_versions.get(resource);
    let before = &state.storage_states.get(resource)?.row.status;
    let mut draft = Draft::of(present, Some(before), occasion);
    draft.after.persisted = anew.persisted;
    if anew.forgets_observation {
        draft.forget_observation(state.write_grace_ends());
    }
    if let Some(created) = anew.migrated_since
        && state.roster_of(resource).is_some()
    {
        draft.settle_trust(created);
    }
    if anew.unselects && draft.after.selected.take().is_some() {
        draft.after.selected_revision = occasion.revision;
    }
    draft.finish(state, resource)
}

/// Works out what follows for a resource when its roster changes, or whom it asks for. `None`: nothing changes.
pub(crate) fn recount(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
) -> Option<Decided> {
    let kept = &state.storage_states.get(resource)?.row.status;
    let is_trusted_anew =
        occasion.asks_anew || (kept.on_trust.is_none() && state.roster_of(resource).is_none());
    if !is_trusted_anew && kept.absent == absent(state, occasion, resource) {
        return None;
    }
    let present = state.storage_versions.get(resource);
    Draft::of(present, Some(kept), occasion).finish(state, resource)
}
