//! `AbortMigration`: aborts a migration on request.

use synod_model::{AbortCause, AbortMigration, MigrationPhase, Refusal};

use super::elsewhere;
use crate::Answer;
use crate::turn::Turn;

pub(crate) fn apply(turn: &mut Turn<'_>, abort: &AbortMigration) -> Result<Answer, Refusal> {
    let migration = turn.state().migration(&abort.id)?.clone();
    if !migration.is_open() && migration.phase != MigrationPhase::Failed {
        return Err(elsewhere(&migration, "it has come to its end"));
    }
    turn.abort_migration(&migration, AbortCause::Requested);
    Ok(Answer::Done)
}
