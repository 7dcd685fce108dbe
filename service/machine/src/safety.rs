//! Two questions that an operator asks before it is too late: may this binary join, and may this version go?
//!
//! Both are answered from one revision. What is not known is not safe.

use std::collections::BTreeSet;

use synod_model::{
    ApiVersion, GroupResource, Kind, LogTime, MemberId, Persisted, StorageVersionHash,
};

use crate::{Past, StateStatus, StorageVersionView};

/// What a binary can decode of one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decodes {
    /// The resource.
    pub resource: GroupResource,
    /// The kind that it stores, if the caller says so: a stored encoding of which only the hash is known is told by it.
    pub kind: Option<Kind>,
    /// The versions.
    pub versions: BTreeSet<ApiVersion>,
}

/// Why something is not safe.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Danger {
    /// The resource.
    pub resource: GroupResource,
    /// What about it.
    pub why: Why,
}

/// What makes something unsafe.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// Nothing is known of the resource's store: nobody ever reported or observed it.
    NoState,
    /// Objects may be stored in versions that nobody can name.
    PersistedUnknown,
    /// Objects may be stored in this version.
    Persisted(ApiVersion),
    /// Objects may be stored in an encoding of which only the hash is known, and the version may be this one.
    PersistedHash(StorageVersionHash),
    /// Members are instructed to encode this version.
    Selected(ApiVersion),
    /// A member encodes this version.
    Reported(MemberId, ApiVersion),
    /// A member prefers this version, so it may be selected.
    Voted(MemberId, ApiVersion),
    /// Writes in this version may still land until then.
    Draining(ApiVersion, LogTime),
}

/// Every reason why a binary that decodes this must not join. None: it is safe.
///
/// A resource that the binary does not name is not looked at: who does not report a resource does not write it.
#[must_use]
pub fn check_binary(past: &Past<'_>, now: LogTime, binary: &[Decodes]) -> Vec<Danger> {
    let mut dangers = Vec::new();
    for decodes in binary {
        let lacks = |version: &ApiVersion| !decodes.versions.contains(version);
        let hashes: Option<BTreeSet<StorageVersionHash>> = decodes.kind.as_ref().map(|kind| {
            let versions = decodes.versions.iter();
            let hashes = versions.map(|version| StorageVersionHash::of_version(version, kind));
            hashes.collect()
        });
        let lacks_hash = |hash| {
            hashes
                .as_ref()
                .is_none_or(|decodable| !decodable.contains(&hash))
        };
        let whys = whys(past, now, &decodes.resource, lacks, lacks_hash);
        dangers.extend(of(&decodes.resource, whys));
    }
    dangers
}

/// Every reason why a version of a resource must not be dropped from the binaries. None: it is safe.
#[must_use]
pub fn check_drop(
    past: &Past<'_>,
    now: LogTime,
    resource: &GroupResource,
    version: &ApiVersion,
) -> Vec<Danger> {
    let view = past.storage_version(resource);
    let kinds: BTreeSet<Kind> = view
        .iter()
        .flat_map(StorageVersionView::entries)
        .map(|(_, entry)| entry.kind.clone())
        .collect();
    // A hash is of another version for sure only if it is that of a version and kind that are known.
    let is_other = |hash| {
        let others = view.iter().flat_map(StorageVersionView::entries);
        let mut others = others.flat_map(|(_, entry)| entry.decodable.iter());
        others.any(|other| {
            let mut kinds = kinds.iter();
            other != version
                && kinds.any(|kind| StorageVersionHash::of_version(other, kind) == hash)
        })
    };
    let whys = whys(
        past,
        now,
        resource,
        |other| other == version,
        |hash| !is_other(hash),
    );
    of(resource, whys).collect()
}

fn of(resource: &GroupResource, whys: BTreeSet<Why>) -> impl Iterator<Item = Danger> {
    whys.into_iter().map(|why| Danger {
        resource: resource.clone(),
        why,
    })
}

/// What is known of the resource that concerns the versions in question.
fn whys(
    past: &Past<'_>,
    now: LogTime,
    resource: &GroupResource,
    concerns: impl Fn(&ApiVersion) -> bool,
    concerns_hash: impl Fn(StorageVersionHash) -> bool,
) -> BTreeSet<Why> {
    let mut whys = BTreeSet::new();
    let Some(state) = past.storage_state(resource) else {
        whys.insert(Why::NoState);
        return whys;
    };
    let status = &state.row.status;
    for persisted in &status.persisted {
        whys.extend(match persisted {
            Persisted::Unknown => Some(Why::PersistedUnknown),
            Persisted::Version {
                version: Some(version),
                ..
            } => concerns(version).then(|| Why::Persisted(version.clone())),
            Persisted::Version {
                hash,
                version: None,
            } => concerns_hash(*hash).then_some(Why::PersistedHash(*hash)),
        });
    }
    let selected = status.selected.iter().filter(|version| concerns(version));
    whys.extend(selected.cloned().map(Why::Selected));
    whys.extend(draining(status, now, &concerns));
    if let Some(view) = past.storage_version(resource) {
        whys.extend(said(&view, &concerns));
    }
    whys
}

fn draining<'a>(
    status: &'a StateStatus,
    now: LogTime,
    concerns: &'a impl Fn(&ApiVersion) -> bool,
) -> impl Iterator<Item = Why> + 'a {
    let drains = status.drains.iter();
    drains
        .filter(move |(version, until)| **until > now && concerns(version))
        .map(|(version, until)| Why::Draining(version.clone(), *until))
}

fn said(view: &StorageVersionView, concerns: &impl Fn(&ApiVersion) -> bool) -> Vec<Why> {
    let mut whys = Vec::new();
    for (member, entry) in view.entries() {
        let encoding = entry.encoding.iter().filter(|version| concerns(version));
        whys.extend(encoding.map(|version| Why::Reported(member.clone(), version.clone())));
        let preferred = entry.preferred().filter(|version| concerns(version));
        whys.extend(preferred.map(|version| Why::Voted(member.clone(), version.clone())));
    }
    whys
}
