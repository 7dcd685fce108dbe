//! The commands on migrations, one file each, and the checks that they share.

use synod_model::{
    ApiVersion, ClaimToken, ErrorKind, Migration, MigrationId, Refusal, StorageVersionHash,
};

use crate::State;

pub(crate) mod abort;
pub(crate) mod claim;
pub(crate) mod complete;
pub(crate) mod delete;
pub(crate) mod fail;
pub(crate) mod progress;
pub(crate) mod release;
pub(crate) mod retry;
pub(crate) mod start;

/// The migration, if this claim holds it.
///
/// # Errors
///
/// `NOT_FOUND`; `CONFLICT` if it is not running, or a later claim holds it.
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

/// An encoding other than the target's that objects of the resource's collection have, and how many of them.
fn left_in_collection(state: &State, migration: &Migration) -> Option<(ApiVersion, u64)> {
    let resource = migration.id.resource();
    let held = state.collections.get(resource);
    let held = held.filter(|_| state.counts_objects(resource))?;
    let target = &migration.target;
    held.counts().into_iter().find(|(encoding, _)| {
        target.version.as_ref() != Some(encoding)
            && StorageVersionHash::of_version(encoding, &held.row.kind) != target.hash
    })
}

/// The refusal of a command that the migration's present phase does not allow.
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
