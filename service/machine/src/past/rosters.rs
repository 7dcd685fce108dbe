//! Rosters at a revision.

use std::sync::Arc;

use synod_model::{GroupResource, ResourceScope, Roster};

use super::{Past, beyond};

impl Past<'_> {
    /// A roster.
    #[must_use]
    pub fn roster(&self, scope: &ResourceScope) -> Option<Arc<Roster>> {
        self.one(scope, self.state.rosters.get(scope))
    }

    /// The rosters after `after`: the one for every resource, then those of groups, then those of one resource.
    pub fn rosters(&self, after: Option<&ResourceScope>) -> impl Iterator<Item = Arc<Roster>> {
        let kept = self.state.rosters.range::<_, ResourceScope>(beyond(after));
        self.all(kept, after)
    }

    /// The roster that counts for a resource: the narrowest that covers it.
    #[must_use]
    pub fn roster_of(&self, resource: &GroupResource) -> Option<Arc<Roster>> {
        let mut scopes = ResourceScope::covering(resource).into_iter();
        scopes.find_map(|scope| self.roster(&scope))
    }

    /// Whether somebody looks at a resource's discovery, so that servers that report nothing are seen: as of now, too.
    #[must_use]
    pub fn is_observed(&self, resource: &GroupResource) -> bool {
        let state = self.storage_state(resource);
        let observation = state.and_then(|state| state.row.status.observation.clone());
        observation.is_some() && !self.is_observation_over(resource)
    }

    /// Whether nobody has looked at a resource's discovery for so long that what it showed says nothing: as of now, and
    /// not of the revision.
    #[must_use]
    pub fn is_observation_over(&self, resource: &GroupResource) -> bool {
        self.state.is_observation_over(resource)
    }
}
