//! The requests on migrations, and on the known encodings of the store.

use std::collections::{BTreeMap, BTreeSet};

use crate::limits::{OBSERVED_HASHES_MAX, OBSERVED_SERVERS_MAX};
use crate::{
    ClaimToken, FailureClass, FailureReason, GroupResource, Kind, MigrationAlias, MigrationId,
    MigrationProgress, MigrationReason, ObservedServer, ObserverName, Preconditions, Revision,
    ServerLook, StorageVersionHash, Ttl, Violation, Violations, Walk, WorkerName, WorkerStop,
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
    /// The storage-version hashes that its servers show: one if they agree. Empty if the servers are named.
    pub hashes: BTreeSet<StorageVersionHash>,
    /// Only if the resource's StorageState was last changed at this revision, which the observer read before it looked;
    /// zero: there is none. Otherwise an older observation would remove what was learned since.
    pub if_revision: Option<Revision>,
    /// The observer. `None`: one without a name, which has reached every server. Since 0.1.
    pub observer: Option<ObserverName>,
    /// The servers that a named observer has reached. Of the others that it has ever reached its look stays. Since 0.1.
    pub servers: BTreeMap<ObservedServer, ServerLook>,
}

impl ObserveStorage {
    /// What an observer without a name saw, which reached every server.
    pub fn unnamed(resource: GroupResource, hashes: BTreeSet<StorageVersionHash>) -> Self {
        Self {
            resource,
            kind: None,
            hashes,
            if_revision: None,
            observer: None,
            servers: BTreeMap::new(),
        }
    }

    /// The broken rules of the request that do not depend on the state.
    pub fn check(&self) -> Violations {
        let mut violations = Violations::new();
        if self.observer.is_some() {
            self.check_servers(&mut violations);
            return violations;
        }
        if !self.servers.is_empty() {
            let rule = "must name the observer: only what a named observer shows is kept by server";
            violations.push(Violation::required(rule).at("observer"));
        }
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

    /// The hashes that any server shows.
    pub fn shown_hashes(&self) -> BTreeSet<StorageVersionHash> {
        let named = self.servers.values().flat_map(|look| &look.hashes);
        self.hashes.iter().chain(named).copied().collect()
    }

    /// Whether no server shows the resource.
    pub fn shows_nothing(&self) -> bool {
        let mut named = self.servers.values();
        self.hashes.is_empty() && named.all(|look| look.hashes.is_empty())
    }

    fn check_servers(&self, violations: &mut Violations) {
        let servers = self.servers.len();
        if servers == 0 {
            let rule = "must name the servers that were reached: an observer that reached none saw nothing";
            violations.push(Violation::required(rule).at("servers"));
        }
        if servers > OBSERVED_SERVERS_MAX {
            violations.push(Violation::too_many(servers, OBSERVED_SERVERS_MAX).at("servers"));
        }
        for (index, look) in self.servers.values().enumerate() {
            let hashes = look.hashes.len();
            if hashes > OBSERVED_HASHES_MAX {
                let violation = Violation::too_many(hashes, OBSERVED_HASHES_MAX);
                violations.push(violation.at(&format!("servers[{index}].hashes")));
            }
        }
        if !self.hashes.is_empty() {
            let rule = "a named observer gives the hashes by server";
            let first = self.hashes.first().map(ToString::to_string);
            violations.push(Violation::invalid(&first.unwrap_or_default(), rule).at("hashes"));
        }
    }
}

/// Ends what looks at the discovery of a resource have shown, which then drains: an operator knows better. Since 0.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DismissLooks {
    /// The resource.
    pub resource: GroupResource,
    /// The observer whose look ends; `None`: every observer's.
    pub observer: Option<ObserverName>,
    /// The server of which the looks end; `None`: every server. An observer without a name has named none.
    pub server: Option<ObservedServer>,
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
