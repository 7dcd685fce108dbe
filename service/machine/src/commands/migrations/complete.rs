//! `CompleteMigration`: a worker reports every object in the target's encoding, so nothing else is persisted.

use std::collections::BTreeSet;

use synod_model::{
    Assumption, CompleteMigration, EVIDENCE_SINCE, Migration, MigrationPhase, Refusal,
};

use super::{claimed, elsewhere, left_in_collection};
use crate::safety::standing_assumptions;
use crate::turn::Then;
use crate::turn::Turn;
use crate::voting::{Anew, SuccessfulMigration, reconsider};
use crate::{Answer, Holder, State};

pub(crate) fn apply(turn: &mut Turn<'_>, complete: &CompleteMigration) -> Result<Answer, Refusal> {
    let state = turn.state();
    // Before the claim is checked: a worker whose migration was aborted learns the cause.
    state.check_agreement(state.migration(&complete.id)?)?;
    let migration = claimed(state, &complete.id, complete.token)?.clone();
    check_counts(state, &migration)?;
    let resource = complete.id.resource();
    let persisted = state.persisted_when_migrated(resource);
    let anew = Anew {
        persisted,
        unselects: false,
        forgets_observation: false,
        migrated: Some(SuccessfulMigration {
            created: migration.start_revision(),
            claimed: migration.claim.as_ref().and_then(|claim| claim.since),
        }),
    };
    let decided = reconsider(state, turn.occasion(), resource, anew);
    let after = decided.as_ref().and_then(|decided| decided.state.as_ref());
    let after = after.unwrap_or(state.status(resource));
    let rosters: Vec<_> = state.rosters_of(resource).into_iter().cloned().collect();
    let assumptions = standing_assumptions(Some(after), &rosters);
    let (assumption, assumptions, answer) = if state.machine_version() < EVIDENCE_SINCE {
        let assumption = after.on_trust.map(|_| Assumption::NoRoster);
        let answer = Answer::MigrationCompleted(assumption);
        (assumption, BTreeSet::new(), answer)
    } else {
        let answer = Answer::MigrationSucceeded {
            assumptions: assumptions.clone(),
        };
        (None, assumptions, answer)
    };
    let (done, estimate) = state.shown_progress(&migration);
    turn.clear_deadline(&Holder::Claim(complete.id.clone()));
    turn.put_migration(Migration {
        phase: MigrationPhase::Succeeded,
        claim: None,
        failure: None,
        done,
        estimate,
        ended: Some(turn.wall()),
        assumption,
        assumptions,
        ..migration
    });
    if let Some(decided) = decided {
        turn.carry_out_and(decided, Then::AbortOnly);
    }
    Ok(answer)
}

/// Refuses if the collection still counts objects in other encodings, so the worker's word is not needed.
fn check_counts(state: &State, migration: &Migration) -> Result<(), Refusal> {
    let Some((encoding, count)) = left_in_collection(state, migration) else {
        return Ok(());
    };
    let why =
        format!("its collection holds {count} objects in {encoding} still: rewrite them first");
    Err(elsewhere(migration, &why)
        .with("encoding", encoding.as_str())
        .with("count", count))
}
