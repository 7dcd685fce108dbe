//! The canonical form of migrations, and of what is kept beside them.

use std::sync::Arc;

use synod_model::{
    AbortCause, Assumption, Claim, FailureClass, GroupResource, Migration, MigrationFailure,
    MigrationId, MigrationPhase, MigrationProgress, MigrationReason, MigrationTarget,
};

use super::values::{fold_both, fold_metadata, fold_resource, fold_version};
use crate::digest::{RowHash, RowHasher};
use crate::{Heartbeat, ProgressRow};

pub(crate) fn heartbeat_hash(resource: &GroupResource, heartbeat: &Heartbeat) -> RowHash {
    let Heartbeat { at, wall } = heartbeat;
    let mut to = RowHasher::new(50);
    fold_resource(&mut to, resource);
    to.number(at.as_millis());
    to.number(wall.as_millis());
    to.finish()
}

pub(crate) fn migration_hash(migration: &Migration) -> RowHash {
    let mut to = RowHasher::new(51);
    fold_migration(&mut to, migration);
    to.finish()
}

pub(crate) fn progress_hash(id: &MigrationId, row: &ProgressRow) -> RowHash {
    let ProgressRow { progress, shown_at } = row;
    let mut to = RowHasher::new(52);
    fold_id(&mut to, id);
    fold_progress(&mut to, progress);
    to.number(shown_at.as_millis());
    to.finish()
}

fn fold_id(to: &mut RowHasher, id: &MigrationId) {
    fold_resource(to, id.resource());
    to.number(id.number().get());
}

/// Something that has a number of its own in its list, and is a migration's.
pub(super) fn fold_holder(to: &mut RowHasher, number: u64, id: &MigrationId) {
    to.number(number);
    fold_id(to, id);
}

pub(super) fn fold_change(
    to: &mut RowHasher,
    id: &MigrationId,
    before: &Option<Arc<Migration>>,
    after: &Option<Arc<Migration>>,
) {
    to.number(25);
    fold_id(to, id);
    fold_both(to, before, after, fold_migration);
}

pub(super) fn fold_progress(to: &mut RowHasher, progress: &MigrationProgress) {
    let MigrationProgress {
        done,
        estimate,
        continue_token,
    } = progress;
    to.number(*done);
    to.option(*estimate, RowHasher::number);
    to.option(continue_token.as_ref(), |to, token| to.text(token.as_str()));
}

fn fold_migration(to: &mut RowHasher, migration: &Migration) {
    let Migration {
        id,
        metadata,
        target,
        agreement_revision,
        reason,
        phase,
        claim,
        failures,
        failure,
        aborted,
        done,
        estimate,
        ended,
        assumption,
    } = migration;
    fold_id(to, id);
    fold_metadata(to, metadata);
    let MigrationTarget { hash, version } = target;
    to.raw(hash.as_bytes());
    to.option(version.as_ref(), fold_version);
    to.number(agreement_revision.get());
    to.number(reason_number(*reason));
    to.number(phase_number(*phase));
    to.option(claim.as_ref(), fold_claim);
    to.number(u64::from(*failures));
    to.option(failure.as_ref(), fold_failure);
    to.option(*aborted, |to, cause| to.number(cause_number(cause)));
    to.number(*done);
    to.option(*estimate, RowHasher::number);
    to.option(*ended, |to, ended| to.number(ended.as_millis()));
    to.option(*assumption, |to, assumption| {
        to.number(assumption_number(assumption))
    });
}

fn fold_claim(to: &mut RowHasher, claim: &Claim) {
    let Claim { worker, token, ttl } = claim;
    to.text(worker.as_str());
    to.number(token.get());
    to.number(ttl.as_millis());
}

fn fold_failure(to: &mut RowHasher, failure: &MigrationFailure) {
    let MigrationFailure { class, reason } = failure;
    to.number(match class {
        FailureClass::Transient => 1,
        FailureClass::Rejected => 2,
        FailureClass::NotSupported => 3,
        FailureClass::Forbidden => 4,
        FailureClass::Undecodable => 5,
    });
    to.text(reason.as_str());
}

fn reason_number(reason: MigrationReason) -> u64 {
    match reason {
        MigrationReason::Agreement => 1,
        MigrationReason::Manual => 2,
        MigrationReason::RewriteAll => 3,
    }
}

fn phase_number(phase: MigrationPhase) -> u64 {
    match phase {
        MigrationPhase::Pending => 1,
        MigrationPhase::Running => 2,
        MigrationPhase::Succeeded => 3,
        MigrationPhase::Failed => 4,
        MigrationPhase::Aborted => 5,
    }
}

pub(super) fn assumption_number(assumption: Assumption) -> u64 {
    match assumption {
        Assumption::NoRoster => 1,
        Assumption::SnapshotVersionUnknown => 2,
        Assumption::LeftToOthers => 3,
    }
}

fn cause_number(cause: AbortCause) -> u64 {
    match cause {
        AbortCause::NoAgreement => 1,
        AbortCause::AgreementMoved => 2,
        AbortCause::Requested => 3,
        AbortCause::StorageUnknown => 4,
    }
}
