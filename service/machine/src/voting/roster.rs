//! Computes the members that are missing for a resource by its roster.

use std::sync::Arc;

use imbl::OrdMap;
use synod_model::{Absent, GroupResource, MemberId, ResourceScope, Roster};

use super::decision::Occasion;
use crate::{EntryRow, State};

/// The members missing for a resource with its present entries.
pub(crate) fn absent(state: &State, occasion: Occasion<'_>, resource: &GroupResource) -> Absent {
    let none = OrdMap::new();
    let present = state.storage_versions.get(resource);
    let entries = present.map_or(&none, |version| &version.entries);
    absent_of(state, occasion, state.roster_of(resource), entries)
}

/// The members missing for a resource with these entries, by the roster in force for it.
pub(super) fn absent_of(
    state: &State,
    occasion: Occasion<'_>,
    roster: Option<&Arc<Roster>>,
    entries: &OrdMap<MemberId, Arc<EntryRow>>,
) -> Absent {
    let Some(roster) = roster else {
        return Absent::default();
    };
    let stays = |id: &MemberId| occasion.gone.is_none_or(|gone| !gone.contains(id));
    let members = state.members.values().map(|member| &**member);
    roster.rule.absent(
        entries.len(),
        |id| entries.contains_key(id),
        members.filter(|member| stays(&member.id)),
    )
}

impl State {
    /// The roster in force for a resource: the narrowest that covers it, unless that leaves it out.
    #[must_use]
    pub fn roster_of(&self, resource: &GroupResource) -> Option<&Arc<Roster>> {
        let kept = self.storage_states.get(resource);
        let is_reported = kept.is_some_and(|kept| kept.row.status.ever_reported);
        self.roster_over(resource, is_reported)
    }

    /// The roster in force for a resource of which this is said: whether a member ever reported it.
    pub(crate) fn roster_over(
        &self,
        resource: &GroupResource,
        ever_reported: bool,
    ) -> Option<&Arc<Roster>> {
        if self.rosters.is_empty() {
            return None;
        }
        let mut scopes = ResourceScope::covering(resource).into_iter();
        let narrowest = scopes.find_map(|scope| self.rosters.get(&scope));
        let is_only_observed = !ever_reported && self.topic_kind(resource).is_seen_in_stores();
        narrowest.filter(|roster| !(is_only_observed && roster.rule.exempts_observed))
    }
}
