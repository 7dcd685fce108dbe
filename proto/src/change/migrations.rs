use std::collections::BTreeSet;

use synod_model::{
    AbortMigration, ClaimMigration, ClaimToken, ClusterId, CompleteMigration, FailMigration,
    FailureClass, FailureReason, GroupResource, Kind, MigrationId, MigrationProgress,
    MigrationReason, ObserveStorage, ReportMigrationProgress, ResetStorageStates, RetryMigration,
    Revision, StartMigration, StorageVersionHash, Ttl, Violation, Violations, WorkerName,
};

use super::adopt::resource;
use super::{Change, key, named};
use crate::convert::migration;
use crate::fields::{cluster, list, required, sound};
use crate::v1;

/// A claim, and the cluster that gave it.
struct Claimed {
    id: MigrationId,
    token: ClaimToken,
    cluster: Option<ClusterId>,
}

/// Reads the field `claim`.
fn claim(pb: Option<v1::ClaimKey>, found: &mut Violations) -> Option<Claimed> {
    found.parsed("claim", parse_claim(pb))
}

fn parse_claim(pb: Option<v1::ClaimKey>) -> Result<Claimed, Violations> {
    let pb = required(pb, "must be what the claim answered")?;
    let mut found = Violations::new();
    let id = found.parsed("migration", migration(&pb.migration));
    let token = ClaimToken::new(Revision::new(pb.token));
    found.parsed("token", token.check());
    let cluster = found.parsed("clusterId", cluster(&pb.cluster_id)).flatten();
    let Some(id) = id else { return Err(found) };
    sound(Claimed { id, token, cluster }, found)
}

impl<T> Change<T> {
    /// The claim under which a worker speaks, as it is sent.
    fn wire_claim(&self, id: &MigrationId, token: ClaimToken) -> Option<v1::ClaimKey> {
        Some(v1::ClaimKey {
            migration: id.to_string(),
            token: token.get(),
            cluster_id: named(self.token_cluster),
        })
    }

    /// The request with this key and body, if nothing was found to be wrong.
    fn read(
        key: super::Key,
        claim: Option<ClusterId>,
        body: T,
        found: Violations,
    ) -> Result<Self, Violations> {
        let change = Self {
            key: key.id,
            session_cluster: key.cluster,
            epoch_cluster: None,
            token_cluster: claim,
            body,
        };
        sound(change, found)
    }
}

impl From<&Change<StartMigration>> for v1::MigrationsStartRequest {
    fn from(change: &Change<StartMigration>) -> Self {
        Self {
            request_id: change.wire_key(),
            resource: Some((&change.body.resource).into()),
            reason: v1::MigrationReason::from(change.body.reason).into(),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::MigrationsStartRequest> for Change<StartMigration> {
    type Error = Violations;

    fn try_from(pb: v1::MigrationsStartRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let reason = found.parsed("reason", MigrationReason::try_from(pb.reason()));
        let key = key(pb.request_id, &mut found);
        let resource = found.parsed("resource", resource(pb.resource));
        let (Some(resource), Some(reason)) = (resource, reason) else {
            return Err(found);
        };
        let body = StartMigration { resource, reason };
        found.extend_at("", body.check());
        Self::read(key, None, body, found)
    }
}

impl From<&Change<ClaimMigration>> for v1::MigrationsClaimRequest {
    fn from(change: &Change<ClaimMigration>) -> Self {
        Self {
            request_id: change.wire_key(),
            name: change.body.id.to_string(),
            worker: change.body.worker.to_string(),
            ttl_ms: Some(change.body.ttl.as_millis()),
        }
    }
}

impl TryFrom<v1::MigrationsClaimRequest> for Change<ClaimMigration> {
    type Error = Violations;

    fn try_from(pb: v1::MigrationsClaimRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let id = found.parsed("name", migration(&pb.name));
        let worker = found.parsed("worker", WorkerName::parse(&pb.worker));
        let ttl = pb.ttl_ms.map_or(Ok(Ttl::DEFAULT), Ttl::from_millis);
        let ttl = found.parsed("ttlMs", ttl);
        let (Some(id), Some(worker), Some(ttl)) = (id, worker, ttl) else {
            return Err(found);
        };
        Self::read(key, None, ClaimMigration { id, worker, ttl }, found)
    }
}

impl From<&Change<ReportMigrationProgress>> for v1::MigrationsProgressRequest {
    fn from(change: &Change<ReportMigrationProgress>) -> Self {
        Self {
            request_id: change.wire_key(),
            claim: change.wire_claim(&change.body.id, change.body.token),
            progress: Some((&change.body.progress).into()),
        }
    }
}

impl TryFrom<v1::MigrationsProgressRequest> for Change<ReportMigrationProgress> {
    type Error = Violations;

    fn try_from(pb: v1::MigrationsProgressRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let claim = claim(pb.claim, &mut found);
        let progress = MigrationProgress::try_from(pb.progress.unwrap_or_default());
        let progress = found.parsed("progress", progress);
        let (Some(claim), Some(progress)) = (claim, progress) else {
            return Err(found);
        };
        let body = ReportMigrationProgress {
            id: claim.id,
            token: claim.token,
            progress,
        };
        Self::read(key, claim.cluster, body, found)
    }
}

impl From<&Change<CompleteMigration>> for v1::MigrationsCompleteRequest {
    fn from(change: &Change<CompleteMigration>) -> Self {
        Self {
            request_id: change.wire_key(),
            claim: change.wire_claim(&change.body.id, change.body.token),
        }
    }
}

impl TryFrom<v1::MigrationsCompleteRequest> for Change<CompleteMigration> {
    type Error = Violations;

    fn try_from(pb: v1::MigrationsCompleteRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let Some(claim) = claim(pb.claim, &mut found) else {
            return Err(found);
        };
        let body = CompleteMigration {
            id: claim.id,
            token: claim.token,
        };
        Self::read(key, claim.cluster, body, found)
    }
}

impl From<&Change<FailMigration>> for v1::MigrationsFailRequest {
    fn from(change: &Change<FailMigration>) -> Self {
        Self {
            request_id: change.wire_key(),
            claim: change.wire_claim(&change.body.id, change.body.token),
            class: v1::FailureClass::from(change.body.class).into(),
            reason: change.body.reason.to_string(),
        }
    }
}

impl TryFrom<v1::MigrationsFailRequest> for Change<FailMigration> {
    type Error = Violations;

    fn try_from(pb: v1::MigrationsFailRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let class = found.parsed("class", FailureClass::try_from(pb.class()));
        let key = key(pb.request_id, &mut found);
        let claim = claim(pb.claim, &mut found);
        let reason = found.parsed("reason", FailureReason::parse(&pb.reason));
        let (Some(claim), Some(class), Some(reason)) = (claim, class, reason) else {
            return Err(found);
        };
        let body = FailMigration {
            id: claim.id,
            token: claim.token,
            class,
            reason,
        };
        Self::read(key, claim.cluster, body, found)
    }
}

impl From<&Change<AbortMigration>> for v1::MigrationsAbortRequest {
    fn from(change: &Change<AbortMigration>) -> Self {
        Self {
            request_id: change.wire_key(),
            name: change.body.id.to_string(),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::MigrationsAbortRequest> for Change<AbortMigration> {
    type Error = Violations;

    fn try_from(pb: v1::MigrationsAbortRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let Some(id) = found.parsed("name", migration(&pb.name)) else {
            return Err(found);
        };
        Self::read(key, None, AbortMigration { id }, found)
    }
}

impl From<&Change<RetryMigration>> for v1::MigrationsRetryRequest {
    fn from(change: &Change<RetryMigration>) -> Self {
        Self {
            request_id: change.wire_key(),
            name: change.body.id.to_string(),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::MigrationsRetryRequest> for Change<RetryMigration> {
    type Error = Violations;

    fn try_from(pb: v1::MigrationsRetryRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let Some(id) = found.parsed("name", migration(&pb.name)) else {
            return Err(found);
        };
        Self::read(key, None, RetryMigration { id }, found)
    }
}

impl From<&Change<ObserveStorage>> for v1::MigrationsObserveRequest {
    fn from(change: &Change<ObserveStorage>) -> Self {
        Self {
            request_id: change.wire_key(),
            resource: Some((&change.body.resource).into()),
            hashes: change.body.hashes.iter().map(ToString::to_string).collect(),
            kind: change.body.kind.as_ref().map(ToString::to_string),
            if_revision: change.body.if_revision.map(Revision::get),
        }
    }
}

impl TryFrom<v1::MigrationsObserveRequest> for Change<ObserveStorage> {
    type Error = Violations;

    fn try_from(pb: v1::MigrationsObserveRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let resource = found.parsed("resource", resource(pb.resource));
        let hashes = list(pb.hashes, |text| StorageVersionHash::parse(&text));
        let hashes: Option<Vec<StorageVersionHash>> = found.parsed("hashes", hashes);
        let kind = found.parsed("kind", pb.kind.as_deref().map(Kind::parse).transpose());
        let (Some(resource), Some(hashes), Some(kind)) = (resource, hashes, kind) else {
            return Err(found);
        };
        let mut unique = BTreeSet::new();
        for (i, hash) in hashes.into_iter().enumerate() {
            if !unique.insert(hash) {
                let twice = Violation::duplicate(&hash.to_string());
                found.push(twice.at(&format!("hashes[{i}]")));
            }
        }
        let body = ObserveStorage {
            resource,
            kind,
            hashes: unique,
            if_revision: pb.if_revision.map(Revision::new),
        };
        found.extend_at("", body.check());
        Self::read(key, None, body, found)
    }
}

impl From<&Change<ResetStorageStates>> for v1::MigrationsResetRequest {
    fn from(change: &Change<ResetStorageStates>) -> Self {
        Self {
            request_id: change.wire_key(),
            resource: change.body.resource.as_ref().map(Into::into),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::MigrationsResetRequest> for Change<ResetStorageStates> {
    type Error = Violations;

    fn try_from(pb: v1::MigrationsResetRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let resource = pb.resource.map(GroupResource::try_from).transpose();
        let Some(resource) = found.parsed("resource", resource) else {
            return Err(found);
        };
        Self::read(key, None, ResetStorageStates { resource }, found)
    }
}
