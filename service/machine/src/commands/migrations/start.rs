//! `StartMigration`: creates a migration to the agreed encoding on request.

use synod_model::{ErrorKind, MigrationPhase, Refusal, StartMigration};

use crate::Answer;
use crate::migrating::{no_agreement, objected};
use crate::turn::Turn;

pub(crate) fn apply(turn: &mut Turn<'_>, start: &StartMigration) -> Result<Answer, Refusal> {
    let state = turn.state();
    let resource = &start.resource;
    if let Some(alias) = &start.alias {
        state.check_alias(alias)?;
    }
    let Some(kept) = state.state_of(resource) else {
        return Err(Refusal::new(
            ErrorKind::NotFound,
            format!("resource \"{resource}\" was never reported or observed, so there is nothing to migrate"),
        )
        .with("resource", resource.storage_version_name()));
    };
    let Some(agreement) = kept.row.status.agreement() else {
        let why = "there is no agreement on a version to migrate to";
        return Err(objected(no_agreement(resource, why), &kept.row.status));
    };
    state.check_observation(resource)?;
    let present = state.migrations_of(resource).find(|migration| {
        migration.agreement_revision == agreement
            && migration.reason == start.reason
            && (migration.is_open() || migration.phase == MigrationPhase::Failed)
    });
    if let Some(present) = present {
        return Err(Refusal::new(
            ErrorKind::AlreadyExists,
            format!(
                "migration \"{}\" of this reason is {}: let it run, retry it, or abort it first",
                present.id, present.phase
            ),
        )
        .with("migration", &present.id));
    }
    if state.is_full() {
        let message = "the state is full: delete what is not needed or raise state_quota_bytes";
        return Err(Refusal::new(ErrorKind::Quota, message));
    }
    Ok(Answer::MigrationStarted(turn.start_migration(
        resource,
        start.reason,
        start.alias.clone(),
    )))
}
