//! `ReleaseMigration`: a worker gives its claim back before it has run out, so that another one need not wait for that.
//!
//! That is no failure: nothing is counted, and no pause begins. What was reported last stays beside the migration, which
//! shows it now, since nobody says any more how far it is.
//!
//! A worker whose claim has ended says here that all its rewrites were answered: then nothing of it drains any more.

use synod_model::{Migration, MigrationPhase, Refusal, ReleaseMigration, WorkerStop};

use super::claimed;
use crate::late_writes::ClaimEnd;
use crate::turn::Turn;
use crate::{Answer, Holder};

pub(crate) fn apply(turn: &mut Turn<'_>, release: &ReleaseMigration) -> Result<Answer, Refusal> {
    let ReleaseMigration { id, token, stop } = release;
    let migration = match claimed(turn.state(), id, *token) {
        Ok(migration) => migration.clone(),
        Err(refusal) => {
            let is_answered = *stop == Some(WorkerStop::AllAnswered);
            if is_answered && turn.lift_claim_drain(id.resource(), *token) {
                return Ok(Answer::Done);
            }
            return Err(refusal);
        }
    };
    let (done, estimate) = turn.state().shown_progress(&migration);
    turn.drain_claim(&migration, ClaimEnd::said(*stop));
    turn.clear_deadline(&Holder::Claim(release.id.clone()));
    turn.put_migration(Migration {
        phase: MigrationPhase::Pending,
        claim: None,
        done,
        estimate,
        ..migration
    });
    Ok(Answer::Done)
}
