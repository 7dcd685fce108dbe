//! `DeleteMigration`: takes a migration out of sight at any time, also one that an agreement has created by itself.
//!
//! One that has not ended is called off by that, under the rule of `AbortMigration`: its claim is void, and what is known of
//! the store stays as it is, so nothing becomes safe by it. It goes in one step, since an object changes once in a command.

use synod_model::{DeleteMigration, Refusal};

use crate::Answer;
use crate::late_writes::ClaimEnd;
use crate::turn::Turn;

/// The resource name of migrations, in Kubernetes' wording.
const MIGRATIONS: &str = "storageversionmigrations.storagemigration.k8s.io";

pub(crate) fn apply(turn: &mut Turn<'_>, delete: &DeleteMigration) -> Result<Answer, Refusal> {
    let DeleteMigration { id, preconditions } = delete;
    let migration = turn.state().migration(id)?;
    if let Some(fault) = preconditions.fault_of_delete(&migration.metadata) {
        let refusal = Refusal::conflict(MIGRATIONS, &id.to_string(), fault);
        return Err(refusal
            .with("migration", id)
            .with("resource_version", migration.metadata.resource_version));
    }
    let migration = migration.clone();
    turn.drain_claim(&migration, ClaimEnd::ByOthers);
    turn.remove_migration(id);
    Ok(Answer::Done)
}
