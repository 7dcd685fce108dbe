//! Migrations, as a replica of the fixture answers them, and what they make safe.

use synod_proto::v1;

use super::{HOUR, LOG_TIME_MS, MINUTE, NOW_MS, header, metadata, resource};

/// One that runs, one that failed, and one that was aborted.
pub(super) fn migrations() -> v1::MigrationsListResponse {
    v1::MigrationsListResponse {
        header: Some(header()),
        migrations: vec![running(), failed(), aborted()],
        continue_token: String::new(),
        inconsistent: false,
    }
}

/// The first of them, which is further than it shows.
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

/// A version that three things speak against.
pub(super) fn dangers() -> v1::StorageVersionsCheckDropResponse {
    use v1::DangerReason::{Draining, PersistedUnknown, Reported};
    let danger = |reason: v1::DangerReason| v1::Danger {
        resource: Some(resource("batch", "jobs")),
        reason: reason.into(),
        ..v1::Danger::default()
    };
    v1::StorageVersionsCheckDropResponse {
        header: Some(header()),
        safe: false,
        dangers: vec![
            danger(PersistedUnknown),
            v1::Danger {
                version: "batch/v1".to_owned(),
                member: "server-a".to_owned(),
                ..danger(Reported)
            },
            v1::Danger {
                version: "batch/v1".to_owned(),
                until_log_time_ms: LOG_TIME_MS + 42_000,
                ..danger(Draining)
            },
        ],
        omitted: 0,
        log_time_ms: LOG_TIME_MS,
    }
}

fn running() -> v1::Migration {
    v1::Migration {
        phase: v1::MigrationPhase::Running.into(),
        claim: Some(v1::MigrationClaim {
            worker: "worker-a".to_owned(),
            token: 44,
            ttl_ms: 15_000,
        }),
        done: 1_200,
        estimate: Some(10_000),
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
