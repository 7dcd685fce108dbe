use synod_model::{
    AbortCause, ApiVersion, Assumption, Claim, ClaimToken, ContinueToken, FailureClass,
    FailureReason, Labels, Metadata, Migration, MigrationFailure, MigrationId, MigrationPhase,
    MigrationProgress, MigrationReason, MigrationTarget, Revision, StorageVersionHash, Ttl,
    Violation, Violations, WallTime, WorkerName,
};

use crate::fields::{required, sound};
use crate::v1;

/// Both directions of an enum whose zero is never sent, from one list.
macro_rules! enum_of {
    ($model:ident { $($variant:ident),* $(,)? }, $rule:literal) => {
        impl From<$model> for v1::$model {
            fn from(value: $model) -> Self {
                match value {
                    $($model::$variant => Self::$variant,)*
                }
            }
        }

        impl TryFrom<v1::$model> for $model {
            type Error = Violation;

            fn try_from(pb: v1::$model) -> Result<Self, Violation> {
                match pb {
                    v1::$model::Unspecified => Err(Violation::required($rule)),
                    $(v1::$model::$variant => Ok(Self::$variant),)*
                }
            }
        }
    };
}

enum_of!(
    MigrationReason {
        Agreement,
        Manual,
        RewriteAll
    },
    "must say why"
);
enum_of!(
    MigrationPhase {
        Pending,
        Running,
        Succeeded,
        Failed,
        Aborted
    },
    "must say where it stands"
);
enum_of!(
    AbortCause {
        NoAgreement,
        AgreementMoved,
        Requested,
        StorageUnknown
    },
    "must say why it was called off"
);
enum_of!(
    FailureClass {
        Transient,
        Rejected,
        NotSupported,
        Forbidden,
        Undecodable
    },
    "must say what kind of failure it is"
);

impl From<&Migration> for v1::Migration {
    fn from(migration: &Migration) -> Self {
        Self {
            metadata: Some(v1::Metadata::of(
                migration.id.to_string(),
                &Labels::default(),
                &migration.metadata,
            )),
            resource: Some(migration.id.resource().into()),
            target_hash: migration.target.hash.to_string(),
            target_version: migration.target.version.as_ref().map(ToString::to_string),
            agreement_revision: migration.agreement_revision.get(),
            reason: v1::MigrationReason::from(migration.reason).into(),
            phase: v1::MigrationPhase::from(migration.phase).into(),
            claim: migration.claim.as_ref().map(|claim| v1::MigrationClaim {
                worker: claim.worker.to_string(),
                token: claim.token.get(),
                ttl_ms: claim.ttl.as_millis(),
            }),
            failures: migration.failures,
            failure: migration
                .failure
                .as_ref()
                .map(|failure| v1::MigrationFailure {
                    class: v1::FailureClass::from(failure.class).into(),
                    reason: failure.reason.to_string(),
                }),
            aborted: migration
                .aborted
                .map_or(v1::AbortCause::Unspecified, Into::into)
                .into(),
            done: migration.done,
            estimate: migration.estimate,
            end_time_ms: migration.ended.map(WallTime::as_millis),
            assumption: v1::AssumptionReason::from(migration.assumption).into(),
        }
    }
}

impl TryFrom<v1::Migration> for Migration {
    type Error = Violations;

    fn try_from(pb: v1::Migration) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let (reason, phase, aborted) = (pb.reason(), pb.phase(), pb.aborted());
        let assumption = pb.assumption().into();
        let metadata = pb.metadata.unwrap_or_default();
        let id = found.parsed("metadata.name", MigrationId::parse(&metadata.name));
        let metadata = found.parsed("metadata", Metadata::try_from(&metadata));
        let target = found.parsed("", target(&pb.target_hash, pb.target_version.as_deref()));
        let reason = found.parsed("reason", MigrationReason::try_from(reason));
        let phase = found.parsed("phase", MigrationPhase::try_from(phase));
        let claim = found.parsed("claim", pb.claim.map(claim).transpose());
        let failure = found.parsed("failure", pb.failure.map(failure).transpose());
        let (Some(id), Some(metadata), Some(target)) = (id, metadata, target) else {
            return Err(found);
        };
        let (Some(reason), Some(phase), Some(claim), Some(failure)) =
            (reason, phase, claim, failure)
        else {
            return Err(found);
        };
        let migration = Self {
            id,
            metadata,
            target,
            agreement_revision: Revision::new(pb.agreement_revision),
            reason,
            phase,
            claim,
            failures: pb.failures,
            failure,
            aborted: AbortCause::try_from(aborted).ok(),
            done: pb.done,
            estimate: pb.estimate,
            ended: pb.end_time_ms.map(WallTime::from_millis),
            assumption,
        };
        sound(migration, found)
    }
}

impl From<Option<Assumption>> for v1::AssumptionReason {
    fn from(assumption: Option<Assumption>) -> Self {
        match assumption {
            None => Self::Unspecified,
            Some(Assumption::NoRoster) => Self::NoRoster,
            Some(Assumption::SnapshotVersionUnknown) => Self::SnapshotVersionUnknown,
            Some(Assumption::LeftToOthers) => Self::LeftToOthers,
        }
    }
}

impl From<v1::AssumptionReason> for Option<Assumption> {
    fn from(reason: v1::AssumptionReason) -> Self {
        match reason {
            v1::AssumptionReason::Unspecified => None,
            v1::AssumptionReason::NoRoster => Some(Assumption::NoRoster),
            v1::AssumptionReason::SnapshotVersionUnknown => {
                Some(Assumption::SnapshotVersionUnknown)
            }
            v1::AssumptionReason::LeftToOthers => Some(Assumption::LeftToOthers),
        }
    }
}

fn target(hash: &str, version: Option<&str>) -> Result<MigrationTarget, Violations> {
    let mut found = Violations::new();
    let hash = found.parsed("targetHash", StorageVersionHash::parse(hash));
    let version = version.map(ApiVersion::parse).transpose();
    let version = found.parsed("targetVersion", version);
    match (hash, version) {
        (Some(hash), Some(version)) => Ok(MigrationTarget { hash, version }),
        _ => Err(found),
    }
}

fn claim(pb: v1::MigrationClaim) -> Result<Claim, Violations> {
    let mut found = Violations::new();
    let worker = found.parsed("worker", WorkerName::parse(&pb.worker));
    let ttl = found.parsed("ttlMs", Ttl::from_millis(pb.ttl_ms));
    let token = ClaimToken::new(Revision::new(pb.token));
    found.parsed("token", token.check());
    match (worker, ttl) {
        (Some(worker), Some(ttl)) => sound(Claim { worker, token, ttl }, found),
        _ => Err(found),
    }
}

fn failure(pb: v1::MigrationFailure) -> Result<MigrationFailure, Violations> {
    let mut found = Violations::new();
    let class = found.parsed("class", FailureClass::try_from(pb.class()));
    let reason = found.parsed("reason", FailureReason::parse(&pb.reason));
    match (class, reason) {
        (Some(class), Some(reason)) => Ok(MigrationFailure { class, reason }),
        _ => Err(found),
    }
}

impl From<&MigrationProgress> for v1::MigrationProgress {
    fn from(progress: &MigrationProgress) -> Self {
        let token = progress.continue_token.as_ref();
        Self {
            done: progress.done,
            estimate: progress.estimate,
            continue_token: token.map(ToString::to_string).unwrap_or_default(),
        }
    }
}

impl TryFrom<v1::MigrationProgress> for MigrationProgress {
    type Error = Violations;

    fn try_from(pb: v1::MigrationProgress) -> Result<Self, Violations> {
        let token = Some(pb.continue_token.as_str()).filter(|token| !token.is_empty());
        let token = token.map(ContinueToken::parse).transpose();
        Ok(Self {
            done: pb.done,
            estimate: pb.estimate,
            continue_token: token.map_err(|fault| fault.at("continueToken"))?,
        })
    }
}

/// Reads a field that names a migration.
pub(crate) fn migration(name: &str) -> Result<MigrationId, Violations> {
    let name = Some(name).filter(|name| !name.is_empty());
    MigrationId::parse(required(name, "must name a migration")?)
}
