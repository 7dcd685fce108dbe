use synod_model::{
    AbortMigration, ClaimMigration, ClaimToken, CompleteMigration, DeleteMigration, DismissLooks,
    FailMigration, MigrationId, ObserveStorage, ReleaseMigration, ReportMigrationProgress,
    ResetStorageStates, RetryMigration, StartMigration, Ttl, Violations,
};

use super::{Change, requests};
use crate::convert::distinct;
use crate::wire::{Wire, required};
use crate::{messages, read_fields, v1};

requests! {
    v1::MigrationsStartRequest = StartMigration;
    v1::MigrationsClaimRequest = ClaimMigration;
    v1::MigrationsProgressRequest = ReportMigrationProgress, token claim;
    v1::MigrationsCompleteRequest = CompleteMigration, token claim;
    v1::MigrationsFailRequest = FailMigration, token claim;
    v1::MigrationsReleaseRequest = ReleaseMigration, token claim;
    v1::MigrationsAbortRequest = AbortMigration;
    v1::MigrationsDeleteRequest = DeleteMigration;
    v1::MigrationsRetryRequest = RetryMigration;
    v1::MigrationsObserveRequest = ObserveStorage;
    v1::MigrationsDismissRequest = DismissLooks;
    v1::MigrationsResetRequest = ResetStorageStates;
}

messages! {
    v1::MigrationsStartRequest = StartMigration {
        resource = resource,
        reason = reason,
        alias = alias,
        ; ..Default::default()
    } => check
    v1::MigrationsClaimRequest = ClaimMigration {
        id = name,
        worker = worker,
        ttl = ttl_ms or Ttl::DEFAULT,
        fenced = fenced,
        walks = walks,
        ; ..Default::default()
    }
    v1::MigrationsProgressRequest = ReportMigrationProgress {
        (id, token) = claim,
        progress = progress,
        ; ..Default::default()
    }
    v1::MigrationsCompleteRequest = CompleteMigration {
        (id, token) = claim,
        ; ..Default::default()
    }
    v1::MigrationsFailRequest = FailMigration {
        (id, token) = claim,
        class = class,
        reason = reason,
        stop = stop,
        ; ..Default::default()
    }
    v1::MigrationsReleaseRequest = ReleaseMigration {
        (id, token) = claim,
        stop = stop,
        ; ..Default::default()
    }
    v1::MigrationsAbortRequest = AbortMigration {
        id = name,
        ; ..Default::default()
    }
    v1::MigrationsDeleteRequest = DeleteMigration {
        id = name,
        preconditions = preconditions,
        ; ..Default::default()
    }
    v1::MigrationsRetryRequest = RetryMigration {
        id = name,
        ; ..Default::default()
    }
    v1::MigrationsObserveRequest = ObserveStorage {
        resource = resource,
        hashes = hashes by distinct,
        kind = kind,
        if_revision = if_revision,
        observer = observer,
        servers = servers,
        ; ..Default::default()
    } => check
    v1::MigrationsDismissRequest = DismissLooks {
        resource = resource,
        observer = observer,
        server = server,
        ; ..Default::default()
    }
    v1::MigrationsResetRequest = ResetStorageStates {
        resource = resource,
        ; ..Default::default()
    }
}

/// The claim of a worker. The cluster that gave the claim is converted separately.
impl Wire<Option<v1::ClaimKey>> for (MigrationId, ClaimToken) {
    fn to_wire(&self) -> Option<v1::ClaimKey> {
        Some(v1::ClaimKey {
            migration: self.0.to_wire(),
            token: self.1.to_wire(),
            cluster_id: String::new(),
        })
    }

    fn of_wire(pb: Option<v1::ClaimKey>) -> Result<Self, Violations> {
        let pb = required(pb, "must be what the claim answered")?;
        let mut found = Violations::new();
        read_fields! { pb, found; id = migration, token = token }
        Ok((id, token))
    }
}
