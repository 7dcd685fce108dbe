//! `ClaimMigration`: gives a pending migration to a worker that keeps reporting progress.

use synod_model::{
    Claim, ClaimMigration, ClaimToken, EVIDENCE_SINCE, ErrorKind, Migration, MigrationPhase,
    Refusal,
};

use super::elsewhere;
use crate::turn::Turn;
use crate::{Answer, Holder, State};

pub(crate) fn apply(turn: &mut Turn<'_>, claim: &ClaimMigration) -> Result<Answer, Refusal> {
    let state = turn.state();
    let migration = state.migration(&claim.id)?.clone();
    check_turn(state, &migration)?;
    state.check_observation(claim.id.resource())?;
    check_drained(state, &migration, claim.fenced)?;
    let since = (state.machine_version >= EVIDENCE_SINCE).then_some(state.log_time);
    let token = ClaimToken::new(turn.revision());
    let progress = state.migration_progress(&claim.id);
    let progress = progress.map(|kept| kept.progress.clone());
    turn.put_migration(Migration {
        phase: MigrationPhase::Running,
        claim: Some(Claim {
            worker: claim.worker.clone(),
            token,
            ttl: claim.ttl,
            fenced: claim.fenced,
            since,
        }),
        ..migration
    });
    turn.set_deadline(Holder::Claim(claim.id.clone()), claim.ttl.duration());
    Ok(Answer::MigrationClaimed {
        token,
        progress: progress.unwrap_or_default(),
    })
}

/// Allows one running migration of a resource at a time, the oldest first.
fn check_turn(state: &State, migration: &Migration) -> Result<(), Refusal> {
    match (migration.phase, &migration.claim) {
        (MigrationPhase::Pending, _) => {}
        (_, Some(claim)) => {
            let why = format!("worker \"{}\" has it", claim.worker);
            return Err(elsewhere(migration, &why));
        }
        (_, None) => return Err(elsewhere(migration, "only a pending one can be claimed")),
    }
    let mut others = state.migrations_of(migration.id.resource());
    // A failed migration may become pending again while a later one runs, which was the first then.
    let other = others.find(|other| {
        let is_older = other.id.number() < migration.id.number();
        other.id != migration.id && other.is_open() && (is_older || other.claim.is_some())
    });
    let Some(other) = other else {
        return Ok(());
    };
    let does = match other.claim {
        Some(_) => "runs",
        None => "comes first",
    };
    let why = format!("\"{}\" of the same resource {does}", other.id);
    Err(elsewhere(migration, &why))
}

/// Refuses while a write in another encoding may arrive: behind the worker it would be missed.
fn check_drained(state: &State, migration: &Migration, fenced: bool) -> Result<(), Refusal> {
    let resource = migration.id.resource();
    if state.is_counted(resource) {
        // A collection counts its objects by encoding, so a write behind the worker is noticed.
        return Ok(());
    }
    let Some(until) = state.drains_until(resource, &migration.target, fenced) else {
        return Ok(());
    };
    let left = until.since(state.log_time).as_millis();
    Err(Refusal::new(
        ErrorKind::Draining,
        format!(
            "migration \"{}\": writes in another version than {} may land for {left} ms more: claim it after that",
            migration.id, migration.target
        ),
    )
    .with("migration", &migration.id)
    .with("retry_after_ms", left))
}
