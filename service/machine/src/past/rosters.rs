//! Rosters, and what they need to know of observations, at a revision.

use std::sync::Arc;

use synod_model::{GroupResource, ResourceScope, Roster};

use super::{Past, beyond};

impl Past<'_> {
    /// A roster, by its scope.
    #[must_use]
    pub fn roster(&self, scope: &ResourceScope) -> Option<Arc<Roster>> {
        self.one::<Roster>(scope, self.state.rosters.get(scope))
    }

    /// The rosters after `after`: the one for every resource, then those of groups, then those of one resource.
    pub fn rosters(&self, after: Option<&ResourceScope>) -> impl Iterator<Item = Arc<Roster>> {
        let kept = self.state.rosters.range::<_, ResourceScope>(beyond(after));
        self.all::<Roster>(kept, after)
    }

    /// The rosters in force for a resource's store: for each of its names the narrowest that covers it, unless that leaves it out.
    #[must_use]
    pub fn rosters_of(&self, resource: &GroupResource) -> Vec<Arc<Roster>> {
        let kept = self.storage_state(resource);
        let status = kept.as_ref().map(|kept| &kept.row.status);
        let is_only_observed = self.topic_kind(resource).is_seen_in_stores()
            && !status.is_some_and(|status| status.ever_reported);
        let mut rosters: Vec<Arc<Roster>> = Vec::new();
        for name in self.names(resource) {
            let mut scopes = ResourceScope::covering(&name).into_iter();
            let narrowest = scopes.find_map(|scope| self.roster(&scope));
            let applies = narrowest.filter(|it| !(is_only_observed && it.rule.exempts_observed));
            if let Some(roster) = applies
                && rosters.iter().all(|other| other.scope != roster.scope)
            {
                rosters.push(roster);
            }
        }
        rosters
    }

    /// Whether a resource's discovery is observed, so that servers that report nothing are seen, as of now too.
    #[must_use]
    pub fn is_observed(&self, resource: &GroupResource) -> bool {
        let state = self.storage_state(resource);
        let observation = state.and_then(|state| state.row.status.observation.clone());
        observation.is_some() && !self.is_observation_over(resource)
    }

    /// Whether the observation of a resource's discovery has expired, so that it says nothing of the present. The
    /// answer is as of now, not of the revision.
    #[must_use]
    pub fn is_observation_over(&self, resource: &GroupResource) -> bool {
        self.state.is_observation_over(resource)
    }
}
