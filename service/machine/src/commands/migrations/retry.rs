//! `RetryMigration`: makes a failed migration pending at once, with all its attempts, on request.

use synod_model::{Migration, MigrationPhase, Refusal, RetryMigration};

use super::elsewhere;
use crate::turn::Turn;
use crate::{Answer, Holder};

pub(crate) fn apply(turn: &mut Turn<'_>, retry: &RetryMigration) -> Result<Answer, Refusal> {
    let migration = turn.state().migration(&retry.id)?.clone();
    if migration.phase != MigrationPhase::Failed {
        return Err(elsewhere(&migration, "only a failed one can be retried"));
    }
    turn.state().check_agreement(&migration)?;
    turn.clear_deadline(&Holder::Retry(retry.id.clone()));
    turn.put_migration(Migration {
        phase: MigrationPhase::Pending,
        failures: 0,
        ended: None,
        ..migration
    });
    Ok(Answer::Done)
}
