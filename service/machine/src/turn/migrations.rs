//! How a command changes migrations, their progress, and the heartbeats of observations.

use std::sync::Arc;

use synod_model::{GroupResource, Migration, MigrationId};

use super::Turn;
use crate::hashes::{heartbeat_hash, progress_hash};
use crate::state::KeptMigration;
use crate::{Heartbeat, Holder, ProgressRow};

impl Turn<'_> {
    /// Inserts or changes a migration. A changed one gets this command's revision.
    pub(crate) fn put_migration(&mut self, mut migration: Migration) {
        migration.metadata.resource_version = self.revision;
        let id = migration.id.clone();
        let after = Arc::new(migration);
        let kept = self.state.migrations.get(&id).cloned();
        let before = kept.as_ref().map(|kept| Arc::clone(&kept.row));
        if let Some(alias) = &after.alias {
            self.state.aliases.insert(alias.clone(), id.clone());
        }
        self.state.migrations.insert(
            id.clone(),
            KeptMigration {
                row: Arc::clone(&after),
                progress: kept.and_then(|kept| kept.progress),
            },
        );
        self.record::<Migration>(id, before, Some(after));
    }

    /// Removes a migration with its progress and its deadlines.
    pub(crate) fn remove_migration(&mut self, id: &MigrationId) {
        let kept = self.state.migrations.remove(id);
        let kept = kept.expect("the rule found the migration");
        if let Some(alias) = &kept.row.alias {
            self.state.aliases.remove(alias);
        }
        if let Some(progress) = &kept.progress {
            self.state.sum.subtract(progress_hash(id, progress));
        }
        self.clear_deadline(&Holder::Claim(id.clone()));
        self.clear_deadline(&Holder::Retry(id.clone()));
        self.record::<Migration>(id.clone(), Some(kept.row), None);
    }

    /// Removes a resource's migrations, open or not, and its heartbeat.
    pub(super) fn forget_migrations(&mut self, resource: &GroupResource) {
        let migrations = self.state.migrations_of(resource);
        let ids: Vec<MigrationId> = migrations.map(|migration| migration.id.clone()).collect();
        for id in &ids {
            self.remove_migration(id);
        }
        let kept = self.state.state_of(resource);
        let row = kept.map(|kept| Arc::clone(&kept.row));
        for holder in row.iter().flat_map(|row| row.status.look_holders(resource)) {
            self.clear_deadline(&holder);
        }
        let kept = self.state.storage_states.get_mut(resource);
        if let Some(heartbeat) = kept.and_then(|kept| kept.heartbeat.take()) {
            self.state
                .sum
                .subtract(heartbeat_hash(resource, &heartbeat));
        }
    }

    /// Records the progress of a migration. Moves no revision.
    pub(crate) fn put_progress(&mut self, id: &MigrationId, progress: ProgressRow) {
        let kept = self.state.migrations.get_mut(id);
        let kept = kept.expect("the command found the migration");
        self.state.sum.add(progress_hash(id, &progress));
        if let Some(before) = kept.progress.replace(Arc::new(progress)) {
            self.state.sum.subtract(progress_hash(id, &before));
        }
    }

    /// Forgets the progress of a migration. Moves no revision.
    pub(crate) fn forget_progress(&mut self, id: &MigrationId) {
        let kept = self.state.migrations.get_mut(id);
        let kept = kept.expect("the rule found the migration");
        if let Some(before) = kept.progress.take() {
            self.state.sum.subtract(progress_hash(id, &before));
        }
    }

    /// Records that discovery was observed. Moves no revision.
    pub(crate) fn set_heartbeat(&mut self, resource: &GroupResource) {
        let heartbeat = Heartbeat {
            at: self.state.log_time,
            wall: self.wall,
        };
        let kept = self.state.storage_states.get_mut(resource);
        let kept = kept.expect("what is observed has a state");
        self.state.sum.add(heartbeat_hash(resource, &heartbeat));
        if let Some(before) = kept.heartbeat.replace(heartbeat) {
            self.state.sum.subtract(heartbeat_hash(resource, &before));
        }
    }
}
