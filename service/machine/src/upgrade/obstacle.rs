//! The obstacles to an upgrade, their sentences, and the commands that help.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use synod_model::{
    ApiVersion, GroupResource, MemberId, Migration, MigrationFailure, MigrationId, MigrationTarget,
    Persisted, ResourceScope, StorageVersionHash, WorkerName,
};

use crate::agreement::{Obstacle, first};

/// An obstacle to an upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpgradeObstacle {
    /// The resource that it concerns; `None` if it concerns the whole cluster.
    pub resource: Option<GroupResource>,
    /// The cause.
    pub cause: UpgradeCause,
}

/// The cause of an obstacle to an upgrade. The variants are in the order of the answer: the worst first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpgradeCause {
    /// The members do not agree, or nothing is known at all.
    Disagreement {
        /// The obstacle to the agreement.
        obstacle: Obstacle,
    },
    /// A roster asks for members that do not report the resource, or for resources that nothing knows.
    Roster {
        /// The scope of the roster.
        scope: ResourceScope,
        /// The obstacle to the agreement.
        obstacle: Obstacle,
    },
    /// These members have joined and have not reported since.
    Silent {
        /// The members, by id; at least one.
        members: Vec<MemberId>,
    },
    /// The member is about to expire: it has not renewed for two thirds of its TTL.
    Expiring {
        /// The member.
        member: MemberId,
        /// The log time that is left to it.
        remaining: Duration,
    },
    /// The worker of a migration gave up, and nothing has migrated the resource since.
    MigrationFailed {
        /// The migration.
        migration: MigrationId,
        /// The encoding that it writes.
        target: MigrationTarget,
        /// The failure that a worker reported last.
        failure: Option<MigrationFailure>,
        /// Whether it is tried again by itself.
        is_retried: bool,
    },
    /// Other encodings than the agreed one may be stored, and no migration waits or runs.
    NotMigrated {
        /// The encodings.
        stored: BTreeSet<Persisted>,
    },
    /// A migration waits for a worker.
    MigrationPending {
        /// The migration.
        migration: MigrationId,
        /// The encoding that it writes.
        target: MigrationTarget,
    },
    /// A worker has claimed a migration.
    MigrationRunning {
        /// The migration.
        migration: MigrationId,
        /// The encoding that it writes.
        target: MigrationTarget,
        /// The worker, as it calls itself.
        worker: WorkerName,
        /// Objects done, as last published.
        done: u64,
        /// The estimated number of all objects.
        estimate: Option<u64>,
    },
    /// Writes may still land.
    Draining {
        /// The encoding of the writes.
        encoding: LateEncoding,
        /// The log time until the last one has landed.
        remaining: Duration,
    },
}

/// The encoding of writes that may still land.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LateEncoding {
    /// This version.
    Version(ApiVersion),
    /// A version of which only the hash is known.
    Hash(StorageVersionHash),
    /// Versions that nobody can name.
    Unknown,
}

impl UpgradeCause {
    /// The members that the obstacle names.
    #[must_use]
    pub fn members(&self) -> BTreeSet<&MemberId> {
        match self {
            Self::Disagreement { obstacle } | Self::Roster { obstacle, .. } => obstacle.members(),
            Self::Silent { members } => members.iter().collect(),
            Self::Expiring { member, .. } => [member].into(),
            Self::MigrationFailed { .. }
            | Self::NotMigrated { .. }
            | Self::MigrationPending { .. }
            | Self::MigrationRunning { .. }
            | Self::Draining { .. } => BTreeSet::new(),
        }
    }

    /// The obstacle of a resource.
    pub(super) fn of(self, resource: &GroupResource) -> UpgradeObstacle {
        UpgradeObstacle {
            resource: Some(resource.clone()),
            cause: self,
        }
    }

    /// The cause that a migration is pending or running.
    pub(super) fn of_open(migration: &Migration) -> Self {
        let id = migration.id.clone();
        let target = migration.target.clone();
        match &migration.claim {
            None => Self::MigrationPending {
                migration: id,
                target,
            },
            Some(claim) => Self::MigrationRunning {
                migration: id,
                target,
                worker: claim.worker.clone(),
                done: migration.done,
                estimate: migration.estimate,
            },
        }
    }

    /// The cause that a migration has failed.
    pub(super) fn of_failed(migration: &Migration) -> Self {
        Self::MigrationFailed {
            migration: migration.id.clone(),
            target: migration.target.clone(),
            failure: migration.failure.clone(),
            is_retried: migration.retry_after().is_some(),
        }
    }

    /// Whether a migration has failed.
    pub(super) fn is_failure(&self) -> bool {
        matches!(self, Self::MigrationFailed { .. })
    }

    /// The place in the answer: a smaller number is worse.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Disagreement { .. } => 0,
            Self::Roster { .. } => 1,
            Self::Silent { .. } => 2,
            Self::Expiring { .. } => 3,
            Self::MigrationFailed { .. } => 4,
            Self::NotMigrated { .. } => 5,
            Self::MigrationPending { .. } => 6,
            Self::MigrationRunning { .. } => 7,
            Self::Draining { .. } => 8,
        }
    }
}

impl UpgradeObstacle {
    /// The command of `synod` that shows more or helps, as it is typed into a shell.
    #[must_use]
    pub fn command(&self) -> String {
        let resource = self.resource.as_ref().map_or("", |it| it.qualified());
        match &self.cause {
            UpgradeCause::Disagreement { obstacle } => match obstacle {
                Obstacle::NothingKnown => "synod members".to_owned(),
                Obstacle::ObservationExpired | Obstacle::ObservationsDiffer { .. } => {
                    "synod observe --once".to_owned()
                }
                Obstacle::MemberSilent { .. }
                | Obstacle::ScopeUnknown { .. }
                | Obstacle::Unknown { .. }
                | Obstacle::Unreported
                | Obstacle::NothingSelected { .. }
                | Obstacle::EncodingsDiffer { .. }
                | Obstacle::FixedElsewhere { .. }
                | Obstacle::NotAdopted { .. }
                | Obstacle::Absent { .. }
                | Obstacle::Contradicted { .. } => {
                    format!("synod storage-versions get {resource}")
                }
            },
            UpgradeCause::Roster { scope, .. } => {
                format!("synod rosters get '{}'", scope.qualified())
            }
            UpgradeCause::Silent { members } => match members.first() {
                Some(member) => format!("synod members get {member}"),
                None => "synod members".to_owned(),
            },
            UpgradeCause::Expiring { member, .. } => {
                format!("synod members evict {member} --stopped")
            }
            UpgradeCause::MigrationFailed { migration, .. } => {
                format!("synod migrations retry {migration}")
            }
            UpgradeCause::NotMigrated { .. } => format!("synod migrations start {resource}"),
            UpgradeCause::MigrationPending { migration, .. }
            | UpgradeCause::MigrationRunning { migration, .. } => {
                format!("synod migrations watch {migration}")
            }
            UpgradeCause::Draining { remaining, .. } => {
                format!("synod upgrade status --wait {}s", whole_seconds(*remaining))
            }
        }
    }
}

impl fmt::Display for UpgradeObstacle {
    /// The obstacle in words, without the resource. At most eight members or encodings of a group are named.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            UpgradeCause::Disagreement { obstacle } | UpgradeCause::Roster { obstacle, .. } => {
                obstacle.fmt(f)
            }
            UpgradeCause::Silent { members } => {
                let members = members.clone();
                Obstacle::MemberSilent { members }.fmt(f)
            }
            UpgradeCause::Expiring { member, remaining } => write!(
                f,
                "{member} has not renewed its membership, which expires in {} s: if its process has stopped, put it out",
                whole_seconds(*remaining)
            ),
            UpgradeCause::MigrationFailed {
                migration,
                target,
                failure,
                is_retried,
            } => {
                write!(f, "the migration {migration} to {target} has failed")?;
                let reason = failure.as_ref().map(|failure| failure.reason.as_str());
                if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
                    write!(f, ": {reason}")?;
                }
                let next = match is_retried {
                    true => "it is tried again automatically",
                    false => "it is not tried again before an operator retries it",
                };
                write!(f, "; {next}")
            }
            UpgradeCause::NotMigrated { stored } => write!(
                f,
                "objects may be stored in {}, and no migration waits or runs",
                first(stored)
            ),
            UpgradeCause::MigrationPending { migration, target } => {
                write!(
                    f,
                    "the migration {migration} to {target} waits for a worker"
                )
            }
            UpgradeCause::MigrationRunning {
                migration,
                target,
                worker,
                done,
                estimate,
            } => {
                write!(
                    f,
                    "{worker} works at the migration {migration} to {target}: {done}"
                )?;
                if let Some(estimate) = estimate {
                    write!(f, " of about {estimate}")?;
                }
                f.write_str(" objects are done")
            }
            UpgradeCause::Draining {
                encoding,
                remaining,
            } => {
                let seconds = whole_seconds(*remaining);
                write!(
                    f,
                    "writes in {encoding} may still land, for {seconds} s more"
                )
            }
        }
    }
}

impl fmt::Display for LateEncoding {
    /// The version, or words for what is known of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => version.fmt(f),
            Self::Hash(hash) => write!(f, "the encoding {hash}"),
            Self::Unknown => f.write_str("versions that nobody can name"),
        }
    }
}

/// The seconds of a span, rounded up: a wait for them is long enough.
fn whole_seconds(span: Duration) -> u64 {
    span.as_millis()
        .div_ceil(1_000)
        .try_into()
        .unwrap_or(u64::MAX)
}
