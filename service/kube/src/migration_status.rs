//! The status of a StorageVersionMigration: its conditions.
//!
//! The words are those of Kubernetes' own controller, so that tools which wait for it or quote it work unchanged.

use serde_json::{Value, json};
use synod_model::Migration;
use synod_proto::v1;

use crate::documents::{time, word};

const RUNNING: &str = "Running";
const SUCCEEDED: &str = "Succeeded";
const FAILED: &str = "Failed";

/// The conditions of a migration.
///
/// `Succeeded` and `Failed` are final, as in Kubernetes, until an operator retries a failed migration by hand: one that is tried
/// again by itself has not failed yet. A migration that no worker has claimed so far has no conditions.
pub(crate) fn conditions(migration: &v1::Migration) -> Value {
    let created = migration.metadata.as_ref().map(|own| own.creation_time_ms);
    let changed = time(migration.end_time_ms.or(created).unwrap_or_default());
    let generation = migration.metadata.as_ref().map_or(0, |own| own.generation);
    let condition = |kind: &str, status: bool, reason: &str, message: &str| {
        json!({
            "type": kind,
            "status": if status { "True" } else { "False" },
            "reason": reason,
            "message": message,
            "lastTransitionTime": changed,
            "observedGeneration": generation,
        })
    };
    let completed = || {
        let message = "The migration has completed";
        condition(RUNNING, false, "MigrationCompleted", message)
    };
    match migration.phase() {
        v1::MigrationPhase::Running => {
            let message = "The migration is running";
            json!([condition(RUNNING, true, "MigrationRunning", message)])
        }
        v1::MigrationPhase::Pending | v1::MigrationPhase::Failed if is_retried(migration) => {
            let message = format!("The migration is tried again: {}", failure(migration));
            json!([condition(RUNNING, false, "MigrationRetrying", &message)])
        }
        v1::MigrationPhase::Succeeded => {
            let message = "The migration has succeeded";
            let reason = "StorageVersionMigrationSucceeded";
            json!([completed(), condition(SUCCEEDED, true, reason, message)])
        }
        v1::MigrationPhase::Failed => {
            let why = failure(migration);
            let message = format!("migration encountered unhandled error: {why}");
            let reason = "StorageVersionMigrationFailed";
            json!([completed(), condition(FAILED, true, reason, &message)])
        }
        v1::MigrationPhase::Aborted => {
            let cause = word(migration.aborted().as_str_name(), "ABORT_CAUSE_");
            let (reason, message) = (format!("Aborted{cause}"), "The migration was aborted");
            json!([completed(), condition(FAILED, true, &reason, message)])
        }
        v1::MigrationPhase::Pending | v1::MigrationPhase::Unspecified => json!([]),
    }
}

/// Returns whether a migration that a worker gave up is tried again by itself.
fn is_retried(migration: &v1::Migration) -> bool {
    let class = migration.failure.as_ref().map(v1::MigrationFailure::class);
    let may_pass = matches!(
        class,
        Some(v1::FailureClass::Transient | v1::FailureClass::Rejected)
    );
    may_pass && (1..Migration::ATTEMPTS_MAX).contains(&migration.failures)
}

/// The class and the reason of the last failure.
fn failure(migration: &v1::Migration) -> String {
    let failure = migration.failure.clone().unwrap_or_default();
    let class = word(failure.class().as_str_name(), "FAILURE_CLASS_");
    match failure.reason.as_str() {
        "" => class,
        reason => format!("{class}: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(failures: u32, class: v1::FailureClass) -> v1::Migration {
        v1::Migration {
            phase: v1::MigrationPhase::Failed.into(),
            failures,
            failure: Some(v1::MigrationFailure {
                class: class.into(),
                reason: "no".to_owned(),
            }),
            ..v1::Migration::default()
        }
    }

    /// Type, status and message of each condition.
    fn shown(migration: &v1::Migration) -> Vec<String> {
        let all = conditions(migration);
        let all = all.as_array().into_iter().flatten();
        let of = |one: &Value, field: &str| one[field].as_str().unwrap_or_default().to_owned();
        all.map(|one| {
            ["type", "status", "message"]
                .map(|field| of(one, field))
                .join(" ")
        })
        .collect()
    }

    #[test]
    fn a_migration_that_is_tried_again_has_not_failed() {
        let mut again = failed(1, v1::FailureClass::Transient);
        let expected = ["Running False The migration is tried again: Transient: no"];
        assert_eq!(shown(&again), expected);
        again.phase = v1::MigrationPhase::Pending.into();
        assert_eq!(shown(&again), expected);
        // An operator has retried it.
        again.failures = 0;
        assert!(shown(&again).is_empty());
    }

    #[test]
    fn a_migration_that_is_given_up_has_failed() {
        for given_up in [
            failed(1, v1::FailureClass::Forbidden),
            failed(Migration::ATTEMPTS_MAX, v1::FailureClass::Transient),
        ] {
            let found = shown(&given_up);
            assert_eq!(found[0], "Running False The migration has completed");
            let message = "migration encountered unhandled error: ";
            assert!(
                found[1].starts_with(&format!("Failed True {message}")),
                "{found:?}"
            );
        }
    }

    #[test]
    fn an_aborted_migration_has_failed() {
        let aborted = v1::Migration {
            phase: v1::MigrationPhase::Aborted.into(),
            aborted: v1::AbortCause::AgreementMoved.into(),
            ..v1::Migration::default()
        };
        let shown = conditions(&aborted);
        assert_eq!(shown[0]["reason"], "MigrationCompleted");
        assert_eq!(shown[1]["type"], "Failed");
        assert_eq!(shown[1]["reason"], "AbortedAgreementMoved");
    }
}
