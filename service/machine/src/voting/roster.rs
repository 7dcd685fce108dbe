//! Computes the members that are missing for a resource by its roster.

use std::collections::BTreeSet;
use std::sync::Arc;

use synod_model::{Absent, GroupResource, MemberId, ResourceScope, Roster};

use super::decision::Occasion;
use crate::State;

/// The members missing for a resource with its present entries.
pub(crate) fn absent(state: &State, occasion: Occasion<'_>, resource: &GroupResource) -> Absent {
    let entries = state.entries_of(resource);
    let speaking: BTreeSet<&MemberId> = entries.map(|(member, _)| member).collect();
    let rosters = state.rosters_of(resource);
    absent_of(state, occasion, &rosters, speaking.len(), |id| {
        speaking.contains(id)
    })
}

/// The members missing for a resource by the rosters in force for it. `speaks` tells whether a member has an entry, and `speaking`
/// members do.
pub(super) fn absent_of(
    state: &State,
    occasion: Occasion<'_>,
    rosters: &[&Arc<Roster>],
    speaking: usize,
    speaks: impl Fn(&MemberId) -> bool,
) -> Absent {
    let stays = |id: &MemberId| occasion.gone.is_none_or(|gone| !gone.contains(id));
    let mut absent = Absent::default();
    for roster in rosters {
        let members = state.members.values().map(|member| &**member);
        let members = members.filter(|member| stays(&member.id));
        absent.join(roster.rule.absent(speaking, &speaks, members));
    }
    absent
}

impl State {
    /// The rosters in force for a resource's store: for each of its names the narrowest that covers it, unless that leaves it out.
    #[must_use]
    pub(crate) fn rosters_of(&self, resource: &GroupResource) -> Vec<&Arc<Roster>> {
        if self.rosters.is_empty() {
            return Vec::new();
        }
        let kept = self.state_of(resource);
        let is_reported = kept.is_some_and(|kept| kept.row.status.ever_reported);
        self.rosters_over(resource, is_reported)
    }

    /// Whether any roster is in force for a resource's store.
    pub(crate) fn has_roster(&self, resource: &GroupResource) -> bool {
        !self.rosters_of(resource).is_empty()
    }

    /// The rosters in force for a resource of which this is said: whether a member ever reported it.
    pub(crate) fn rosters_over(
        &self,
        resource: &GroupResource,
        ever_reported: bool,
    ) -> Vec<&Arc<Roster>> {
        if self.rosters.is_empty() {
            return Vec::new();
        }
        let mut rosters: Vec<&Arc<Roster>> = Vec::new();
        for name in self.names(resource) {
            if let Some(roster) = self.roster_over(&name, ever_reported)
                && rosters.iter().all(|other| other.scope != roster.scope)
            {
                rosters.push(roster);
            }
        }
        rosters
    }

    /// The narrowest roster that covers a name of a resource of which this is said, unless that leaves it out.
    pub(crate) fn roster_over(
        &self,
        name: &GroupResource,
        ever_reported: bool,
    ) -> Option<&Arc<Roster>> {
        let mut scopes = ResourceScope::covering(name).into_iter();
        let narrowest = scopes.find_map(|scope| self.rosters.get(&scope));
        let is_only_observed = !ever_reported && self.topic_kind(name).is_seen_in_stores();
        narrowest.filter(|roster| !(is_only_observed && roster.rule.exempts_observed))
    }
}
