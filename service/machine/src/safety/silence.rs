//! Finds silence: members that have not reported, and rosters over resources of which nothing is known.

use std::collections::BTreeSet;

use synod_model::{GroupResource, MemberId, ResourceScope};

use super::stored::Found;
use super::why::Why;
use crate::Past;

/// The silence at one revision.
pub(super) struct Silence {
    members: Vec<MemberId>,
    scopes: Vec<ResourceScope>,
}

impl Silence {
    pub(super) fn look(past: &Past<'_>) -> Self {
        Self {
            members: silent_members(past),
            scopes: unknown_scopes(past),
        }
    }

    /// Adds what concerns the resource. A member that has not reported may report any resource.
    pub(super) fn add_to(&self, mut found: Found, resource: &GroupResource) -> Found {
        if let Some(member) = self.members.first() {
            let count = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
            found.whys.insert(Why::MemberSilent(member.clone(), count));
        }
        let scopes = self.scopes.iter().filter(|scope| scope.covers(resource));
        found.whys.extend(scopes.cloned().map(Why::ScopeUnknown));
        found
    }

    /// The resources that a roster names and of which nothing is known.
    pub(super) fn unknown_resources(&self) -> impl Iterator<Item = &GroupResource> {
        self.scopes.iter().filter_map(|scope| match scope {
            ResourceScope::Resource(resource) => Some(resource),
            ResourceScope::All | ResourceScope::Group(_) => None,
        })
    }
}

/// The members whose present instance has not reported, by id. Entries under such an id are those of the instance before it,
/// which says nothing of what the present one encodes. An empty report counts.
pub(crate) fn silent_members(past: &Past<'_>) -> Vec<MemberId> {
    let members = past.members(None);
    let silent = members.filter(|member| !member.reported);
    silent.map(|member| member.id.clone()).collect()
}

/// The scopes of rosters, but that of all resources, that cover no known resource.
pub(crate) fn unknown_scopes(past: &Past<'_>) -> Vec<ResourceScope> {
    let rosters = past.rosters(None);
    let scopes = rosters.map(|roster| roster.scope.clone());
    let scopes: Vec<ResourceScope> = scopes
        .filter(|scope| *scope != ResourceScope::All)
        .collect();
    let has_groups = scopes
        .iter()
        .any(|scope| matches!(scope, ResourceScope::Group(_)));
    let states = has_groups.then(|| past.storage_states(None));
    let states = states.into_iter().flatten();
    let groups: BTreeSet<String> = states
        .map(|state| state.resource.group().to_owned())
        .collect();
    let is_unknown = |scope: &ResourceScope| match scope {
        ResourceScope::All => false,
        ResourceScope::Group(group) => !groups.contains(&**group),
        ResourceScope::Resource(resource) => past.storage_state(resource).is_none(),
    };
    scopes.into_iter().filter(is_unknown).collect()
}
