//! Migrations, and what is kept beside them.

use std::collections::BTreeSet;
use std::sync::Arc;

use synod_machine::{Change, Command, Heartbeat, ProgressRow, Row};
use synod_model::{
    AbortCause, AbortMigration, Assumption, Claim, ClaimMigration, ClaimToken, CompleteMigration,
    ContinueToken, FailMigration, FailureClass, FailureReason, GroupResource, LogTime, Migration,
    MigrationFailure, MigrationId, MigrationPhase, MigrationProgress, MigrationReason,
    MigrationTarget, ObserveStorage, ReportMigrationProgress, ResetStorageStates, RetryMigration,
    Revision, StartMigration, StorageVersionHash, WallTime, WorkerName,
};
use synod_proto::storage::v1 as pb;

use super::CodecError;
use super::values::{
    kind, metadata_from_pb, metadata_to_pb, optional_version, parsed, required, resource_from_pb,
    resource_to_pb, storage_version_hash, text, ttl,
};

type Result<T> = std::result::Result<T, CodecError>;

pub(super) fn id_to_pb(id: &MigrationId) -> pb::MigrationId {
    pb::MigrationId {
        resource: Some(resource_to_pb(id.resource())),
        number: id.number().get(),
    }
}

pub(super) fn id_from_pb(id: Option<pb::MigrationId>) -> Result<MigrationId> {
    let id = required("migration", id)?;
    Ok(MigrationId::new(
        resource_from_pb(id.resource)?,
        Revision::new(id.number),
    ))
}

pub(super) fn row_to_pb(migration: &Migration) -> pb::MigrationRow {
    pb::MigrationRow {
        id: Some(id_to_pb(&migration.id)),
        metadata: Some(metadata_to_pb(&migration.metadata)),
        target_hash: migration.target.hash.as_bytes().to_vec().into(),
        target_version: text(migration.target.version.as_ref()),
        agreement_revision: migration.agreement_revision.get(),
        reason: reason_to_pb(migration.reason).into(),
        phase: phase_to_pb(migration.phase).into(),
        claim: migration.claim.as_ref().map(|claim| pb::MigrationClaim {
            worker: claim.worker.to_string(),
            token: claim.token.get(),
            ttl_ms: claim.ttl.as_millis(),
        }),
        failures: migration.failures,
        failure: migration
            .failure
            .as_ref()
            .map(|failure| failure_to_pb(failure.class, &failure.reason)),
        aborted: cause_to_pb(migration.aborted).into(),
        done: migration.done,
        estimate: migration.estimate,
        ended_ms: migration.ended.map(WallTime::as_millis),
        assumption: assumption_to_pb(migration.assumption).into(),
    }
}

pub(super) fn row_from_pb(row: pb::MigrationRow) -> Result<Migration> {
    let (reason, phase, aborted) = (row.reason(), row.phase(), row.aborted());
    let assumption = assumption_from_pb(row.assumption());
    let claim = row.claim.map(|claim| {
        Ok(Claim {
            worker: worker(&claim.worker)?,
            token: token(claim.token),
            ttl: ttl(claim.ttl_ms)?,
        })
    });
    let failure = row.failure.map(|failure| {
        let (class, reason) = failure_from_pb(Some(failure))?;
        Ok(MigrationFailure { class, reason })
    });
    Ok(Migration {
        id: id_from_pb(row.id)?,
        metadata: metadata_from_pb(row.metadata)?,
        target: MigrationTarget {
            hash: storage_version_hash("target_hash", &row.target_hash)?,
            version: optional_version("target_version", row.target_version.as_deref())?,
        },
        agreement_revision: Revision::new(row.agreement_revision),
        reason: reason_from_pb(reason)?,
        phase: phase_from_pb(phase)?,
        claim: claim.transpose()?,
        failures: row.failures,
        failure: failure.transpose()?,
        aborted: cause_from_pb(aborted),
        done: row.done,
        estimate: row.estimate,
        ended: row.ended_ms.map(WallTime::from_millis),
        assumption,
    })
}

/// The migration before and after.
pub(super) fn change_to_pb(
    id: &MigrationId,
    sides: [&Option<Arc<Migration>>; 2],
) -> pb::change::Object {
    let [before, after] = sides.map(|side| side.as_deref().map(row_to_pb));
    pb::change::Object::Migration(pb::MigrationChange {
        id: Some(id_to_pb(id)),
        before,
        after,
    })
}

pub(super) fn change_from_pb(change: pb::MigrationChange) -> Result<Change> {
    Ok(Change::Migration {
        id: id_from_pb(change.id)?,
        before: change.before.map(shared_row_from_pb).transpose()?,
        after: change.after.map(shared_row_from_pb).transpose()?,
    })
}

pub(super) fn shared_row_from_pb(row: pb::MigrationRow) -> Result<Arc<Migration>> {
    row_from_pb(row)
        .map(Arc::new)
        .map_err(|fault| fault.within("migration"))
}

pub(super) fn progress_row_to_pb(id: &MigrationId, row: &ProgressRow) -> pb::MigrationProgressRow {
    pb::MigrationProgressRow {
        id: Some(id_to_pb(id)),
        progress: Some(progress_to_pb(&row.progress)),
        shown_at_ms: row.shown_at.as_millis(),
    }
}

pub(super) fn progress_row_from_pb(row: pb::MigrationProgressRow) -> Result<Row> {
    let progress = ProgressRow {
        progress: progress_from_pb(row.progress)?,
        shown_at: LogTime::from_millis(row.shown_at_ms),
    };
    Ok(Row::MigrationProgress(
        id_from_pb(row.id)?,
        Arc::new(progress),
    ))
}

pub(super) fn heartbeat_to_pb(resource: &GroupResource, heartbeat: Heartbeat) -> pb::HeartbeatRow {
    pb::HeartbeatRow {
        resource: Some(resource_to_pb(resource)),
        at_ms: heartbeat.at.as_millis(),
        wall_ms: heartbeat.wall.as_millis(),
    }
}

pub(super) fn heartbeat_from_pb(row: pb::HeartbeatRow) -> Result<Row> {
    let heartbeat = Heartbeat {
        at: LogTime::from_millis(row.at_ms),
        wall: WallTime::from_millis(row.wall_ms),
    };
    Ok(Row::Heartbeat(resource_from_pb(row.resource)?, heartbeat))
}

pub(super) fn progress_to_pb(progress: &MigrationProgress) -> pb::MigrationProgress {
    pb::MigrationProgress {
        done: progress.done,
        estimate: progress.estimate,
        continue_token: progress.continue_token.as_ref().map(ToString::to_string),
    }
}

pub(super) fn progress_from_pb(
    progress: Option<pb::MigrationProgress>,
) -> Result<MigrationProgress> {
    let progress = required("progress", progress)?;
    let token = progress.continue_token.as_deref().map(ContinueToken::parse);
    Ok(MigrationProgress {
        done: progress.done,
        estimate: progress.estimate,
        continue_token: parsed("progress.continue_token", token.transpose())?,
    })
}

pub(super) fn start_to_pb(start: &StartMigration) -> pb::envelope::Command {
    pb::envelope::Command::StartMigration(pb::StartMigration {
        resource: Some(resource_to_pb(&start.resource)),
        reason: reason_to_pb(start.reason).into(),
    })
}

pub(super) fn start_from_pb(start: pb::StartMigration) -> Result<Command> {
    let reason = reason_from_pb(start.reason())?;
    Ok(Command::StartMigration(StartMigration {
        resource: resource_from_pb(start.resource)?,
        reason,
    }))
}

pub(super) fn claim_to_pb(claim: &ClaimMigration) -> pb::envelope::Command {
    pb::envelope::Command::ClaimMigration(pb::ClaimMigration {
        id: Some(id_to_pb(&claim.id)),
        worker: claim.worker.to_string(),
        ttl_ms: claim.ttl.as_millis(),
    })
}

pub(super) fn claim_from_pb(claim: pb::ClaimMigration) -> Result<Command> {
    Ok(Command::ClaimMigration(ClaimMigration {
        id: id_from_pb(claim.id)?,
        worker: worker(&claim.worker)?,
        ttl: ttl(claim.ttl_ms)?,
    }))
}

pub(super) fn report_to_pb(report: &ReportMigrationProgress) -> pb::envelope::Command {
    pb::envelope::Command::ReportMigrationProgress(pb::ReportMigrationProgress {
        claim: Some(key_to_pb(&report.id, report.token)),
        progress: Some(progress_to_pb(&report.progress)),
    })
}

pub(super) fn report_from_pb(report: pb::ReportMigrationProgress) -> Result<Command> {
    let (id, token) = key_from_pb(report.claim)?;
    Ok(Command::ReportMigrationProgress(ReportMigrationProgress {
        id,
        token,
        progress: progress_from_pb(report.progress)?,
    }))
}

pub(super) fn complete_to_pb(complete: &CompleteMigration) -> pb::envelope::Command {
    pb::envelope::Command::CompleteMigration(pb::CompleteMigration {
        claim: Some(key_to_pb(&complete.id, complete.token)),
    })
}

pub(super) fn complete_from_pb(complete: pb::CompleteMigration) -> Result<Command> {
    let (id, token) = key_from_pb(complete.claim)?;
    Ok(Command::CompleteMigration(CompleteMigration { id, token }))
}

pub(super) fn fail_to_pb(fail: &FailMigration) -> pb::envelope::Command {
    pb::envelope::Command::FailMigration(pb::FailMigration {
        claim: Some(key_to_pb(&fail.id, fail.token)),
        failure: Some(failure_to_pb(fail.class, &fail.reason)),
    })
}

pub(super) fn fail_from_pb(fail: pb::FailMigration) -> Result<Command> {
    let (id, token) = key_from_pb(fail.claim)?;
    let (class, reason) = failure_from_pb(fail.failure)?;
    Ok(Command::FailMigration(FailMigration {
        id,
        token,
        class,
        reason,
    }))
}

pub(super) fn abort_to_pb(abort: &AbortMigration) -> pb::envelope::Command {
    pb::envelope::Command::AbortMigration(pb::AbortMigration {
        id: Some(id_to_pb(&abort.id)),
    })
}

pub(super) fn abort_from_pb(abort: pb::AbortMigration) -> Result<Command> {
    Ok(Command::AbortMigration(AbortMigration {
        id: id_from_pb(abort.id)?,
    }))
}

pub(super) fn retry_to_pb(retry: &RetryMigration) -> pb::envelope::Command {
    pb::envelope::Command::RetryMigration(pb::RetryMigration {
        id: Some(id_to_pb(&retry.id)),
    })
}

pub(super) fn retry_from_pb(retry: pb::RetryMigration) -> Result<Command> {
    Ok(Command::RetryMigration(RetryMigration {
        id: id_from_pb(retry.id)?,
    }))
}

pub(super) fn observe_to_pb(observe: &ObserveStorage) -> pb::envelope::Command {
    pb::envelope::Command::ObserveStorage(pb::ObserveStorage {
        resource: Some(resource_to_pb(&observe.resource)),
        hashes: hashes_to_pb(&observe.hashes),
        kind: observe.kind.as_ref().map(ToString::to_string),
        if_revision: observe.if_revision.map(Revision::get),
    })
}

pub(super) fn observe_from_pb(observe: pb::ObserveStorage) -> Result<Command> {
    Ok(Command::ObserveStorage(ObserveStorage {
        resource: resource_from_pb(observe.resource)?,
        hashes: hashes_from_pb("observe_storage.hashes", &observe.hashes)?,
        kind: observe.kind.as_deref().map(kind).transpose()?,
        if_revision: observe.if_revision.map(Revision::new),
    }))
}

pub(super) fn reset_to_pb(reset: &ResetStorageStates) -> pb::envelope::Command {
    pb::envelope::Command::ResetStorageStates(pb::ResetStorageStates {
        resource: reset.resource.as_ref().map(resource_to_pb),
    })
}

pub(super) fn reset_from_pb(reset: pb::ResetStorageStates) -> Result<Command> {
    let resource = reset.resource;
    let resource = resource.map(|resource| resource_from_pb(Some(resource)));
    Ok(Command::ResetStorageStates(ResetStorageStates {
        resource: resource.transpose()?,
    }))
}

pub(super) fn claims_to_pb(claims: &BTreeSet<(MigrationId, ClaimToken)>) -> Vec<pb::ClaimKey> {
    let claims = claims.iter();
    claims.map(|(id, token)| key_to_pb(id, *token)).collect()
}

pub(super) fn claims_from_pb(
    claims: Vec<pb::ClaimKey>,
) -> Result<BTreeSet<(MigrationId, ClaimToken)>> {
    let claims = claims.into_iter();
    claims.map(|claim| key_from_pb(Some(claim))).collect()
}

pub(super) fn hashes_to_pb(hashes: &BTreeSet<StorageVersionHash>) -> Vec<bytes::Bytes> {
    let hashes = hashes.iter();
    hashes.map(|hash| hash.as_bytes().to_vec().into()).collect()
}

pub(super) fn hashes_from_pb(
    field: &str,
    hashes: &[bytes::Bytes],
) -> Result<BTreeSet<StorageVersionHash>> {
    let hashes = hashes.iter();
    hashes
        .map(|hash| storage_version_hash(field, hash))
        .collect()
}

pub(super) fn token(number: u64) -> ClaimToken {
    ClaimToken::new(Revision::new(number))
}

fn key_to_pb(id: &MigrationId, token: ClaimToken) -> pb::ClaimKey {
    pb::ClaimKey {
        id: Some(id_to_pb(id)),
        token: token.get(),
    }
}

fn key_from_pb(claim: Option<pb::ClaimKey>) -> Result<(MigrationId, ClaimToken)> {
    let claim = required("claim", claim)?;
    Ok((id_from_pb(claim.id)?, token(claim.token)))
}

fn worker(text: &str) -> Result<WorkerName> {
    parsed("worker", WorkerName::parse(text))
}

fn failure_to_pb(class: FailureClass, reason: &FailureReason) -> pb::MigrationFailure {
    let class = match class {
        FailureClass::Transient => pb::FailureClass::Transient,
        FailureClass::Rejected => pb::FailureClass::Rejected,
        FailureClass::NotSupported => pb::FailureClass::NotSupported,
        FailureClass::Forbidden => pb::FailureClass::Forbidden,
        FailureClass::Undecodable => pb::FailureClass::Undecodable,
    };
    pb::MigrationFailure {
        class: class.into(),
        reason: reason.to_string(),
    }
}

fn failure_from_pb(failure: Option<pb::MigrationFailure>) -> Result<(FailureClass, FailureReason)> {
    let failure = required("failure", failure)?;
    let class = match failure.class() {
        pb::FailureClass::Transient => FailureClass::Transient,
        pb::FailureClass::Rejected => FailureClass::Rejected,
        pb::FailureClass::NotSupported => FailureClass::NotSupported,
        pb::FailureClass::Forbidden => FailureClass::Forbidden,
        pb::FailureClass::Undecodable => FailureClass::Undecodable,
        pb::FailureClass::Unspecified => return Err(unknown("failure.class")),
    };
    let reason = parsed("failure.reason", FailureReason::parse(&failure.reason))?;
    Ok((class, reason))
}

fn reason_to_pb(reason: MigrationReason) -> pb::MigrationReason {
    match reason {
        MigrationReason::Agreement => pb::MigrationReason::Agreement,
        MigrationReason::Manual => pb::MigrationReason::Manual,
        MigrationReason::RewriteAll => pb::MigrationReason::RewriteAll,
    }
}

fn reason_from_pb(reason: pb::MigrationReason) -> Result<MigrationReason> {
    match reason {
        pb::MigrationReason::Agreement => Ok(MigrationReason::Agreement),
        pb::MigrationReason::Manual => Ok(MigrationReason::Manual),
        pb::MigrationReason::RewriteAll => Ok(MigrationReason::RewriteAll),
        pb::MigrationReason::Unspecified => Err(unknown("reason")),
    }
}

fn phase_to_pb(phase: MigrationPhase) -> pb::MigrationPhase {
    match phase {
        MigrationPhase::Pending => pb::MigrationPhase::Pending,
        MigrationPhase::Running => pb::MigrationPhase::Running,
        MigrationPhase::Succeeded => pb::MigrationPhase::Succeeded,
        MigrationPhase::Failed => pb::MigrationPhase::Failed,
        MigrationPhase::Aborted => pb::MigrationPhase::Aborted,
    }
}

fn phase_from_pb(phase: pb::MigrationPhase) -> Result<MigrationPhase> {
    match phase {
        pb::MigrationPhase::Pending => Ok(MigrationPhase::Pending),
        pb::MigrationPhase::Running => Ok(MigrationPhase::Running),
        pb::MigrationPhase::Succeeded => Ok(MigrationPhase::Succeeded),
        pb::MigrationPhase::Failed => Ok(MigrationPhase::Failed),
        pb::MigrationPhase::Aborted => Ok(MigrationPhase::Aborted),
        pb::MigrationPhase::Unspecified => Err(unknown("phase")),
    }
}

fn cause_to_pb(cause: Option<AbortCause>) -> pb::AbortCause {
    match cause {
        None => pb::AbortCause::Unspecified,
        Some(AbortCause::NoAgreement) => pb::AbortCause::NoAgreement,
        Some(AbortCause::AgreementMoved) => pb::AbortCause::AgreementMoved,
        Some(AbortCause::Requested) => pb::AbortCause::Requested,
        Some(AbortCause::StorageUnknown) => pb::AbortCause::StorageUnknown,
    }
}

fn cause_from_pb(cause: pb::AbortCause) -> Option<AbortCause> {
    match cause {
        pb::AbortCause::Unspecified => None,
        pb::AbortCause::NoAgreement => Some(AbortCause::NoAgreement),
        pb::AbortCause::AgreementMoved => Some(AbortCause::AgreementMoved),
        pb::AbortCause::Requested => Some(AbortCause::Requested),
        pb::AbortCause::StorageUnknown => Some(AbortCause::StorageUnknown),
    }
}

pub(super) fn assumption_to_pb(assumption: Option<Assumption>) -> pb::Assumption {
    match assumption {
        None => pb::Assumption::Unspecified,
        Some(Assumption::NoRoster) => pb::Assumption::NoRoster,
        Some(Assumption::SnapshotVersionUnknown) => pb::Assumption::SnapshotVersionUnknown,
        Some(Assumption::LeftToOthers) => pb::Assumption::LeftToOthers,
    }
}

pub(super) fn assumption_from_pb(assumption: pb::Assumption) -> Option<Assumption> {
    match assumption {
        pb::Assumption::Unspecified => None,
        pb::Assumption::NoRoster => Some(Assumption::NoRoster),
        pb::Assumption::SnapshotVersionUnknown => Some(Assumption::SnapshotVersionUnknown),
        pb::Assumption::LeftToOthers => Some(Assumption::LeftToOthers),
    }
}

fn unknown(field: &str) -> CodecError {
    CodecError::new(field, "it is not known to this build")
}
