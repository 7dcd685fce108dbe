//! Loads the rows of migrations and storage states, and their progress, agreements and heartbeats.

use std::sync::Arc;

use synod_model::{AgreementChange, GroupResource, Migration, MigrationId};

use super::corrupt::{CorruptState, orphan};
use crate::state::{KeptMigration, StorageState};
use crate::{Heartbeat, ProgressRow, Row, State, StorageStateRow};

pub(super) fn migration_rows(kept: &KeptMigration) -> impl Iterator<Item = Row> + '_ {
    let progress = kept.progress.as_ref();
    let progress = progress.map(|row| Row::MigrationProgress(kept.row.id.clone(), Arc::clone(row)));
    std::iter::once(Row::Migration(Arc::clone(&kept.row))).chain(progress)
}

impl State {
    /// Loads a storage state; its agreements and its heartbeat come after it.
    pub(super) fn load_storage_state(
        &mut self,
        resource: GroupResource,
        row: Arc<StorageStateRow>,
    ) -> bool {
        let state = StorageState {
            row,
            agreements: imbl::Vector::new(),
            heartbeat: None,
        };
        self.index_names(&resource, None, Some(&state.row.status));
        self.storage_states.insert(resource, state).is_none()
    }

    /// Appends a line to a resource's history of agreements. It has no key, so it is always new.
    pub(super) fn load_agreement(
        &mut self,
        resource: &GroupResource,
        line: Arc<AgreementChange>,
    ) -> Result<bool, CorruptState> {
        let state = self.storage_states.get_mut(resource);
        let state = state.ok_or_else(|| orphan("an agreement", "storage state", resource))?;
        state.agreements.push_back(line);
        Ok(true)
    }

    pub(super) fn load_heartbeat(
        &mut self,
        resource: &GroupResource,
        heartbeat: Heartbeat,
    ) -> Result<bool, CorruptState> {
        let state = self.storage_states.get_mut(resource);
        let state = state.ok_or_else(|| orphan("a heartbeat", "storage state", resource))?;
        Ok(state.heartbeat.replace(heartbeat).is_none())
    }

    /// Loads a migration. No two have the same alias.
    pub(super) fn load_migration(&mut self, row: Arc<Migration>) -> bool {
        let id = row.id.clone();
        if let Some(alias) = &row.alias
            && self.aliases.insert(alias.clone(), id.clone()).is_some()
        {
            return false;
        }
        let progress = None;
        let kept = KeptMigration { row, progress };
        self.migrations.insert(id, kept).is_none()
    }

    pub(super) fn load_progress(
        &mut self,
        id: &MigrationId,
        progress: Arc<ProgressRow>,
    ) -> Result<bool, CorruptState> {
        let kept = self.migrations.get_mut(id);
        let kept = kept.ok_or_else(|| orphan("progress", "migration", id))?;
        Ok(kept.progress.replace(progress).is_none())
    }
}
