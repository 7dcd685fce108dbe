//! The naive model of claims that are given back, and of migrations that are deleted.

use synod_machine::{Answer, Holder};
use synod_model::{ClaimToken, DeleteMigration, ErrorKind, MigrationId, MigrationPhase, Refusal};

use super::{World, no};

impl World {
    pub(super) fn give_back(
        &mut self,
        id: &MigrationId,
        token: ClaimToken,
    ) -> Result<Answer, Refusal> {
        self.claimed(id, token)?;
        let said = self.progress.iter().find(|(kept, _)| kept == id);
        let said = said.map(|(_, row)| row.progress.clone());
        let migration = self.migration_mut(id);
        migration.phase = MigrationPhase::Pending;
        migration.claim = None;
        if let Some(said) = said {
            migration.done = said.done;
            migration.estimate = said.estimate;
        }
        self.clear_deadline(&Holder::Claim(id.clone()));
        Ok(Answer::Done)
    }

    pub(super) fn take_away(&mut self, delete: &DeleteMigration) -> Result<Answer, Refusal> {
        let id = &delete.id;
        let metadata = self.migration(id)?.metadata;
        let meant = &delete.preconditions;
        let is_changed = meant
            .resource_version
            .is_some_and(|at| at != metadata.resource_version);
        if is_changed {
            return Err(no(ErrorKind::Conflict));
        }
        self.migrations.retain(|migration| migration.id != *id);
        self.progress.retain(|(kept, _)| kept != id);
        self.clear_deadline(&Holder::Claim(id.clone()));
        self.clear_deadline(&Holder::Retry(id.clone()));
        Ok(Answer::Done)
    }
}
