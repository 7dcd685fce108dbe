//! The migration worker: it claims migrations, rewrites every object page by page, and reports its progress.
//!
//! Several workers share the resources: each migration is claimed by one worker at a time. Progress is saved with each
//! page, so another worker continues there if this one dies. A worker whose migration is aborted stops at once.

mod collection;
mod failure;
mod fence;
mod options;
mod pass;
mod plan;
mod store;

use std::sync::Arc;
use std::time::Duration;

use synod_model::{ErrorKind, MigrationFailure, MigrationId, MigrationPhase};
use tokio::time::timeout;

pub use collection::{CollectionStore, RecodeError};
pub use fence::{Fence, FenceFault, FenceGuard, Fenced, FencedStore};
pub use options::MigratorOptions;
use pass::{Pass, Passed};
pub use plan::StoreError;
pub use store::{Store, StorePage};

use crate::{Assumed, ClaimKey, Client, Error, ObjectKind, Reflector};

/// The result of working at a migration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Worked {
    /// Every object is in the target's encoding.
    Completed {
        /// What this rests on beside what is known; empty if nothing.
        assumptions: Vec<Assumed>,
    },
    /// The worker gave it up, for this reason.
    Failed(MigrationFailure),
    /// This worker has it no longer: it was aborted, or another worker has it.
    Lost,
}

/// A migration worker. It starts no task: [`run`](Self::run) works until its future is dropped.
#[derive(Debug)]
pub struct Migrator<S> {
    client: Client,
    store: Arc<S>,
    options: MigratorOptions,
}

/// How long a worker waits before it asks again for a migration that another worker has or that is draining.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// The shortest time that a worker waits for a drain.
const DRAIN_PAUSE: Duration = Duration::from_millis(100);

impl<S: Store> Migrator<S> {
    /// A worker for the objects of a store.
    pub fn new(client: Client, store: S, options: MigratorOptions) -> Self {
        Self {
            client,
            store: Arc::new(store),
            options,
        }
    }

    /// Works at every migration of its resources, present and future. Does not end by itself: while the cluster does
    /// not answer, it waits.
    ///
    /// # Errors
    ///
    /// The cluster cannot be watched any more, or permanently refuses a request of the worker.
    pub async fn run(&self) -> Result<(), Error> {
        let reflector = self.client.reflect(vec![ObjectKind::Migration]).await?;
        loop {
            let revision = reflector.revision();
            let mut ask_again = ASK_AGAIN;
            for id in self.pending(&reflector) {
                match self.attend(&reflector, &id).await {
                    Ok(pause) => ask_again = ask_again.min(pause),
                    // Its claim ends by itself; then the migration is continued from its saved progress.
                    Err(error) if may_pass(&error) => {
                        tracing::warn!(%error, migration = %id, "a migration is put off");
                    }
                    Err(error) => return Err(error),
                }
            }
            // No event shows the end of a drain, or that a failed migration may be retried: so ask again later.
            if let Ok(changed) = timeout(ask_again, reflector.changed(revision)).await {
                changed?;
            }
        }
    }

    /// Works at one migration, if it can be claimed now. `None`: it cannot.
    ///
    /// # Errors
    ///
    /// The cluster does not answer.
    pub async fn run_one(&self, id: &MigrationId) -> Result<Option<Worked>, Error> {
        let reflector = self.client.reflect(vec![ObjectKind::Migration]).await?;
        match self.claim(id).await? {
            Claiming::Claimed(claim, pass) => self.work(&reflector, &claim, pass).await.map(Some),
            Claiming::Draining(_) | Claiming::NotNow => Ok(None),
        }
    }

    /// Works at a migration if it can be claimed now; returns after which time to ask again.
    async fn attend(&self, reflector: &Reflector, id: &MigrationId) -> Result<Duration, Error> {
        match self.claim(id).await? {
            Claiming::Claimed(claim, pass) => {
                self.work(reflector, &claim, pass).await?;
                Ok(ASK_AGAIN)
            }
            Claiming::Draining(left) => Ok(left),
            Claiming::NotNow => Ok(ASK_AGAIN),
        }
    }

    fn pending(&self, reflector: &Reflector) -> Vec<MigrationId> {
        let migrations = reflector.migrations().into_iter();
        let mine = migrations.filter(|migration| {
            migration.phase == MigrationPhase::Pending
                && self.options.resources.contains(migration.id.resource())
        });
        mine.map(|migration| migration.id.clone()).collect()
    }

    async fn claim(&self, id: &MigrationId) -> Result<Claiming, Error> {
        let claimed = self
            .client
            .claim_migration(id, &self.options.worker, self.options.ttl)
            .await;
        match claimed {
            Ok(claimed) => {
                let claim = ClaimKey {
                    id: id.clone(),
                    token: claimed.token,
                    cluster: claimed.header.cluster,
                };
                Ok(Claiming::Claimed(claim, Pass::resumed(claimed.progress)))
            }
            Err(error) => match error.kind() {
                ErrorKind::Draining => Ok(Claiming::Draining(retry_after(&error))),
                ErrorKind::Conflict | ErrorKind::NotFound | ErrorKind::SwitchedOff => {
                    Ok(Claiming::NotNow)
                }
                _ => Err(error),
            },
        }
    }

    /// Rewrites all objects while keeping the claim, and reports the result.
    async fn work(
        &self,
        reflector: &Reflector,
        claim: &ClaimKey,
        mut pass: Pass,
    ) -> Result<Worked, Error> {
        let view = self
            .client
            .migration(&claim.id, crate::ReadOptions::linearizable())
            .await?;
        loop {
            let passing = pass.run(
                &self.client,
                &*self.store,
                &self.options,
                claim,
                &view.migration,
            );
            let passed = tokio::select! {
                biased;
                ended = lost(reflector, claim) => return ended.map(|()| Worked::Lost),
                passed = passing => passed?,
            };
            let failure = match passed {
                Passed::Lost => return Ok(Worked::Lost),
                Passed::GaveUp(failure) => failure,
                Passed::All => match self.client.complete_migration(claim).await {
                    Ok(completed) => {
                        let assumptions = completed.assumptions;
                        return Ok(Worked::Completed { assumptions });
                    }
                    // The collection counts objects in another version: they were written behind this pass.
                    Err(error) if error.metadata().contains_key("encoding") => {
                        pass = Pass::again(pass);
                        continue;
                    }
                    Err(error) => return ended(error),
                },
            };
            return match self.client.fail_migration(claim, failure.clone()).await {
                Ok(_) => Ok(Worked::Failed(failure)),
                Err(error) => ended(error),
            };
        }
    }
}

/// The result of claiming a migration.
enum Claiming {
    /// This worker has it, and continues from its saved progress.
    Claimed(ClaimKey, Pass),
    /// Writes in other versions may land for this long.
    Draining(Duration),
    /// Another worker has it, it is gone, or migrations are switched off.
    NotNow,
}

/// Whether a call that failed with this error may succeed later, whatever its outcome was.
fn may_pass(error: &Error) -> bool {
    let is_late = matches!(
        error.kind(),
        ErrorKind::DeadlineExceeded | ErrorKind::UnknownOutcome | ErrorKind::RequestExpired
    );
    is_late || error.retryable()
}

/// How long to wait before a retry, as the refusal says.
fn retry_after(error: &Error) -> Duration {
    let told = error.metadata().get("retry_after_ms");
    let told = told.and_then(|text| text.parse().ok());
    // Log time may stop for a while, so the drain may last longer than the refusal says: the pause is never zero.
    told.map_or(ASK_AGAIN, |left| {
        Duration::from_millis(left).max(DRAIN_PAUSE)
    })
}

/// What the refusal of a worker's final report means.
fn ended(error: Error) -> Result<Worked, Error> {
    match error.kind() {
        ErrorKind::Conflict | ErrorKind::NoAgreement | ErrorKind::NotFound => Ok(Worked::Lost),
        _ => Err(error),
    }
}

/// Waits until the reflector shows that the claim has ended.
async fn lost(reflector: &Reflector, claim: &ClaimKey) -> Result<(), Error> {
    // The reflector may not show the claim itself yet.
    let _ = reflector
        .reached(
            claim.token.revision(),
            Duration::from_secs(u64::from(u32::MAX)),
        )
        .await;
    loop {
        let revision = reflector.revision();
        let migration = reflector.migration(&claim.id);
        let held = migration.and_then(|migration| migration.claim.as_ref().map(|c| c.token));
        if held != Some(claim.token) {
            return Ok(());
        }
        reflector.changed(revision).await?;
    }
}
