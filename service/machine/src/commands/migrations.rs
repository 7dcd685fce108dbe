//! What can be done to a migration.

use synod_model::{ClaimToken, ErrorKind, Migration, MigrationId, Refusal};

use crate::State;

pub(crate) mod abort;
pub(crate) mod claim;
pub(crate) mod complete;
pub(crate) mod fail;
pub(crate) mod progress;
pub(crate) mod retry;
pub(crate) mod start;

/// The migration, if it is this claim's.
///
/// # Errors
///
/// `NOT_FOUND`; `CONFLICT` if it is not running, or another worker has it by a later claim.
fn claimed<'a>(
    state: &'a State,
    id: &MigrationId,
    token: ClaimToken,
) -> Result<&'a Migration, Refusal> {
    let migration = state.migration(id)?;
    match &migration.claim {
        Some(claim) if claim.token == token => Ok(migration),
        Some(claim) => Err(elsewhere(
            migration,
            &format!("worker \"{}\" has claimed it since", claim.worker),
        )),
        None => Err(elsewhere(
            migration,
            "the claim has ended: stop working at it",
        )),
    }
}

/// The refusal of what cannot be done to a migration that stands where it does.
fn elsewhere(migration: &Migration, why: &str) -> Refusal {
    Refusal::new(
        ErrorKind::Conflict,
        format!(
            "migration \"{}\" is {}: {why}",
            migration.id, migration.phase
        ),
    )
    .with("migration", &migration.id)
    .with("phase", migration.phase)
}
