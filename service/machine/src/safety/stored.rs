//! Finds everything known of a resource that concerns the versions in question.

use std::collections::BTreeSet;

use synod_model::{
    Absent, ApiVersion, GroupResource, Kind, LogTime, Persisted, StorageVersionHash,
};

use super::snapshots;
use super::why::Why;
use crate::{Past, StateStatus, StorageVersionView};

/// The versions in question.
pub(super) struct Concern<'a> {
    /// Whether this version is in question.
    pub(super) version: &'a dyn Fn(&ApiVersion) -> bool,
    /// Whether the version with this hash may be in question.
    pub(super) hash: &'a dyn Fn(StorageVersionHash) -> bool,
    /// The kinds that the resource is known to store.
    pub(super) kinds: &'a BTreeSet<Kind>,
    /// The versions that are known of the resource, whether or not they are in question.
    pub(super) versions: &'a BTreeSet<ApiVersion>,
    /// The groups that snapshots of the resource may be in.
    pub(super) groups: BTreeSet<&'a str>,
}

impl Concern<'_> {
    /// Whether no known kind and version has this hash, so that it may be that of any version. Where nobody ever named a version,
    /// as of a resource that is only observed, the kind alone tells a hash from that of the version in question.
    fn cannot_read(&self, hash: StorageVersionHash) -> bool {
        let is_of = |kind| {
            let mut versions = self.versions.iter();
            versions.any(|version| StorageVersionHash::of_version(version, kind) == hash)
        };
        !self.versions.is_empty() && !(self.hash)(hash) && !self.kinds.iter().any(is_of)
    }
}

/// What was found for a resource.
#[derive(Default)]
pub(super) struct Found {
    /// Every reason against it.
    pub(super) whys: BTreeSet<Why>,
    /// Whether the version of a snapshot of the resource's kind is unknown.
    pub(super) snapshot_version_unknown: bool,
}

/// Everything in the resource that concerns the versions in question.
pub(super) fn found(
    past: &Past<'_>,
    now: LogTime,
    resource: &GroupResource,
    concern: &Concern<'_>,
) -> Found {
    let Some(state) = past.storage_state(resource) else {
        return Found {
            whys: [Why::NoState(None)].into(),
            ..Found::default()
        };
    };
    let mut whys = BTreeSet::new();
    let status = &state.row.status;
    whys.extend(
        status
            .persisted
            .iter()
            .filter_map(|kept| persisted(kept, concern)),
    );
    let selected = status.selected.iter();
    let selected = selected.filter(|version| (concern.version)(version));
    whys.extend(selected.cloned().map(Why::Selected));
    whys.extend(draining(status, now, concern));
    whys.extend(absent(&status.absent));
    if let Some(view) = past.reports(resource) {
        whys.extend(said(&view, concern));
    }
    if !past.topic_kind(resource).is_seen_in_stores() {
        return Found {
            whys,
            snapshot_version_unknown: false,
        };
    }
    whys.extend(observed(past, resource, status, concern));
    whys.extend(unreadable(status, now, concern));
    whys.extend(status.contradicted.then_some(Why::Contradicted));
    let snapshots = snapshots::of(past, concern);
    whys.extend(snapshots.in_question);
    Found {
        whys,
        snapshot_version_unknown: snapshots.version_unknown,
    }
}

fn persisted(persisted: &Persisted, concern: &Concern<'_>) -> Option<Why> {
    match persisted {
        Persisted::Unknown => Some(Why::PersistedUnknown),
        Persisted::Version {
            version: Some(version),
            ..
        } => (concern.version)(version).then(|| Why::Persisted(version.clone())),
        Persisted::Version {
            hash,
            version: None,
        } => (concern.hash)(*hash).then_some(Why::PersistedHash(*hash)),
    }
}

fn draining(status: &StateStatus, now: LogTime, concern: &Concern<'_>) -> Vec<Why> {
    let versions = status.late_versions().into_iter();
    let versions = versions.filter(|(version, until)| *until > now && (concern.version)(version));
    let hashes = status.late_hashes().into_iter();
    let hashes = hashes.filter(|(hash, until)| *until > now && (concern.hash)(*hash));
    let unknown = status.unknown_drain.filter(|until| *until > now);
    versions
        .map(|(version, until)| Why::Draining(version.clone(), until))
        .chain(hashes.map(|(hash, until)| Why::DrainingHash(hash, until)))
        .chain(unknown.map(Why::DrainingUnknown))
        .collect()
}

/// Adds what discovery shows, or that the observation has expired.
fn observed(
    past: &Past<'_>,
    resource: &GroupResource,
    status: &StateStatus,
    concern: &Concern<'_>,
) -> Vec<Why> {
    let Some(observation) = &status.observation else {
        return Vec::new();
    };
    let is_needed = status.agreed.is_none();
    let over = (is_needed && past.is_observation_over(resource)).then_some(Why::ObservationOver);
    let shown = observation.hashes.iter();
    let shown = shown.filter(|hash| (concern.hash)(**hash));
    shown.map(|hash| Why::Observed(*hash)).chain(over).collect()
}

/// The hashes that are stored, may still be written or are shown, and that nothing known explains.
fn unreadable(status: &StateStatus, now: LogTime, concern: &Concern<'_>) -> Vec<Why> {
    let stored = status.persisted.iter().filter_map(|kept| match kept {
        Persisted::Version {
            hash,
            version: None,
        } => Some(*hash),
        Persisted::Unknown | Persisted::Version { .. } => None,
    });
    let drains = status.late_hashes().into_iter();
    let draining = drains.filter(|(_, until)| *until > now);
    let observation = status.observation.iter();
    let shown = observation.flat_map(|observation| observation.hashes.iter().copied());
    stored
        .chain(draining.map(|(hash, _)| hash))
        .chain(shown)
        .filter(|hash| concern.cannot_read(*hash))
        .map(Why::UnreadableHash)
        .collect()
}

fn absent(absent: &Absent) -> impl Iterator<Item = Why> + '_ {
    let more = absent.unnamed.max(absent.short);
    let more = (more > 0).then_some(Why::AbsentMore(more));
    absent.members.iter().cloned().map(Why::Absent).chain(more)
}

fn said(view: &StorageVersionView, concern: &Concern<'_>) -> Vec<Why> {
    let mut whys = Vec::new();
    for (member, entry) in view.entries() {
        let encoding = entry.encoding.iter();
        let encoding = encoding.filter(|version| (concern.version)(version));
        whys.extend(encoding.map(|version| Why::Reported(member.clone(), version.clone())));
        let preferred = entry.preferred();
        let preferred = preferred.filter(|version| (concern.version)(version));
        whys.extend(preferred.map(|version| Why::Voted(member.clone(), version.clone())));
    }
    whys
}
