//! The rows of migrations, and of what is kept beside them and beside storage states.

use std::sync::Arc;

use synod_model::{GroupResource, Migration, MigrationId};

use super::{CorruptState, Row, orphan};
use crate::state::KeptMigration;
use crate::{Heartbeat, ProgressRow, State};

pub(super) fn migration_rows(kept: &KeptMigration) -> impl Iterator<Item = Row> + '_ {
    let progress = kept.progress.as_ref();
    let progress = progress.map(|row| Row::MigrationProgress(kept.row.id.clone(), Arc::clone(row)));
    std::iter::once(Row::Migration(Arc::clone(&kept.row))).chain(progress)
}

impl State {
    pub(super) fn load_heartbeat(
        &mut self,
        resource: &GroupResource,
        heartbeat: Heartbeat,
    ) -> Result<bool, CorruptState> {
        let state = self.storage_states.get_mut(resource);
        let state = state.ok_or_else(|| orphan("a heartbeat", "storage state", resource))?;
        Ok(state.heartbeat.replace(heartbeat).is_none())
    }

    pub(super) fn load_migration(&mut self, row: Arc<Migration>) -> bool {
        let id = row.id.clone();
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
