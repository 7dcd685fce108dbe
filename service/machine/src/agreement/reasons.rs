//! Finds the obstacles to an agreement on one resource.

use std::collections::{BTreeMap, BTreeSet};

use synod_model::{ApiVersion, GroupResource, MemberId, StorageVersionHash};

use super::Obstacle;
use crate::{EntryRow, Past, StateStatus, StorageVersionView};

/// The obstacles while members report the resource and do not agree.
pub(super) fn among_members(view: &StorageVersionView, status: &StateStatus) -> Vec<Obstacle> {
    let mut obstacles = Vec::new();
    let undecided = |entry: &EntryRow| match entry.encoding {
        Some(_) => None,
        None => entry.preferred().cloned(),
    };
    let votes = grouped(view, undecided);
    if !votes.is_empty() {
        obstacles.push(Obstacle::NothingSelected { votes });
    }
    let encodings = grouped(view, |entry| entry.encoding.clone());
    if encodings.len() > 1 {
        obstacles.push(Obstacle::EncodingsDiffer { encodings });
    }
    obstacles.extend(against_selection(view, status));
    obstacles.extend(absent(status));
    if status.contradicted {
        obstacles.push(contradicted(view, status));
    }
    obstacles
}

/// The obstacles while no member reports the resource, so that discovery alone may show an agreement.
pub(super) fn without_members(
    past: &Past<'_>,
    resource: &GroupResource,
    status: &StateStatus,
) -> Vec<Obstacle> {
    let observation = status.observation.as_ref();
    let shown = observation.map(|observation| &observation.hashes);
    let mut obstacles = Vec::new();
    match shown.filter(|hashes| !hashes.is_empty()) {
        None => obstacles.push(Obstacle::Unreported),
        Some(_) if is_over(past, resource, status) => obstacles.push(Obstacle::ObservationExpired),
        Some(hashes) if hashes.len() > 1 => obstacles.push(Obstacle::ObservationsDiffer {
            hashes: hashes.clone(),
        }),
        Some(_) => {}
    }
    obstacles.extend(absent(status));
    obstacles
}

fn is_over(past: &Past<'_>, resource: &GroupResource, status: &StateStatus) -> bool {
    let observation = status.observation.as_ref();
    observation.is_some_and(|observation| observation.expired) || past.is_observation_over(resource)
}

/// The members whose encoding does not follow the selected version.
fn against_selection(view: &StorageVersionView, status: &StateStatus) -> Vec<Obstacle> {
    let Some(selected) = &status.selected else {
        return Vec::new();
    };
    let among = |matches: &dyn Fn(&EntryRow) -> bool| -> Vec<MemberId> {
        let entries = view.entries().filter(|(_, entry)| matches(entry));
        entries.map(|(member, _)| member.clone()).collect()
    };
    let fixed = among(&|entry| !entry.is_voting() && entry.encoding.as_ref() != Some(selected));
    let at = status.selected_revision;
    let behind = among(&|entry| entry.is_voting() && entry.adopted_revision != Some(at));
    let mut obstacles = Vec::new();
    if !fixed.is_empty() {
        obstacles.push(Obstacle::FixedElsewhere {
            selected: selected.clone(),
            members: fixed,
        });
    }
    if !behind.is_empty() {
        obstacles.push(Obstacle::NotAdopted {
            selected: selected.clone(),
            revision: at,
            members: behind,
        });
    }
    obstacles
}

fn absent(status: &StateStatus) -> Option<Obstacle> {
    let absent = status.absent.clone();
    (!absent.is_empty()).then_some(Obstacle::Absent { absent })
}

fn contradicted(view: &StorageVersionView, status: &StateStatus) -> Obstacle {
    let entries = view.entries();
    let reported: BTreeSet<StorageVersionHash> = entries
        .filter_map(|(_, entry)| {
            let encoding = entry.encoding.as_ref()?;
            Some(StorageVersionHash::of_version(encoding, &entry.kind))
        })
        .collect();
    let observation = status.observation.as_ref();
    let shown = observation.into_iter().flat_map(|shown| &shown.hashes);
    let hashes = shown.filter(|hash| !reported.contains(hash));
    Obstacle::Contradicted {
        hashes: hashes.copied().collect(),
        expired: observation.is_some_and(|observation| observation.expired),
    }
}

/// The members by the version that `version_of` gives for their entries.
fn grouped(
    view: &StorageVersionView,
    version_of: impl Fn(&EntryRow) -> Option<ApiVersion>,
) -> BTreeMap<ApiVersion, Vec<MemberId>> {
    let mut groups: BTreeMap<ApiVersion, Vec<MemberId>> = BTreeMap::new();
    for (member, entry) in view.entries() {
        if let Some(version) = version_of(entry) {
            groups.entry(version).or_default().push(member.clone());
        }
    }
    groups
}
