//! Drains what a member may still write whose entry goes.

use synod_model::MemberId;
use synod_model::limits::SAID_STOPPED_MAX;

use super::decision::LateWrites;
use super::draft::Draft;
use super::drains::{drained_by_replacement, may_write, raise_drains};
use crate::EntryRow;

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
