//! The naive model of one entry: what its member encodes, and what it may still write.

use synod_machine::{EntryRow, StateStatus};
use synod_model::{ApiVersion, ReportEntry, Stance};

use super::{Entry, World};

impl Entry {
    pub(super) fn votes_for(&self) -> Option<&ApiVersion> {
        match &self.row.stance {
            Stance::Fixed { .. } => None,
            Stance::Voting { preferred } => Some(preferred),
        }
    }

    pub(super) fn fixed_on(&self) -> Option<&ApiVersion> {
        match &self.row.stance {
            Stance::Fixed { encoding } => Some(encoding),
            Stance::Voting { .. } => None,
        }
    }

    pub(super) fn decodes(&self, version: &ApiVersion) -> bool {
        self.row.decodable.contains(version)
    }

    /// The versions that a replaced process may write until it learns of it: a voter follows any later selection.
    pub(super) fn may_follow(&self) -> Vec<ApiVersion> {
        match self.votes_for() {
            Some(_) => self.row.decodable.iter().cloned().collect(),
            None => self.row.encoding.iter().cloned().collect(),
        }
    }

    /// The encoding of the entry, or every version that it decodes if it votes and has not adopted the selection.
    pub(super) fn may_write(&self, status: &StateStatus) -> Vec<ApiVersion> {
        let is_behind = self.votes_for().is_some()
            && status.selected.is_some()
            && self.row.adopted_revision != Some(status.selected_revision);
        if is_behind {
            self.row.decodable.iter().cloned().collect()
        } else {
            self.row.encoding.iter().cloned().collect()
        }
    }
}

impl World {
    /// A repeated report of one epoch keeps its encoding until the voter adopts; a new member or new voter has none
    /// yet.
    pub(super) fn row_of(
        &self,
        said: &ReportEntry,
        old: Option<&Entry>,
        same_epoch: bool,
    ) -> EntryRow {
        let mut row = EntryRow {
            kind: said.kind.clone(),
            decodable: said.decodable.clone(),
            served: said.served.clone(),
            stance: said.stance.clone(),
            encoding: None,
            adopted_revision: None,
            since: self.revision,
            serve_until: said.serve_until,
            stored: said.stored,
            equivalents: said.equivalents.clone(),
        };
        match (&said.stance, old) {
            (Stance::Fixed { encoding }, Some(old)) if old.fixed_on().is_some() => {
                row.encoding = Some(encoding.clone());
                row.since = old.row.since;
            }
            (Stance::Fixed { encoding }, _) => row.encoding = Some(encoding.clone()),
            (Stance::Voting { .. }, Some(old)) if old.votes_for().is_some() => {
                row.since = old.row.since;
                let kept = old.row.encoding.as_ref();
                if same_epoch && kept.is_some_and(|kept| said.decodable.contains(kept)) {
                    row.encoding = kept.cloned();
                    row.adopted_revision = old.row.adopted_revision;
                }
            }
            (Stance::Voting { .. }, _) => {}
        }
        row
    }
}
