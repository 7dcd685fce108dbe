use crate::{
    AbortCause, FailureClass, Labels, Migration, MigrationCompleted, MigrationFailure,
    MigrationPage, MigrationPhase, MigrationProgress, MigrationReason, MigrationView,
};
use serde_json::{Value, json};

use super::safety::{assumed, assumption};
use super::{Object, header, list, metadata, millis, number, resource, revision, text, version};

/// The message `MigrationsListResponse`, with the items of all pages.
pub fn migration_page(page: &MigrationPage) -> Value {
    json!({"header": header(&page.header), "migrations": list(&page.items, migration)})
}

/// The message `MigrationsGetResponse`.
pub fn migration_view(view: &MigrationView) -> Value {
    Object::new()
        .with("header", header(&view.header))
        .with("migration", migration(&view.migration))
        .with_some("progress", view.progress.as_ref().map(progress))
        .into()
}

/// The message `MigrationProgress`.
fn progress(progress: &MigrationProgress) -> Value {
    let token = progress.continue_token.as_ref();
    Object::new()
        .with("done", number(progress.done))
        .with_some("estimate", progress.estimate.map(number))
        .with(
            "continueToken",
            token.map(ToString::to_string).unwrap_or_default(),
        )
        .into()
}

/// The message `Migration`.
pub fn migration(migration: &Migration) -> Value {
    let claim = migration.claim.as_ref().map(|claim| {
        json!({
            "worker": text(&claim.worker),
            "token": revision(claim.token.revision()),
            "ttlMs": millis(claim.ttl.duration()),
        })
    });
    let failure = migration.failure.as_ref().map(migration_failure);
    let name = migration.id.to_string();
    Object::new()
        .with(
            "metadata",
            metadata(&name, &migration.metadata, &Labels::default()),
        )
        .with("resource", resource(migration.id.resource()))
        .with("targetHash", text(migration.target.hash))
        .with_some("targetVersion", version(migration.target.version.as_ref()))
        .with("agreementRevision", revision(migration.agreement_revision))
        .with("reason", reason(migration.reason))
        .with("phase", phase(migration.phase))
        .with_some("claim", claim)
        .with("failures", migration.failures)
        .with_some("failure", failure)
        .with_some("aborted", migration.aborted.map(cause))
        .with("done", number(migration.done))
        .with_some("estimate", migration.estimate.map(number))
        .with_some(
            "endTimeMs",
            migration.ended.map(|ended| number(ended.as_millis())),
        )
        .with("assumption", assumption(migration.assumption))
        .into()
}

const fn reason(reason: MigrationReason) -> &'static str {
    match reason {
        MigrationReason::Agreement => "MIGRATION_REASON_AGREEMENT",
        MigrationReason::Manual => "MIGRATION_REASON_MANUAL",
        MigrationReason::RewriteAll => "MIGRATION_REASON_REWRITE_ALL",
    }
}

const fn phase(phase: MigrationPhase) -> &'static str {
    match phase {
        MigrationPhase::Pending => "MIGRATION_PHASE_PENDING",
        MigrationPhase::Running => "MIGRATION_PHASE_RUNNING",
        MigrationPhase::Succeeded => "MIGRATION_PHASE_SUCCEEDED",
        MigrationPhase::Failed => "MIGRATION_PHASE_FAILED",
        MigrationPhase::Aborted => "MIGRATION_PHASE_ABORTED",
    }
}

const fn cause(cause: AbortCause) -> &'static str {
    match cause {
        AbortCause::NoAgreement => "ABORT_CAUSE_NO_AGREEMENT",
        AbortCause::AgreementMoved => "ABORT_CAUSE_AGREEMENT_MOVED",
        AbortCause::Requested => "ABORT_CAUSE_REQUESTED",
        AbortCause::StorageUnknown => "ABORT_CAUSE_STORAGE_UNKNOWN",
    }
}

const fn class(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Transient => "FAILURE_CLASS_TRANSIENT",
        FailureClass::Rejected => "FAILURE_CLASS_REJECTED",
        FailureClass::NotSupported => "FAILURE_CLASS_NOT_SUPPORTED",
        FailureClass::Forbidden => "FAILURE_CLASS_FORBIDDEN",
        FailureClass::Undecodable => "FAILURE_CLASS_UNDECODABLE",
    }
}

/// The message `MigrationsCompleteResponse`.
pub fn migration_completed(completed: &MigrationCompleted) -> Value {
    json!({
        "header": header(&completed.header),
        "assumptions": list(&completed.assumptions, assumed),
    })
}

/// The message `MigrationFailure`.
pub fn migration_failure(failure: &MigrationFailure) -> Value {
    json!({"class": class(failure.class), "reason": text(&failure.reason)})
}
