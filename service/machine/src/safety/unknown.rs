//! Finds that a question is about a resource or a version that nobody ever heard of: more likely it is mistyped than gone.

use synod_model::{ApiVersion, GroupResource, StorageVersionHash, TopicKind};

use super::stored::{Concern, Found};
use super::why::Why;
use crate::Past;

/// The most known versions that a reason names.
const NAMED: usize = 8;

/// The most resources whose names are compared with that of an unknown one.
const COMPARED: usize = 1_000;

/// Names the known resource with the nearest name where nothing is known of the resource.
pub(super) fn name_nearest(past: &Past<'_>, resource: &GroupResource, found: &mut Found) {
    if !found.whys.remove(&Why::NoState(None)) {
        return;
    }
    let nearest = nearest_resource(past, resource);
    found.whys.insert(Why::NoState(nearest));
}

/// The known resource with the most similar name, if one is similar.
pub(crate) fn nearest_resource(past: &Past<'_>, resource: &GroupResource) -> Option<GroupResource> {
    let asked = resource.to_string();
    let known = past.storage_states(None).take(COMPARED);
    let known = known.map(|state| state.resource);
    let distances = known.map(|known| (distance(&asked, &known.to_string()), known));
    let nearest = distances.min_by_key(|(distance, _)| *distance);
    let is_near = |distance: usize| distance * 2 <= asked.len();
    let nearest = nearest.filter(|(distance, _)| is_near(*distance));
    nearest.map(|(_, known)| known)
}

/// The reason that nobody ever heard of the version, if that is so. The values of features and of served versions are always
/// known.
pub(super) fn version(
    past: &Past<'_>,
    resource: &GroupResource,
    version: &ApiVersion,
    concern: &Concern<'_>,
) -> Option<Why> {
    let state = past.storage_state(resource)?;
    let is_level = past.topic_kind(resource) == TopicKind::Feature;
    if is_level || !past.remembers_encodings(resource) {
        return None;
    }
    let hashes = &state.row.status.known_hashes;
    let mut kinds = concern.kinds.iter();
    let is_shown =
        kinds.any(|kind| hashes.contains_key(&StorageVersionHash::of_version(version, kind)));
    if concern.versions.contains(version) || is_shown {
        return None;
    }
    let mut known: Vec<ApiVersion> = concern.versions.iter().cloned().collect();
    known.sort_by_cached_key(|known| distance(version.as_str(), known.as_str()));
    known.truncate(NAMED);
    Some(Why::VersionUnknown(version.clone(), known))
}

fn distance(a: &str, b: &str) -> usize {
    strsim::damerau_levenshtein(a, b)
}
