//! The rule of storage versions: what follows for a resource when its entries change.
//!
//! [`decide`] is pure. It takes what some members now say of a resource and works out, in this order: the entries, the
//! selected version, the encodings that voters take, the common encoding, agreement, and what is added to `persisted`
//! and to the drains. A command collects the decisions of all resources that it touches, refuses if one refuses, and
//! only then carries them out.

mod conditions;
mod draft;
mod drains;
mod observation;
mod refusal;
mod roster;
mod selected;
mod trust;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use imbl::OrdMap;
use synod_model::{
    Absent, AgreementCause, AgreementChange, ApiVersion, GroupResource, LogTime, MemberId,
    Persisted, Refusal, ReportEntry, Revision, WallTime,
};

use self::draft::Draft;
pub(crate) use self::drains::{drained_by_replacement, raise_drains};
pub(crate) use self::observation::{lapse, look};
use self::roster::absent;
use crate::objects::guarantee;
use crate::state::State;
use crate::tally::Tally;
use crate::{EntryChange, EntryRow, StateStatus, VersionStatus};

/// What a member now says of a resource.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Said<'a> {
    /// It reports this.
    Reports {
        entry: &'a ReportEntry,
        /// Whether the entry before was of the same epoch: only then is its encoding kept.
        same_epoch: bool,
    },
    /// Its permits for the older version are drained: it encodes what is selected.
    Adopts,
    /// It reports the resource no more, or is gone. What it may still write drains until the given log time.
    Drops { drain_until: Option<LogTime> },
}

/// The facts of the command in which a decision is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occasion<'a> {
    pub(crate) revision: Revision,
    pub(crate) wall: WallTime,
    /// What an agreement that changes is put down to; `None` if several members go at once, or nobody in particular.
    pub(crate) cause: Option<Cause<'a>>,
    /// The members that go in this command, but are there still: a roster does not ask for them any more.
    pub(crate) gone: Option<&'a BTreeSet<MemberId>>,
    /// Whether what discovery shows of the resource comes to its deadline in this command.
    pub(crate) lapses: bool,
    /// Whether the roster of the resource asks, since this command, for somebody it did not ask for before.
    pub(crate) asks_anew: bool,
}

/// What an agreement that changes is put down to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause<'a> {
    /// The member whose command it is, or that is removed.
    Member(&'a MemberId),
    /// A look at discovery, or that there was none for too long.
    Observed,
    /// Another roster.
    Roster,
}

impl Cause<'_> {
    fn kept(self) -> AgreementCause {
        match self {
            Self::Member(id) => AgreementCause::Member(id.clone()),
            Self::Observed => AgreementCause::Observed,
            Self::Roster => AgreementCause::Roster,
        }
    }
}

/// What follows for one resource.
#[derive(Clone, Debug)]
pub(crate) struct Decided {
    pub(crate) resource: GroupResource,
    /// The entries that changed, by member.
    pub(crate) entries: Vec<EntryChange>,
    /// The resource after the change; `None` if its last entry went.
    pub(crate) after: Option<Reported>,
    /// What stays of the resource, if that changed.
    pub(crate) state: Option<StateStatus>,
    /// The line for the history of agreements, if agreement changed.
    pub(crate) agreement: Option<AgreementChange>,
}

/// A reported resource before it has its place in the state.
#[derive(Clone, Debug)]
pub(crate) struct Reported {
    pub(crate) entries: OrdMap<MemberId, Arc<EntryRow>>,
    pub(crate) tally: Tally,
    pub(crate) status: VersionStatus,
}

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

fn fresh_state() -> StateStatus {
    StateStatus {
        common: None,
        selected: None,
        selected_revision: Revision::ZERO,
        agreement_revision: Revision::ZERO,
        agreed: None,
        // Whatever was stored before anybody reported is unknown.
        persisted: BTreeSet::from([Persisted::Unknown]),
        observation: None,
        contradicted: false,
        agreed_hash: None,
        absent: Absent::default(),
        on_trust: None,
        heard: BTreeSet::new(),
        drains: BTreeMap::new(),
        hash_drains: BTreeMap::new(),
    }
}

/// The members of `persisted` whose version is known by name.
fn known(persisted: &BTreeSet<Persisted>) -> impl Iterator<Item = &ApiVersion> {
    persisted.iter().filter_map(Persisted::version)
}
