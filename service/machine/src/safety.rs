//! Answers two questions of operators: may this binary join, and may this version be dropped?
//!
//! Both are answered from one revision. What is unknown is not safe, and a safe answer names what it assumes.

mod assumptions;
mod silence;
mod snapshots;
mod stored;
mod unknown;
mod why;

use std::collections::{BTreeMap, BTreeSet};

use synod_model::{
    ApiVersion, Assumption, Binary, BinaryResource, Feature, GroupResource, Kind, LogTime,
    Persisted, Stance, StorageVersionHash, Switch,
};

pub(crate) use self::assumptions::{agreement_assumptions, assumed_members, standing_assumptions};
use self::silence::Silence;
pub(crate) use self::silence::{silent_members, unknown_scopes};
use self::stored::{Concern, Found, found};
pub(crate) use self::unknown::nearest_resource;
pub use self::why::Why;
use crate::{Past, StorageVersionView};

/// The answer to either question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SafetyVerdict {
    /// Every reason why it is not safe. It is safe if there is none.
    pub dangers: Vec<Danger>,
    /// What a safe answer assumes, and for which resources.
    pub assumptions: BTreeMap<Assumption, BTreeSet<GroupResource>>,
    /// The members that an assumption is made of, in words.
    pub concerned: BTreeMap<Assumption, BTreeSet<String>>,
    /// Whether discovery is observed for a resource whose `persisted` is on trust.
    pub is_observed: bool,
}

/// Why something is not safe.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Danger {
    /// The resource.
    pub resource: GroupResource,
    /// The reason.
    pub why: Why,
}

/// Whether a binary may join.
///
/// Every known resource is checked, except those that the binary leaves to other servers, and keys, which are given to a
/// server and not built into it. A resource that the binary does not name is one of which it decodes nothing; a version that
/// it does not name is one that it cannot serve. A resource that it brings need not be known.
#[must_use]
pub fn check_binary(past: &Past<'_>, now: LogTime, binary: &Binary) -> SafetyVerdict {
    let mut verdict = SafetyVerdict::default();
    let silence = Silence::look(past);
    for named in &binary.resources {
        let found = of_binary(past, now, named);
        verdict.add(
            past,
            &named.resource,
            silence.add_to(found, &named.resource),
        );
    }
    let named = binary.resources.iter();
    let named: BTreeSet<GroupResource> = named.map(|one| past.first_name(&one.resource)).collect();
    let is_left = |resource: &GroupResource| {
        let names = past.names(resource);
        let mut scopes = binary.left_to_others.iter();
        scopes.any(|scope| names.iter().any(|name| scope.covers(name)))
    };
    for resource in silence.unknown_resources() {
        let is_of_a_binary = past.topic_kind(resource).is_of_a_binary();
        if is_of_a_binary && !named.contains(resource) && !is_left(resource) {
            let found = silence.add_to(Found::default(), resource);
            verdict.add(past, resource, found);
        }
    }
    for state in past.storage_states(None) {
        let resource = state.resource;
        if named.contains(&resource) || !past.topic_kind(&resource).is_of_a_binary() {
            continue;
        }
        if is_left(&resource) {
            if !state.row.status.persisted.is_empty() {
                verdict.assume(Assumption::LeftToOthers, &resource);
            }
        } else {
            let known = past.topic_kind(&resource).read_by_strangers();
            let known = known.and_then(|value| ApiVersion::parse(value).ok());
            let nothing = BinaryResource {
                resource,
                kind: None,
                decodable: known.into_iter().collect(),
                stance: None,
                new: false,
            };
            let found = of_binary(past, now, &nothing);
            let found = silence.add_to(found, &nothing.resource);
            verdict.add(past, &nothing.resource, found);
        }
    }
    verdict
}

fn of_binary(past: &Past<'_>, now: LogTime, binary: &BinaryResource) -> Found {
    let resource = &binary.resource;
    let view = past.reports(resource);
    let kinds = kinds(past, resource, view.as_ref(), binary.kind.as_ref());
    let hashes: BTreeSet<StorageVersionHash> = kinds
        .iter()
        .flat_map(|kind| {
            let versions = binary.decodable.iter();
            versions.map(move |version| StorageVersionHash::of_version(version, kind))
        })
        .collect();
    let mut versions = versions(past, resource, view.as_ref());
    versions.extend(binary.decodable.iter().cloned());
    let names = past.names(resource);
    let concern = Concern {
        version: &|version| !binary.decodable.contains(version),
        hash: &|hash| !hashes.contains(&hash),
        kinds: &kinds,
        versions: &versions,
        groups: groups(&versions, &names),
    };
    let mut found = found(past, now, resource, &concern);
    if binary.new {
        found.whys.remove(&Why::NoState(None));
    }
    if view.is_none() && is_open(past, now, resource) {
        let is_held = |why: &Why| matches!(why, Why::Persisted(_) | Why::Selected(_));
        found.whys.retain(|why| !is_held(why));
    }
    // Nobody has to have the highest level of a binary, or the code of a version that it would serve: neither is selected
    // before everybody has it.
    let is_written = !past.topic_kind(resource).waits_for_everybody();
    let encoded = binary.stance.as_ref().map(Stance::version);
    let encoded = encoded.filter(|_| is_written);
    for (version, view) in encoded.into_iter().zip(view.iter()) {
        let cannot = view.entries();
        let cannot = cannot.filter(|(_, entry)| !entry.decodable.contains(version));
        let cannot = cannot.map(|(id, _)| Why::NotDecodableBy(id.clone(), version.clone()));
        found.whys.extend(cannot);
    }
    found
}

/// Whether a version that nobody reports is served only if a server comes that would: its date has come, and what was
/// selected holds nobody who votes. What is done by servers that are gone is told apart from this.
fn is_open(past: &Past<'_>, now: LogTime, resource: &GroupResource) -> bool {
    let state = past.storage_state(resource);
    let date = state.and_then(|state| state.row.status.serve_until);
    let is_promised = date.is_some_and(|until| until.log > now);
    let moves = past.settings().switch(Feature::Votes) == Switch::On;
    moves && !is_promised && !past.topic_kind(resource).is_stored()
}

/// Whether a version of a resource may be dropped from all binaries.
#[must_use]
pub fn check_drop(
    past: &Past<'_>,
    now: LogTime,
    resource: &GroupResource,
    version: &ApiVersion,
) -> SafetyVerdict {
    let view = past.reports(resource);
    let kinds = kinds(past, resource, view.as_ref(), None);
    let versions = versions(past, resource, view.as_ref());
    let names = past.names(resource);
    let concern = Concern {
        version: &|other| other == version,
        // If no kind is known, any hash may be that of the version.
        hash: &|hash| {
            let mut kinds = kinds.iter();
            kinds.len() == 0
                || kinds.any(|kind| StorageVersionHash::of_version(version, kind) == hash)
        },
        kinds: &kinds,
        versions: &versions,
        groups: groups(versions.iter().chain([version]), &names),
    };
    let mut verdict = SafetyVerdict::default();
    let mut found = found(past, now, resource, &concern);
    unknown::name_nearest(past, resource, &mut found);
    found
        .whys
        .extend(unknown::version(past, resource, version, &concern));
    let found = Silence::look(past).add_to(found, resource);
    verdict.add(past, resource, found);
    verdict
}

/// The groups of these versions, and of the names of their store.
fn groups<'a>(
    versions: impl IntoIterator<Item = &'a ApiVersion>,
    names: &'a [GroupResource],
) -> BTreeSet<&'a str> {
    let versions = versions.into_iter().map(ApiVersion::group);
    versions
        .chain(names.iter().map(GroupResource::group))
        .collect()
}

/// The kinds that the resource is known to store: from members' reports, from discovery, from a collection, or from the
/// caller.
fn kinds(
    past: &Past<'_>,
    resource: &GroupResource,
    view: Option<&StorageVersionView>,
    said: Option<&Kind>,
) -> BTreeSet<Kind> {
    let entries = view.into_iter().flat_map(StorageVersionView::entries);
    let mut kinds: BTreeSet<Kind> = entries.map(|(_, entry)| entry.kind.clone()).collect();
    let state = past.storage_state(resource);
    let looks = state.map(|state| state.row.status.all_looks());
    let looks = looks.unwrap_or_default();
    kinds.extend(looks.unnamed.and_then(|observation| observation.kind));
    kinds.extend(looks.named.into_values().filter_map(|look| look.kind));
    let held = past.collection(&past.first_name(resource));
    kinds.extend(held.map(|held| held.kind.clone()));
    kinds.extend(said.cloned());
    kinds
}

/// The versions that are known of a resource: what its members decode, encode or prefer, and what is selected, stored or draining.
fn versions(
    past: &Past<'_>,
    resource: &GroupResource,
    view: Option<&StorageVersionView>,
) -> BTreeSet<ApiVersion> {
    let entries = view.into_iter().flat_map(StorageVersionView::entries);
    let mut versions: BTreeSet<ApiVersion> = entries
        .flat_map(|(_, entry)| {
            let decodable = entry.decodable.iter().chain(entry.preferred());
            decodable
                .chain(&entry.encoding)
                .cloned()
                .collect::<Vec<_>>()
        })
        .collect();
    let Some(state) = past.storage_state(resource) else {
        return versions;
    };
    let status = &state.row.status;
    versions.extend(status.selected.iter().cloned());
    versions.extend(status.late_versions().into_keys().cloned());
    versions.extend(status.known_versions.keys().cloned());
    versions.extend(status.persisted.iter().filter_map(|kept| match kept {
        Persisted::Version { version, .. } => version.clone(),
        Persisted::Unknown => None,
    }));
    versions
}

impl SafetyVerdict {
    /// Whether nothing speaks against it.
    #[must_use]
    pub fn is_safe(&self) -> bool {
        self.dangers.is_empty()
    }

    fn add(&mut self, past: &Past<'_>, resource: &GroupResource, found: Found) {
        self.dangers
            .extend(found.whys.into_iter().map(|why| Danger {
                resource: resource.clone(),
                why,
            }));
        let state = past.storage_state(resource);
        let rosters = past.rosters_of(resource);
        let status = state.as_ref().map(|state| &state.row.status);
        let assumed = standing_assumptions(status, &rosters);
        self.is_observed |= assumed.contains(&Assumption::NoRoster) && past.is_observed(resource);
        for assumption in assumed {
            self.assume(assumption, resource);
        }
        for (assumption, member) in status.into_iter().flat_map(assumed_members) {
            self.concerned.entry(assumption).or_default().insert(member);
        }
        if found.snapshot_version_unknown {
            self.assume(Assumption::SnapshotVersionUnknown, resource);
        }
    }

    fn assume(&mut self, what: Assumption, of: &GroupResource) {
        self.assumptions.entry(what).or_default().insert(of.clone());
    }
}
