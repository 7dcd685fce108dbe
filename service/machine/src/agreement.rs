//! Answers the question whether the members agree: on named resources, or on all that is known.
//!
//! The answer is of one revision. A resource without evidence is not agreed on, and neither is an empty cluster, since that is
//! what a cluster looks like before its members have joined.

mod obstacle;
mod reasons;

use std::collections::{BTreeMap, BTreeSet};

use synod_model::{
    ApiVersion, Assumption, GroupResource, LogTime, ResourceScope, StorageVersionHash,
};

pub use self::obstacle::Obstacle;
pub(crate) use self::obstacle::first;
use crate::safety::{agreement_assumptions, nearest_resource, silent_members, unknown_scopes};
use crate::{Past, StateStatus, StorageStateView};

/// The question whether the members agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgreementQuery {
    /// The resources in question; empty: all that is known.
    pub resources: BTreeSet<GroupResource>,
    /// Whether a cluster of which nothing is known counts as agreed.
    pub allow_none: bool,
}

/// The answer to an [`AgreementQuery`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgreementVerdict {
    /// The obstacles that concern the whole cluster.
    pub obstacles: Vec<Obstacle>,
    /// The resources in question, by (group, resource).
    pub resources: Vec<ResourceAgreement>,
    /// The resources that do not count: only what was stored or known of them before has stayed. Empty for named resources.
    pub left_over: BTreeSet<GroupResource>,
    /// The assumptions of a positive answer, each with its resources.
    pub assumptions: BTreeMap<Assumption, BTreeSet<GroupResource>>,
    /// Whether discovery is observed for a resource without a roster.
    pub is_observed: bool,
}

/// Whether the members agree on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceAgreement {
    /// The resource.
    pub resource: GroupResource,
    /// The version that the members agree on.
    pub version: Option<ApiVersion>,
    /// The encoding that discovery alone shows while no member reports the resource.
    pub hash: Option<StorageVersionHash>,
    /// Why there is no agreement.
    pub obstacles: Vec<Obstacle>,
}

impl AgreementVerdict {
    /// Returns whether the members agree on every resource in question, and nothing concerns the whole cluster.
    #[must_use]
    pub fn is_agreed(&self) -> bool {
        self.obstacles.is_empty() && self.resources.iter().all(ResourceAgreement::is_agreed)
    }

    fn add(&mut self, past: &Past<'_>, agreement: ResourceAgreement) {
        let resource = &agreement.resource;
        let state = past.storage_state(resource);
        let rosters = past.rosters_of(resource);
        let status = state.as_ref().map(|state| &state.row.status);
        let assumed = agreement_assumptions(status, &rosters);
        self.is_observed |= assumed.contains(&Assumption::NoRoster) && past.is_observed(resource);
        for assumption in assumed {
            let resources = self.assumptions.entry(assumption).or_default();
            resources.insert(resource.clone());
        }
        self.resources.push(agreement);
    }
}

impl ResourceAgreement {
    /// Returns whether the members agree, or discovery alone shows one encoding.
    #[must_use]
    pub fn is_agreed(&self) -> bool {
        self.obstacles.is_empty() && (self.version.is_some() || self.hash.is_some())
    }
}

/// Checks whether the members agree on the resources of the query.
#[must_use]
pub fn check_agreement(past: &Past<'_>, now: LogTime, query: &AgreementQuery) -> AgreementVerdict {
    let mut verdict = AgreementVerdict::default();
    if query.resources.is_empty() {
        for state in past.storage_states(None) {
            if counts(past, now, &state) {
                verdict.add(past, of_state(past, &state));
            } else if !past.is_only_declared(&state) {
                verdict.left_over.insert(state.resource);
            }
        }
        if verdict.resources.is_empty() && !query.allow_none {
            verdict.obstacles.push(Obstacle::NothingKnown);
        }
    }
    for resource in &query.resources {
        verdict.add(past, resource_agreement(past, resource));
    }
    let members = silent_members(past);
    if !members.is_empty() {
        verdict.obstacles.push(Obstacle::MemberSilent { members });
    }
    let concerns = |scope: &ResourceScope| {
        let mut named = query.resources.iter();
        let covers = |resource| past.names(resource).iter().any(|name| scope.covers(name));
        query.resources.is_empty() || named.any(covers)
    };
    let scopes = unknown_scopes(past).into_iter().filter(concerns);
    let scopes = scopes.map(|scope| Obstacle::ScopeUnknown { scope });
    verdict.obstacles.extend(scopes);
    verdict
}

/// Whether the members agree on one resource, and why not.
#[must_use]
pub fn resource_agreement(past: &Past<'_>, resource: &GroupResource) -> ResourceAgreement {
    match past.storage_state(resource) {
        Some(state) => ResourceAgreement {
            resource: resource.clone(),
            ..of_state(past, &state)
        },
        None => ResourceAgreement {
            resource: resource.clone(),
            version: None,
            hash: None,
            obstacles: vec![Obstacle::Unknown {
                nearest: nearest_resource(past, resource),
            }],
        },
    }
}

/// Whether a resource counts among all that is known: a member reports it, discovery shows it, writes in it may still land, a
/// roster asks for it, or it has a collection and was once reported.
fn counts(past: &Past<'_>, now: LogTime, state: &StorageStateView) -> bool {
    let (resource, status) = (&state.resource, &state.row.status);
    past.reports(resource).is_some()
        || status.observation.is_some()
        || drains(status, now)
        || !past.rosters_of(resource).is_empty()
        || (status.ever_reported && past.collection(resource).is_some())
}

fn drains(status: &StateStatus, now: LogTime) -> bool {
    let versions = status.late_versions().into_values();
    let hashes = status.late_hashes().into_values();
    let mut ends = versions.chain(hashes).chain(status.unknown_drain);
    ends.any(|until| until > now)
}

impl Past<'_> {
    /// Whether nothing but a declared collection says that there is such a resource.
    fn is_only_declared(&self, state: &StorageStateView) -> bool {
        !state.row.status.ever_reported && self.collection(&state.resource).is_some()
    }
}

fn of_state(past: &Past<'_>, state: &StorageStateView) -> ResourceAgreement {
    let (resource, status) = (&state.resource, &state.row.status);
    let view = past.reports(resource);
    let obstacles = match &view {
        Some(_) if status.agreed.is_some() => Vec::new(),
        Some(view) => reasons::among_members(view, status),
        None => reasons::without_members(past, resource, status),
    };
    ResourceAgreement {
        resource: resource.clone(),
        version: status.agreed.clone(),
        hash: status.agreed_hash,
        obstacles,
    }
}
