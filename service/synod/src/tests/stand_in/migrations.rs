//! The migrations of the fixture, and a safety verdict.

use synod_client::Assumption;
use synod_proto::v1;

use super::{HOUR, LOG_TIME_MS, MINUTE, NOW_MS, header, metadata, resource};

/// A running, a failed, an aborted and a succeeded migration; the success assumes that there is no roster.
pub(super) fn migrations() -> v1::MigrationsListResponse {
    v1::MigrationsListResponse {
        header: Some(header()),
        migrations: vec![running(), failed(), aborted(), succeeded()],
        continue_token: String::new(),
        inconsistent: false,
    }
}

/// The first migration, with progress that its row does not show yet.
pub(super) fn migration() -> v1::MigrationsGetResponse {
    v1::MigrationsGetResponse {
        header: Some(header()),
        migration: Some(running()),
        progress: Some(v1::MigrationProgress {
            done: 1_750,
            estimate: Some(10_000),
            continue_token: "after-1750".to_owned(),
        }),
    }
}

/// A version with five dangers, and what a safe answer would assume.
pub(super) fn dangers() -> v1::StorageVersionsCheckDropResponse {
    use v1::DangerReason::{Absent, Draining, PersistedUnknown, Reported, Snapshot};
    let danger = |reason: v1::DangerReason, message: &str| v1::Danger {
        resource: Some(resource("batch", "jobs")),
        reason: reason.into(),
        message: message.to_owned(),
        ..v1::Danger::default()
    };
    v1::StorageVersionsCheckDropResponse {
        header: Some(header()),
        safe: false,
        dangers: vec![
            danger(
                PersistedUnknown,
                "objects may be stored in versions that nobody can name",
            ),
            v1::Danger {
                version: "batch/v1".to_owned(),
                member: "server-a".to_owned(),
                ..danger(Reported, "server-a encodes batch/v1")
            },
            v1::Danger {
                version: "batch/v1".to_owned(),
                until_log_time_ms: LOG_TIME_MS + 42_000,
                ..danger(Draining, "writes in batch/v1 may still land")
            },
            v1::Danger {
                snapshot: "team-a/web-5b7d4c".to_owned(),
                version: "batch/v1".to_owned(),
                ..danger(
                    Snapshot,
                    "ControllerRevision team-a/web-5b7d4c is in batch/v1",
                )
            },
            v1::Danger {
                member: "server-c".to_owned(),
                ..danger(
                    Absent,
                    "the roster asks for server-c, which does not speak for it",
                )
            },
        ],
        omitted: 0,
        log_time_ms: LOG_TIME_MS,
        assumptions: vec![v1::Assumption {
            reason: v1::AssumptionReason::NoRoster.into(),
            message: Assumption::NoRoster.sentence(false).to_owned(),
            resources: vec![resource("batch", "jobs")],
            omitted: 0,
        }],
    }
}

fn running() -> v1::Migration {
    v1::Migration {
        phase: v1::MigrationPhase::Running.into(),
        claim: Some(v1::MigrationClaim {
            worker: "worker-a".to_owned(),
            token: 44,
            ttl_ms: 15_000,
            ..v1::MigrationClaim::default()
        }),
        done: 1_200,
        estimate: Some(10_000),
        alias: Some("jobs-to-v1".to_owned()),
        ..named("jobs.batch-41", 41, MINUTE, resource("batch", "jobs"))
    }
}

fn failed() -> v1::Migration {
    v1::Migration {
        reason: v1::MigrationReason::RewriteAll.into(),
        phase: v1::MigrationPhase::Failed.into(),
        failures: 2,
        failure: Some(v1::MigrationFailure {
            class: v1::FailureClass::Undecodable.into(),
            reason: "default/my-pod cannot be decoded".to_owned(),
        }),
        end_time_ms: Some(NOW_MS - MINUTE),
        ..named("pods-30", 30, HOUR, resource("", "pods"))
    }
}

fn aborted() -> v1::Migration {
    v1::Migration {
        reason: v1::MigrationReason::Manual.into(),
        phase: v1::MigrationPhase::Aborted.into(),
        aborted: v1::AbortCause::NoAgreement.into(),
        end_time_ms: Some(NOW_MS - HOUR),
        ..named("pods-20", 20, 2 * HOUR, resource("", "pods"))
    }
}

fn succeeded() -> v1::Migration {
    v1::Migration {
        phase: v1::MigrationPhase::Succeeded.into(),
        done: 40,
        end_time_ms: Some(NOW_MS - 2 * HOUR),
        assumption: v1::AssumptionReason::NoRoster.into(),
        ..named("pods-12", 12, 3 * HOUR, resource("", "pods"))
    }
}

fn named(name: &str, number: u64, age_ms: u64, of: v1::GroupResource) -> v1::Migration {
    let version = if of.group.is_empty() {
        "v1"
    } else {
        "batch/v1"
    };
    v1::Migration {
        metadata: Some(metadata(name, number, age_ms)),
        resource: Some(of),
        target_hash: "mudhfqk/qZY=".to_owned(),
        target_version: Some(version.to_owned()),
        agreement_revision: number - 1,
        reason: v1::MigrationReason::Agreement.into(),
        ..v1::Migration::default()
    }
}
