//! `ClaimMigration`: gives a pending migration to a worker that keeps reporting progress.

use synod_model::{
    Claim, ClaimMigration, ClaimToken, EVIDENCE_SINCE, ErrorKind, Migration, MigrationPhase,
    MigrationReason, Refusal, Walk,
};

use super::{elsewhere, left_in_collection};
use crate::turn::Turn;
use crate::{Answer, Holder, State};

pub(crate) fn apply(turn: &mut Turn<'_>, claim: &ClaimMigration) -> Result<Answer, Refusal> {
    let state = turn.state();
    let migration = state.migration(&claim.id)?.clone();
    check_turn(state, &migration)?;
    state.check_observation(claim.id.resource())?;
    let tells = state.machine_version >= EVIDENCE_SINCE;
    let since = tells.then_some(state.log_time);
    let walks = if tells {
        Some(walk(state, &migration, claim)?)
    } else {
        None
    };
    check_drained(state, &migration, claim.fenced)?;
    let token = ClaimToken::new(turn.revision());
    let progress = state.migration_progress(&claim.id);
    // Where a worker stood in another store says nothing of this one.
    let progress = progress.filter(|kept| kept.walks == walks);
    let progress = progress.map(|kept| kept.progress.clone());
    if progress.is_none() {
        turn.forget_progress(&claim.id);
    }
    turn.put_migration(Migration {
        phase: MigrationPhase::Running,
        claim: Some(Claim {
            worker: claim.worker.clone(),
            token,
            ttl: claim.ttl,
            fenced: claim.fenced,
            since,
            walks,
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

/// Returns what the worker walks. Refuses what leaves out a place where objects may be stored in another encoding than the target.
fn walk(state: &State, migration: &Migration, claim: &ClaimMigration) -> Result<Walk, Refusal> {
    let resource = migration.id.resource();
    let counts = state.counts_objects(resource);
    let walks = match claim.walks {
        Some(walks) => walks,
        None if counts => Walk::Collection,
        None => Walk::Outside,
    };
    let needs_outside = !state.is_counted(resource);
    let held = state.collections.get(resource).filter(|_| counts);
    let needs_collection = match migration.reason {
        MigrationReason::RewriteAll => held.is_some_and(|held| held.len() > 0),
        MigrationReason::Agreement | MigrationReason::Manual => {
            left_in_collection(state, migration).is_some()
        }
    };
    let needed = match (needs_collection, needs_outside) {
        (true, true) => Walk::Both,
        (true, false) => Walk::Collection,
        (false, true) => Walk::Outside,
        (false, false) => return Ok(walks),
    };
    let is_enough = (walks.covers_collection() || !needs_collection)
        && (walks.covers_outside() || !needs_outside);
    if is_enough {
        return Ok(walks);
    }
    let why = format!(
        "a worker that walks {walks} leaves out objects that may be in another version: claim it for one that walks {needed}"
    );
    Err(elsewhere(migration, &why).with("walk", needed.as_str()))
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
