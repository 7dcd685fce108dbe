//! Counts which steps of migrations the random logs reach.

use synod_machine::Command;
use synod_model::{AbortCause, Migration, MigrationPhase, Refusal};

use super::Reached;

/// What is there already, by which something new was refused.
pub(super) fn over_existing(refusal: &Refusal) -> &'static str {
    match refusal.metadata.contains_key("alias") {
        true => "refused: ALREADY_EXISTS of an alias",
        false => "refused: ALREADY_EXISTS",
    }
}

impl Reached {
    /// Counts why a migration was created, or how it ended.
    pub(super) fn look_at_migration(
        &mut self,
        command: &Command,
        before: Option<&Migration>,
        after: Option<&Migration>,
    ) {
        let Some(after) = after else {
            let is_deleted = matches!(command, Command::DeleteMigration(_));
            let had_claim = before.is_some_and(|before| before.claim.is_some());
            return self.came_to(match (is_deleted, had_claim) {
                (true, true) => "a claimed migration was deleted",
                (true, false) => "a migration was deleted",
                (false, _) => "an old migration was forgotten",
            });
        };
        let Some(before) = before else {
            return self.came_to(match command {
                Command::Report(_) | Command::Adopt(_) => "a migration was created by a report",
                Command::ObserveStorage(_) => "a migration was created by an observation",
                Command::Leave(_) | Command::Expire(_) => "a migration was created by a departure",
                Command::SetRoster(_) | Command::DeleteRoster(_) => {
                    "a migration was created by a roster"
                }
                Command::Join(_) => "a migration was created by a join",
                Command::StartMigration(_)
                | Command::ResetStorageStates(_)
                | Command::DismissLooks(_) => "a migration was created by hand",
                other => panic!("this creates no migration: {other:?}"),
            });
        };
        self.came_to(match (after.phase, after.aborted) {
            (MigrationPhase::Aborted, _) if matches!(command, Command::Restore(_)) => {
                "a restore aborted a migration"
            }
            (MigrationPhase::Aborted, Some(cause)) => match cause {
                AbortCause::NoAgreement => "a migration was aborted without an agreement",
                AbortCause::AgreementMoved => "a migration was aborted by another agreement",
                AbortCause::Requested => "a migration was aborted by hand",
                AbortCause::StorageUnknown => {
                    "a migration was aborted because the store became unknown"
                }
            },
            (MigrationPhase::Pending, _) if matches!(command, Command::ReleaseMigration(_)) => {
                "a worker gave its claim back"
            }
            (MigrationPhase::Pending, _) if before.claim.is_some() => {
                "a silent worker lost its claim"
            }
            (MigrationPhase::Pending, _) => "a failed migration was tried again",
            (MigrationPhase::Running, _) if before.claim.is_some() => "progress was shown",
            (MigrationPhase::Running, _) => "a migration was claimed",
            (MigrationPhase::Succeeded, _) => "a migration succeeded",
            (_, _) => "a migration failed",
        });
    }
}
