//! Migrations: reading them, working at them, and the checks of what a completed migration makes safe.

use synod_model::{
    AbortMigration, ApiVersion, Binary, ClaimMigration, ClaimToken, ClusterId, CompleteMigration,
    DeleteMigration, DismissLooks, FailMigration, GroupResource, MigrationAlias, MigrationFailure,
    MigrationId, MigrationProgress, MigrationReason, ObserveStorage, ReleaseMigration,
    ReportMigrationProgress, ResetStorageStates, RetryMigration, StartMigration, Ttl, WorkerName,
    WorkerStop,
};
use synod_proto::{Change, v1};

use super::{Client, stubs};
use crate::pages::Pages;
use crate::read_options::list_options;
use crate::transport::Try;
use crate::values::read;
use crate::{
    Changed, Error, Header, MigrationClaimed, MigrationCompleted, MigrationPage, MigrationStarted,
    MigrationView, ReadOptions, Safety,
};

/// Which migrations to list, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListMigrations {
    /// How to read.
    pub read: ReadOptions,
    /// How many to ask for at a time; at most 5,000. `None`: 500.
    pub page_size: Option<u32>,
}

impl ListMigrations {
    /// All migrations, linearizable.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

list_options!(ListMigrations);

/// The claim of a worker on a migration: the migration, the token of the claim, and the cluster that answered it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimKey {
    /// Which migration.
    pub id: MigrationId,
    /// The fencing token.
    pub token: ClaimToken,
    /// The cluster that issued the token. Any other cluster refuses it.
    pub cluster: ClusterId,
}

impl ClaimKey {
    /// A request under this claim.
    fn says<T>(&self, body: T) -> Change<T> {
        Change {
            epoch_cluster: Some(self.cluster),
            ..Change::new(body)
        }
    }
}

/// A changing call of `Migrations`: its request and answer, and the method.
macro_rules! change {
    ($client:expr, $change:expr, $request:ident, $method:ident) => {
        $client.change($change, |attempt: Try, message| {
            let request = attempt.request::<v1::$request>(message);
            async move { stubs::migrations(attempt.channel).$method(request).await }
        })
    };
}

/// As `change`, or with `$dry_run` a dry run.
macro_rules! write {
    ($client:expr, $dry_run:ident, $body:expr, $request:ident, $method:ident) => {
        $client.write($dry_run, Change::new($body), |attempt: Try, message| {
            let dry_run = $dry_run;
            let message = v1::$request { dry_run, ..message };
            let request = attempt.request(message);
            async move { stubs::migrations(attempt.channel).$method(request).await }
        })
    };
}

impl Client {
    /// Reads one migration.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is no migration of this name.
    pub async fn migration(
        &self,
        id: &MigrationId,
        options: ReadOptions,
    ) -> Result<MigrationView, Error> {
        self.get_migration(id.to_string(), options).await
    }

    /// Reads the migration that has an alias.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: no migration has this alias.
    pub async fn migration_by_alias(
        &self,
        alias: &MigrationAlias,
        options: ReadOptions,
    ) -> Result<MigrationView, Error> {
        self.get_migration(alias.to_string(), options).await
    }

    async fn get_migration(
        &self,
        name: String,
        options: ReadOptions,
    ) -> Result<MigrationView, Error> {
        let message = v1::MigrationsGetRequest {
            name,
            read: options.to_wire(),
        };
        let answer = self.read(|attempt| {
            let request = attempt.request(message.clone());
            async move { stubs::migrations(attempt.channel).get(request).await }
        });
        read::<v1::MigrationsGetResponse, _>(answer.await?)
    }

    /// Reads migrations, page by page, all at one revision.
    #[must_use]
    pub fn migrations(&self, list: ListMigrations) -> Pages<MigrationPage> {
        list.pages(self.clone())
    }

    /// Creates a migration to the version that is agreed on.
    ///
    /// With [`RewriteAll`](MigrationReason::RewriteAll), objects of a resource stored after this call need no rewrite: before
    /// it, every server must write with the new key, and no write with the old one may still land
    /// ([`start_revision`](synod_model::Migration::start_revision)). Of a key topic they may need one: what each object is
    /// encrypted with decides ([`rewrites`](synod_model::Migration::rewrites)).
    ///
    /// # Errors
    ///
    /// `NO_AGREEMENT`; `ALREADY_EXISTS`: a migration of this reason waits, runs or has failed.
    pub async fn start_migration(
        &self,
        resource: &GroupResource,
        reason: MigrationReason,
    ) -> Result<MigrationStarted, Error> {
        let start = StartMigration {
            resource: resource.clone(),
            reason,
            alias: None,
        };
        self.send_start_migration(start, false).await
    }

    /// Creates a migration as [`start_migration`](Self::start_migration) does, under a name of one's own beside its id.
    ///
    /// # Errors
    ///
    /// As [`start_migration`](Self::start_migration). `ALREADY_EXISTS`, with `alias` in the metadata: another migration has the
    /// alias. `UNAVAILABLE`: not every replica knows aliases yet.
    pub async fn start_migration_as(
        &self,
        alias: &MigrationAlias,
        resource: &GroupResource,
        reason: MigrationReason,
    ) -> Result<MigrationStarted, Error> {
        let start = StartMigration {
            resource: resource.clone(),
            reason,
            alias: Some(alias.clone()),
        };
        self.send_start_migration(start, false).await
    }

    pub(super) async fn send_start_migration(
        &self,
        start: StartMigration,
        dry_run: bool,
    ) -> Result<MigrationStarted, Error> {
        let answer = write!(self, dry_run, start, MigrationsStartRequest, start);
        read::<v1::MigrationsStartResponse, _>(answer.await?)
    }

    /// Claims a pending migration for a worker. The claim lasts as long as the worker reports once in every `ttl`: the worker
    /// starts no rewrite later than nine tenths of that after it has sent the last report that was answered.
    ///
    /// # Errors
    ///
    /// `DRAINING`: writes in another version may still land. `CONFLICT`: the migration cannot be claimed, or not yet.
    pub async fn claim_migration(
        &self,
        id: &MigrationId,
        worker: &WorkerName,
        ttl: Ttl,
    ) -> Result<MigrationClaimed, Error> {
        let (id, worker, fenced) = (id.clone(), worker.clone(), false);
        self.send_claim_migration(ClaimMigration {
            id,
            worker,
            ttl,
            fenced,
            walks: None,
        })
        .await
    }

    /// Claims a pending migration as [`claim_migration`](Self::claim_migration) does, also for a worker that raises a fence in its
    /// store before it lists ([`Fenced`](crate::Fenced)): it need not wait for what other fenced workers may still write. It says what it walks, too.
    ///
    /// # Errors
    ///
    /// As [`claim_migration`](Self::claim_migration).
    pub async fn send_claim_migration(
        &self,
        claim: ClaimMigration,
    ) -> Result<MigrationClaimed, Error> {
        let answer = change!(self, Change::new(claim), MigrationsClaimRequest, claim);
        read::<v1::MigrationsClaimResponse, _>(answer.await?)
    }

    /// Reports how far a migration is, and so keeps its claim.
    ///
    /// # Errors
    ///
    /// `CONFLICT`: the claim has ended: stop working.
    pub async fn report_migration_progress(
        &self,
        claim: &ClaimKey,
        progress: MigrationProgress,
    ) -> Result<Changed, Error> {
        let report = claim.says(ReportMigrationProgress {
            id: claim.id.clone(),
            token: claim.token,
            progress,
        });
        let answer = change!(self, report, MigrationsProgressRequest, progress);
        read::<v1::MigrationsProgressResponse, _>(answer.await?)
    }

    /// Completes a migration: every object is in the target's encoding.
    ///
    /// # Errors
    ///
    /// `NO_AGREEMENT`: the agreement that the migration is for does not hold any more. `CONFLICT`: the claim has ended.
    pub async fn complete_migration(&self, claim: &ClaimKey) -> Result<MigrationCompleted, Error> {
        let complete = claim.says(CompleteMigration {
            id: claim.id.clone(),
            token: claim.token,
        });
        let answer = change!(self, complete, MigrationsCompleteRequest, complete);
        read::<v1::MigrationsCompleteResponse, _>(answer.await?)
    }

    /// Fails a migration. Unless the failure is permanent, it is tried again later. `stop` is what the worker says of its
    /// rewrites, as in [`release_migration`](Self::release_migration).
    ///
    /// # Errors
    ///
    /// `CONFLICT`: the claim has ended.
    pub async fn fail_migration(
        &self,
        claim: &ClaimKey,
        failure: MigrationFailure,
        stop: Option<WorkerStop>,
    ) -> Result<Header, Error> {
        let fail = claim.says(FailMigration {
            id: claim.id.clone(),
            token: claim.token,
            class: failure.class,
            reason: failure.reason,
            stop,
        });
        let answer = change!(self, fail, MigrationsFailRequest, fail);
        let answer: v1::MigrationsFailResponse = answer.await?;
        read(answer.header)
    }

    /// Gives a claim back before it has run out: the migration waits for a worker again, and the next one continues from the
    /// last reported progress.
    ///
    /// Claims of other targets wait for what the worker may still write. `stop` is what the worker says of its
    /// rewrites; `None` if the caller does not speak for the worker. `AllAnswered` is also taken of a claim that has ended, whose
    /// drain it lifts.
    ///
    /// # Errors
    ///
    /// `CONFLICT`: the claim has ended. `UNAVAILABLE`: not every replica knows this call yet, so the claim has to run out.
    pub async fn release_migration(
        &self,
        claim: &ClaimKey,
        stop: Option<WorkerStop>,
    ) -> Result<Header, Error> {
        let release = claim.says(ReleaseMigration {
            id: claim.id.clone(),
            token: claim.token,
            stop,
        });
        let answer = change!(self, release, MigrationsReleaseRequest, release);
        let answer: v1::MigrationsReleaseResponse = answer.await?;
        read(answer.header)
    }

    /// Aborts a migration.
    ///
    /// # Errors
    ///
    /// `CONFLICT`: the migration has ended.
    pub async fn abort_migration(&self, id: &MigrationId) -> Result<Header, Error> {
        let abort = AbortMigration { id: id.clone() };
        self.send_abort_migration(abort, false).await
    }

    pub(super) async fn send_abort_migration(
        &self,
        abort: AbortMigration,
        dry_run: bool,
    ) -> Result<Header, Error> {
        let answer = write!(self, dry_run, abort, MigrationsAbortRequest, abort);
        let answer: v1::MigrationsAbortResponse = answer.await?;
        read(answer.header)
    }

    /// Deletes a migration, at any time. One that has not ended is aborted by that, and its worker learns so with its next
    /// call. What is known of the store stays as it is.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is no such migration. `CONFLICT`: it is not the one that is meant. `UNAVAILABLE`: not every replica
    /// knows this call yet.
    pub async fn delete_migration(&self, delete: DeleteMigration) -> Result<Header, Error> {
        self.send_delete_migration(delete, false).await
    }

    pub(super) async fn send_delete_migration(
        &self,
        delete: DeleteMigration,
        dry_run: bool,
    ) -> Result<Header, Error> {
        let answer = write!(self, dry_run, delete, MigrationsDeleteRequest, delete);
        let answer: v1::MigrationsDeleteResponse = answer.await?;
        read(answer.header)
    }

    /// Has a failed migration tried again at once.
    ///
    /// # Errors
    ///
    /// `CONFLICT`: it has not failed. `NO_AGREEMENT`: the agreement that it is for does not hold any more.
    pub async fn retry_migration(&self, id: &MigrationId) -> Result<Header, Error> {
        let retry = RetryMigration { id: id.clone() };
        self.send_retry_migration(retry, false).await
    }

    pub(super) async fn send_retry_migration(
        &self,
        retry: RetryMigration,
        dry_run: bool,
    ) -> Result<Header, Error> {
        let answer = write!(self, dry_run, retry, MigrationsRetryRequest, retry);
        let answer: v1::MigrationsRetryResponse = answer.await?;
        read(answer.header)
    }

    /// Reports what discovery shows of a resource. For a resource that no member reports, this is all that is known;
    /// for others it is evidence beside the members' reports. It counts for two periods of log time, except for
    /// versions that no member says it encodes: they stay until a later look does not show them, or a reset. The look of a
    /// named observer stays server by server, until [`Client::dismiss_looks`] or later reports end it.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: no hash, or too many. `QUOTA`: the resource is new, and the state is full. `CONFLICT`: the
    /// state has changed since `if_revision`, which was read before the look: look again.
    pub async fn observe(&self, observe: ObserveStorage) -> Result<Changed, Error> {
        let observe = Change::new(observe);
        let answer = change!(self, observe, MigrationsObserveRequest, observe);
        read::<v1::MigrationsObserveResponse, _>(answer.await?)
    }

    /// Ends what looks at discovery have shown of a resource, as of a server that is gone: no server writes it any more, says
    /// whoever calls this. It drains. Since 0.1.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: there is no such look. `UNAVAILABLE`: not all replicas know the call yet.
    pub async fn dismiss_looks(&self, dismiss: DismissLooks) -> Result<Changed, Error> {
        self.send_dismiss(dismiss, false).await
    }

    pub(super) async fn send_dismiss(
        &self,
        dismiss: DismissLooks,
        dry_run: bool,
    ) -> Result<Changed, Error> {
        let answer = write!(self, dry_run, dismiss, MigrationsDismissRequest, dismiss);
        read::<v1::MigrationsDismissResponse, _>(answer.await?)
    }

    /// Forgets the storage state of one resource, or of all. Keys and levels of features that may be in use are kept.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`: the resource has no state.
    pub async fn reset_storage_states(
        &self,
        resource: Option<&GroupResource>,
    ) -> Result<Changed, Error> {
        let reset = ResetStorageStates {
            resource: resource.cloned(),
        };
        self.send_reset(reset, false).await
    }

    pub(super) async fn send_reset(
        &self,
        reset: ResetStorageStates,
        dry_run: bool,
    ) -> Result<Changed, Error> {
        let answer = write!(self, dry_run, reset, MigrationsResetRequest, reset);
        read::<v1::MigrationsResetResponse, _>(answer.await?)
    }

    /// Checks whether a binary may join, and returns what a safe answer assumes.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT`: a resource is named twice, or would be encoded in a version that is not decoded.
    pub async fn check_binary(
        &self,
        binary: Binary,
        options: ReadOptions,
    ) -> Result<Safety, Error> {
        let check = synod_proto::CheckBinary {
            binary,
            read: synod_proto::Consistency::default(),
        };
        let message = v1::StorageVersionsCheckBinaryRequest {
            read: options.to_wire(),
            ..(&check).into()
        };
        let answer = self.read(|attempt| {
            let request = attempt.request(message.clone());
            async move {
                stubs::storage_versions(attempt.channel)
                    .check_binary(request)
                    .await
            }
        });
        read::<v1::StorageVersionsCheckBinaryResponse, _>(answer.await?)
    }

    /// Checks whether a version of a resource may be dropped from the binaries, and returns what a safe answer assumes.
    ///
    /// # Errors
    ///
    /// No replica answered in time.
    pub async fn check_drop(
        &self,
        resource: &GroupResource,
        version: &ApiVersion,
        options: ReadOptions,
    ) -> Result<Safety, Error> {
        let message = v1::StorageVersionsCheckDropRequest {
            resource: Some(resource.into()),
            version: version.to_string(),
            read: options.to_wire(),
        };
        let answer = self.read(|attempt| {
            let request = attempt.request(message.clone());
            async move {
                stubs::storage_versions(attempt.channel)
                    .check_drop(request)
                    .await
            }
        });
        read::<v1::StorageVersionsCheckDropResponse, _>(answer.await?)
    }
}
