//! `FailMigration`: a worker gives up. The failure decides whether the migration is retried.

use synod_model::{FailMigration, Migration, MigrationFailure, MigrationPhase, Refusal};

use super::claimed;
use crate::late_writes::ClaimEnd;
use crate::turn::Turn;
use crate::{Answer, Holder};

pub(crate) fn apply(turn: &mut Turn<'_>, fail: &FailMigration) -> Result<Answer, Refusal> {
    let migration = claimed(turn.state(), &fail.id, fail.token)?.clone();
    let failed = Migration {
        phase: MigrationPhase::Failed,
        claim: None,
        failures: migration.failures.saturating_add(1),
        failure: Some(MigrationFailure {
            class: fail.class,
            reason: fail.reason.clone(),
        }),
        ended: Some(turn.wall()),
        ..migration.clone()
    };
    let pause = failed.retry_after();
    turn.drain_claim(&migration, ClaimEnd::said(fail.stop));
    turn.clear_deadline(&Holder::Claim(fail.id.clone()));
    turn.put_migration(failed);
    if let Some(pause) = pause {
        turn.set_deadline(Holder::Retry(fail.id.clone()), pause);
    }
    Ok(Answer::Done)
}
