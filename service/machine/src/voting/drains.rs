//! Computes what members that are replaced or gone may still write.

use synod_model::{ApiVersion, LogTime};

use crate::{EntryRow, StateStatus};

/// Raises the drain of every version that a replaced member may still write under its entry. `None`: nothing changes.
///
/// Until its proof of membership ends, the old process of a voter writes the selected version, also one selected after
/// the process was replaced: any version that it decodes.
pub(crate) fn drained_by_replacement(
    state: &StateStatus,
    entry: &EntryRow,
    until: LogTime,
) -> Option<StateStatus> {
    let mut after = state.clone();
    if entry.is_voting() {
        raise_drains(&mut after, entry.decodable.iter(), until);
    } else {
        raise_drains(&mut after, &entry.encoding, until);
    }
    (after != *state).then_some(after)
}

/// The versions that the member of an entry may still write: the one it encodes or, if it has not adopted the
/// selection, any that it decodes.
pub(super) fn may_write<'a>(entry: &'a EntryRow, state: &StateStatus) -> Vec<&'a ApiVersion> {
    let behind = entry.is_voting()
        && state.selected.is_some()
        && entry.adopted_revision != Some(state.selected_revision);
    if behind {
        entry.decodable.iter().collect()
    } else {
        entry.encoding.iter().collect()
    }
}

/// Raises the drains of these versions to at least `until`.
pub(crate) fn raise_drains<'a>(
    state: &mut StateStatus,
    versions: impl IntoIterator<Item = &'a ApiVersion>,
    until: LogTime,
) {
    for version in versions {
        match state.drains.get_mut(version) {
            Some(kept) => *kept = (*kept).max(until),
            None => {
                state.drains.insert(version.clone(), until);
            }
        }
    }
}
