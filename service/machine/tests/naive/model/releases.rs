//! The naive model of claims that are given back.

use synod_machine::{Answer, Holder};
use synod_model::{ClaimToken, MigrationId, MigrationPhase, Refusal};

use super::World;

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
}
