use synod_model::{
    AbortCause, Claim, FailureClass, Labels, Migration, MigrationFailure, MigrationId,
    MigrationPhase, MigrationProgress, MigrationReason, MigrationTarget, StorageVersionHash,
    Violations, Walk, WorkerStop,
};

use super::metadata::named;
use crate::wire::Wire;
use crate::{messages, read_fields, v1, wire_enums};

wire_enums! {
    v1::MigrationReason = MigrationReason {
        Agreement = Agreement, Manual = Manual, RewriteAll = RewriteAll,
    }
    v1::MigrationPhase = MigrationPhase {
        Pending = Pending, Running = Running, Succeeded = Succeeded, Failed = Failed,
        Aborted = Aborted,
    }
    v1::AbortCause = AbortCause {
        NoAgreement = NoAgreement, AgreementMoved = AgreementMoved, Requested = Requested,
        StorageUnknown = StorageUnknown,
    }
    v1::FailureClass = FailureClass {
        Transient = Transient, Rejected = Rejected, NotSupported = NotSupported,
        Forbidden = Forbidden, Undecodable = Undecodable,
    }
    v1::Walk = Walk {
        Collection = Collection, Outside = Outside, Both = Both,
    }
    v1::WorkerStop = WorkerStop {
        SomeUnanswered = SomeUnanswered, AllAnswered = AllAnswered,
    }
}

messages! {
    v1::MigrationClaim = Claim {
        worker = worker,
        token = token,
        ttl = ttl_ms,
        fenced = fenced,
        since = since_log_time_ms,
        walks = walks,
    }
    v1::MigrationFailure = MigrationFailure {
        class = class,
        reason = reason,
    }
    v1::MigrationProgress = MigrationProgress, default {
        done = done,
        estimate = estimate,
        continue_token = continue_token,
    }
}

impl From<&Migration> for v1::Migration {
    fn from(migration: &Migration) -> Self {
        let name = migration.id.to_string();
        let assumptions = migration.all_assumptions();
        Self {
            metadata: Some(v1::Metadata::of(
                name,
                &Labels::default(),
                &migration.metadata,
            )),
            resource: migration.id.resource().to_wire(),
            target_hash: migration.target.hash.to_wire(),
            target_version: migration.target.version.to_wire(),
            agreement_revision: migration.agreement_revision.to_wire(),
            reason: migration.reason.to_wire(),
            phase: migration.phase.to_wire(),
            claim: migration.claim.to_wire(),
            failures: migration.failures,
            failure: migration.failure.to_wire(),
            aborted: migration.aborted.to_wire(),
            done: migration.done,
            estimate: migration.estimate,
            end_time_ms: migration.ended.to_wire(),
            assumption: assumptions.first().copied().to_wire(),
            alias: migration.alias.to_wire(),
            assumptions: assumptions.to_wire(),
            equivalents: migration.equivalents.to_wire(),
        }
    }
}

impl TryFrom<v1::Migration> for Migration {
    type Error = Violations;

    fn try_from(pb: v1::Migration) -> Result<Self, Violations> {
        let id =
            |pb: &v1::Metadata| MigrationId::parse(&pb.name).map_err(|faults| faults.at("name"));
        let mut found = Violations::new();
        read_fields! { pb, found;
            named = metadata => named(pb.metadata, id),
            hash = target_hash => StorageVersionHash::of_wire(pb.target_hash),
            version = target_version,
            agreement_revision = agreement_revision,
            reason = reason,
            phase = phase,
            claim = claim,
            failure = failure,
            ended = end_time_ms,
            alias = alias,
            equivalents = equivalents,
            assumptions = assumptions => Wire::of_wire(all_assumptions(pb.assumption, pb.assumptions)),
        }
        let (id, metadata) = named;
        Ok(Self {
            id,
            metadata,
            target: MigrationTarget { hash, version },
            agreement_revision,
            reason,
            phase,
            claim,
            failures: pb.failures,
            failure,
            // A cause that only a later release knows reads as `None`.
            aborted: AbortCause::of_wire(pb.aborted).ok(),
            done: pb.done,
            estimate: pb.estimate,
            ended,
            assumption: None,
            alias,
            assumptions,
            equivalents,
        })
    }
}

/// The assumptions of a migration, where an older server says `one` alone.
fn all_assumptions(one: i32, mut all: Vec<i32>) -> Vec<i32> {
    if all.is_empty() && one != 0 {
        all.push(one);
    }
    all
}
