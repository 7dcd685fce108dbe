//! The naive model of claims that end and are given back, and of migrations that are called off and deleted.

use synod_machine::{Answer, Expire, Holder};
use synod_model::{
    AbortCause, ClaimToken, DeleteMigration, ErrorKind, GroupResource, MigrationId, MigrationPhase,
    Refusal, WorkerStop,
};

use super::late_writes::ClaimEnd;
use super::{World, no};

impl World {
    pub(super) fn give_back(
        &mut self,
        id: &MigrationId,
        token: ClaimToken,
        stop: Option<WorkerStop>,
    ) -> Result<Answer, Refusal> {
        if let Err(refusal) = self.claimed(id, token) {
            if stop != Some(WorkerStop::AllAnswered) {
                return Err(refusal);
            }
            self.nothing_is_under_way(id, token, refusal)?;
            return Ok(Answer::Done);
        }
        self.end_of_claim(id, Self::stopped(stop));
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
        self.end_of_claim(id, ClaimEnd::Others);
        self.migrations.retain(|migration| migration.id != *id);
        self.progress.retain(|(kept, _)| kept != id);
        self.clear_deadline(&Holder::Claim(id.clone()));
        self.clear_deadline(&Holder::Retry(id.clone()));
        Ok(Answer::Done)
    }

    pub(super) fn end_claims_and_pauses(&mut self, expire: &Expire) {
        for (id, token) in &expire.claims {
            let holder = Holder::Claim(id.clone());
            if self.claimed(id, *token).is_ok() && self.has_ended(&holder) {
                self.end_of_claim(id, ClaimEnd::Time);
                let migration = self.migration_mut(id);
                migration.phase = MigrationPhase::Pending;
                migration.claim = None;
                self.clear_deadline(&holder);
            }
        }
        for id in &expire.retries {
            let holder = Holder::Retry(id.clone());
            if self.has_ended(&holder) {
                let migration = self.migration_mut(id);
                migration.phase = MigrationPhase::Pending;
                migration.ended = None;
                self.clear_deadline(&holder);
            }
        }
    }

    /// Whether somebody has called a migration of the present agreement off.
    pub(super) fn is_called_off(&self, name: &GroupResource) -> bool {
        let agreement = self.agreement(name);
        self.migrations.iter().any(|migration| {
            migration.id.resource() == name
                && Some(migration.agreement_revision) == agreement
                && migration.aborted == Some(AbortCause::Requested)
        })
    }
}
