//! The status of a StorageVersionMigration: its conditions, and the rules for one that a client sends.
//!
//! The words are those of Kubernetes' own controller, so that tools which wait for it or quote it work unchanged.

use serde_json::{Value, json};
use synod_model::{Migration, Violation};
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

/// The faults of a status that is to replace another one: each with its field and the rule.
pub(crate) fn faults(old: &Value, new: &Value) -> Vec<(String, String)> {
    let is = |status: &Value, kind: &str| {
        let conditions = status["conditions"].as_array().into_iter().flatten();
        let mut of_kind = conditions.filter(|condition| condition["type"] == kind);
        of_kind.any(|condition| condition["status"] == "True")
    };
    let [runs, succeeded, failed] = [RUNNING, SUCCEEDED, FAILED].map(|kind| is(new, kind));
    let rules = [
        (
            succeeded && failed,
            "Both success and failed conditions cannot be true at the same time",
        ),
        (
            succeeded && runs,
            "Running condition cannot be true when success condition is true",
        ),
        (
            failed && runs,
            "Running condition cannot be true when failed condition is true",
        ),
        (
            is(old, SUCCEEDED) && !succeeded,
            "Success condition cannot be set to false once it is true",
        ),
        (
            is(old, FAILED) && !failed,
            "Failed condition cannot be set to false once it is true",
        ),
    ];
    let broken = rules.into_iter().filter(|(is_broken, _)| *is_broken);
    let value = new["conditions"].to_string();
    broken
        .map(|(_, rule)| {
            let fault = Violation::invalid(&value, rule);
            ("status.conditions".to_owned(), fault.rule)
        })
        .collect()
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

    #[test]
    fn a_status_is_checked_as_a_whole() {
        let of = |kinds: &[&str]| {
            let all = kinds.iter();
            let all = all.map(|kind| json!({"type": kind, "status": "True"}));
            json!({ "conditions": all.collect::<Vec<_>>() })
        };
        let found = |old: &[&str], new: &[&str]| faults(&of(old), &of(new)).len();
        assert_eq!(found(&[], &[]), 0);
        assert_eq!(found(&["Running"], &["Failed"]), 0);
        assert_eq!(found(&[], &["Running", "Succeeded", "Failed"]), 3);
        assert_eq!(found(&["Succeeded", "Failed"], &["Running"]), 2);
        assert_eq!(faults(&of(&["Failed"]), &Value::Null).len(), 1);
    }
}
