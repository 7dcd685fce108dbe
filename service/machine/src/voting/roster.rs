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
    absent_of(state, occasion, resource, entries)
}

/// The members missing for a resource with these entries.
pub(super) fn absent_of(
    state: &State,
    occasion: Occasion<'_>,
    resource: &GroupResource,
    entries: &OrdMap<MemberId, Arc<EntryRow>>,
) -> Absent {
    let Some(roster) = state.roster_of(resource) else {
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
    /// The roster in force for a resource: the narrowest that covers it.
    #[must_use]
    pub fn roster_of(&self, resource: &GroupResource) -> Option<&Arc<Roster>> {
        if self.rosters.is_empty() {
            return None;
        }
        let mut scopes = ResourceScope::covering(resource).into_iter();
        scopes.find_map(|scope| self.rosters.get(&scope))
    }
}
