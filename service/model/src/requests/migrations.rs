//! Migrations, and what is known of the store.

use std::collections::BTreeSet;

use crate::limits::OBSERVED_HASHES_MAX;
use crate::{
    ClaimToken, FailureClass, FailureReason, GroupResource, Kind, MigrationId, MigrationProgress,
    MigrationReason, Revision, StorageVersionHash, Ttl, Violation, Violations, WorkerName,
};

/// Asks for a migration to what is agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartMigration {
    /// What to migrate.
    pub resource: GroupResource,
    /// Why: anything but an agreement, which starts its migrations by itself.
    pub reason: MigrationReason,
}

impl StartMigration {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if self.reason == MigrationReason::Agreement {
            let rule = "must be 'manual' or 'rewrite-all': an agreement starts its own";
            violations.push(Violation::required(rule).at("reason"));
        }
        violations
    }
}

/// Takes a pending migration to work at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimMigration {
    /// Which.
    pub id: MigrationId,
    /// Who.
    pub worker: WorkerName,
    /// How long the worker may be silent.
    pub ttl: Ttl,
}

/// Says how far a migration is. It keeps the claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportMigrationProgress {
    /// Which.
    pub id: MigrationId,
    /// The claim.
    pub token: ClaimToken,
    /// How far.
    pub progress: MigrationProgress,
}

impl ReportMigrationProgress {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        claimed(self.token)
    }
}

/// Says that every object is in the target's encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompleteMigration {
    /// Which.
    pub id: MigrationId,
    /// The claim.
    pub token: ClaimToken,
}

impl CompleteMigration {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        claimed(self.token)
    }
}

/// Gives a migration up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailMigration {
    /// Which.
    pub id: MigrationId,
    /// The claim.
    pub token: ClaimToken,
    /// Whether trying again can help.
    pub class: FailureClass,
    /// What happened.
    pub reason: FailureReason,
}

impl FailMigration {
    /// What is wrong with its shape.
    pub fn check(&self) -> Violations {
        claimed(self.token)
    }
}

/// Calls a migration off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbortMigration {
    /// Which.
    pub id: MigrationId,
}

/// Has a failed migration tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryMigration {
    /// Which.
    pub id: MigrationId,
}

/// Says what discovery shows of a resource: all that is known of one that nobody reports, and evidence beside the reports
/// of one that members report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObserveStorage {
    /// The resource.
    pub resource: GroupResource,
    /// The kind that it stores, if the observer knows it: a version is told from a hash by it.
    pub kind: Option<Kind>,
    /// The storage-version hashes that its servers show: one if they agree.
    pub hashes: BTreeSet<StorageVersionHash>,
    /// Take it only if the resource's state was last changed at this revision, zero if there is none: what the observer has
    /// read before it looked. Else what was learned since would be taken away by an older look.
    pub if_revision: Option<Revision>,
}

impl ObserveStorage {
    /// What is wrong with its shape.
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

/// Forgets what is known of the store: what is persisted is unknown again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResetStorageStates {
    /// Of which resource; `None` is every one.
    pub resource: Option<GroupResource>,
}

fn claimed(token: ClaimToken) -> Violations {
    let mut violations = Violations::new();
    violations.parsed("token", token.check());
    violations
}
