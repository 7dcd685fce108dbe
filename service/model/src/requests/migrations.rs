//! The requests on migrations, and on the known encodings of the store.

use std::collections::BTreeSet;

use crate::limits::OBSERVED_HASHES_MAX;
use crate::{
    ClaimToken, FailureClass, FailureReason, GroupResource, Kind, MigrationAlias, MigrationId,
    MigrationProgress, MigrationReason, Preconditions, Revision, StorageVersionHash, Ttl,
    Violation, Violations, Walk, WorkerName, WorkerStop,
};

/// The machine version that brings [`StartMigration::alias`]: a replica of an older one cannot read it.
pub const ALIASES_SINCE: u32 = 2;

/// Starts a migration to the version that is agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartMigration {
    /// The resource to migrate.
    pub resource: GroupResource,
    /// The reason: any but `Agreement`, since an agreement starts its migrations by itself.
    pub reason: MigrationReason,
    /// The alias that the migration gets; no other migration may have it.
    pub alias: Option<MigrationAlias>,
}

impl StartMigration {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if self.reason == MigrationReason::Agreement {
            let rule = "must be 'manual' or 'rewrite-all': an agreement starts its own";
            violations.push(Violation::required(rule).at("reason"));
        }
        violations
    }
}

/// Claims a pending migration for a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimMigration {
    /// The migration.
    pub id: MigrationId,
    /// The worker.
    pub worker: WorkerName,
    /// How long the claim lasts without a request of the worker.
    pub ttl: Ttl,
    /// Whether a fence in the store refuses the worker's rewrites once another worker has raised it.
    pub fenced: bool,
    /// What the worker walks. `None`: the collection of the resource if there is one, else the store outside.
    pub walks: Option<Walk>,
}

/// Reports the progress of a migration, and keeps the claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportMigrationProgress {
    /// The migration.
    pub id: MigrationId,
    /// The token of the claim.
    pub token: ClaimToken,
    /// The progress.
    pub progress: MigrationProgress,
}

impl ReportMigrationProgress {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        claimed(self.token)
    }
}

/// Completes a migration: every object is in the target's encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompleteMigration {
    /// The migration.
    pub id: MigrationId,
    /// The token of the claim.
    pub token: ClaimToken,
}

impl CompleteMigration {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        claimed(self.token)
    }
}

/// Fails a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailMigration {
    /// The migration.
    pub id: MigrationId,
    /// The token of the claim.
    pub token: ClaimToken,
    /// Whether trying again can help.
    pub class: FailureClass,
    /// What happened, for people.
    pub reason: FailureReason,
    /// What the worker says of its rewrites. `None`: whoever sends this does not speak for the worker, which may go on until its
    /// claim would have run out.
    pub stop: Option<WorkerStop>,
}

impl FailMigration {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        claimed(self.token)
    }
}

/// The machine version that brings [`ReleaseMigration`]: a replica of an older one cannot read it.
pub const RELEASES_SINCE: u32 = 2;

/// Releases a claimed migration, for any worker to claim: it goes on from the progress that was reported last.
///
/// Of a claim that has ended, the worker says with [`WorkerStop::AllAnswered`] that nothing of it drains any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseMigration {
    /// The migration.
    pub id: MigrationId,
    /// The token of the claim.
    pub token: ClaimToken,
    /// What the worker says of its rewrites. `None`: whoever sends this does not speak for the worker, which may go on until its
    /// claim would have run out.
    pub stop: Option<WorkerStop>,
}

impl ReleaseMigration {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        claimed(self.token)
    }
}

/// The machine version that brings [`DeleteMigration`]: a replica of an older one cannot read it.
pub const DELETE_MIGRATION_SINCE: u32 = 2;

/// Deletes a migration. One that has not ended is called off by that, as by [`AbortMigration`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteMigration {
    /// The migration.
    pub id: MigrationId,
    /// The migration that is meant.
    pub preconditions: Preconditions,
}

impl DeleteMigration {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        self.preconditions.check()
    }
}

/// Aborts a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbortMigration {
    /// The migration.
    pub id: MigrationId,
}

/// Makes a failed migration pending again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryMigration {
    /// The migration.
    pub id: MigrationId,
}

/// Reports an observation of a resource in discovery: all that is known of a resource that no member reports, and
/// evidence beside the reports of one that members report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObserveStorage {
    /// The resource.
    pub resource: GroupResource,
    /// The kind of the resource's objects, if the observer knows it. It identifies the version of a hash.
    pub kind: Option<Kind>,
    /// The storage-version hashes that its servers show: one if they agree.
    pub hashes: BTreeSet<StorageVersionHash>,
    /// Only if the resource's StorageState was last changed at this revision, which the observer read before it looked;
    /// zero: there is none. Otherwise an older observation would remove what was learned since.
    pub if_revision: Option<Revision>,
}

impl ObserveStorage {
    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        let hashes = self.hashes.len();
        if hashes == 0 {
            let rule = "must name what discovery shows: a resource without a hash is not observed";
            violations.push(Violation::required(rule).at("hashes"));
        }
        if hashes > OBSERVED_HASHES_MAX {
            violations.push(Violation::too_many(hashes, OBSERVED_HASHES_MAX).at("hashes"));
        }
        violations
    }
}

/// Forgets what is known of the store: the persisted encodings are unknown again. Of keys and features those that are known
/// stay beside what is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResetStorageStates {
    /// The resource; `None`: every resource.
    pub resource: Option<GroupResource>,
}

fn claimed(token: ClaimToken) -> Violations {
    let mut violations = Violations::new();
    violations.parsed("token", token.check());
    violations
}
