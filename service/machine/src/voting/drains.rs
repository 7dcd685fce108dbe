//! Computes what members that are replaced or gone may still write.

use synod_model::limits::SAID_STOPPED_MAX;
use synod_model::{ApiVersion, LogTime, MemberId};

use super::decision::LateWrites;
use super::draft::Draft;
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

impl Draft<'_> {
    /// Raises the drains of what a member may still write whose entry goes.
    pub(super) fn drain_entry(
        &mut self,
        member: &MemberId,
        entry: &EntryRow,
        late_writes: LateWrites,
    ) {
        let until = match late_writes {
            LateWrites::None => return,
            LateWrites::Until(until) => until,
            LateWrites::OfAnySelectionUntil(until) => {
                if let Some(after) = drained_by_replacement(&self.after, entry, until) {
                    self.after = after;
                }
                return;
            }
            LateWrites::SaidToEnd { promised, .. }
                if self.after.said_stopped.len() >= SAID_STOPPED_MAX =>
            {
                return self.drain_entry(member, entry, LateWrites::OfAnySelectionUntil(promised));
            }
            LateWrites::SaidToEnd { grace, promised } => {
                // An earlier process of the member may have been promised more.
                let said = self.after.said_stopped.entry(member.clone());
                let until = said.or_insert(promised);
                *until = promised.max(*until);
                grace
            }
        };
        let versions: Vec<_> = may_write(entry, &self.after).into_iter().cloned().collect();
        raise_drains(&mut self.after, &versions, until);
    }
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
