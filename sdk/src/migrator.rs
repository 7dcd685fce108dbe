//! A worker that carries migrations out: it claims them, rewrites every object page by page, and says how far it is.
//!
//! Several workers share the resources: a migration is one's at a time. What a worker has done is saved with each page,
//! so the next one goes on there when it dies. A worker whose migration is aborted stops at once.

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

/// What became of a migration that was worked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Worked {
    /// Every object is in the target's encoding.
    Completed {
        /// What that rests on beside what is known. None: nothing.
        assumptions: Vec<Assumed>,
    },
    /// It was given up, and why.
    Failed(MigrationFailure),
    /// It is not this worker's any more: it was aborted, or another has it.
    Lost,
}

/// A worker. It does nothing by itself: [`run`](Self::run) works until it is dropped.
#[derive(Debug)]
pub struct Migrator<S> {
    client: Client,
    store: Arc<S>,
    options: MigratorOptions,
}

/// How long a worker waits before it asks again for a migration that another has or that drains.
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

    /// Works at every migration of its resources, those of today and those to come. Does not end by itself: while the
    /// cluster does not answer it waits, and then goes on.
    ///
    /// # Errors
    ///
    /// The cluster cannot be watched any more, or refuses for good what a worker asks.
    pub async fn run(&self) -> Result<(), Error> {
        let reflector = self.client.reflect(vec![ObjectKind::Migration]).await?;
        loop {
            let revision = reflector.revision();
            let mut ask_again = ASK_AGAIN;
            for id in self.pending(&reflector) {
                match self.attend(&reflector, &id).await {
                    Ok(pause) => ask_again = ask_again.min(pause),
                    // Its claim ends by itself, and then it is gone on with where it was saved.
                    Err(error) if may_pass(&error) => {
                        tracing::warn!(%error, migration = %id, "a migration is put off");
                    }
                    Err(error) => return Err(error),
                }
            }
            // A drain ends without a word, and so does what keeps a failed one back.
            if let Ok(changed) = timeout(ask_again, reflector.changed(revision)).await {
                changed?;
            }
        }
    }

    /// Works at one migration, if it is to be had now. `None`: it is not.
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

    /// Works at a migration if it is to be had now; answers when to ask again.
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
                ErrorKind::Conflict | ErrorKind::NotFound => Ok(Claiming::NotNow),
                _ => Err(error),
            },
        }
    }

    /// Rewrites until the end, keeping the claim, and says how it ended.
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
                    // A collection counts objects in another version: somebody wrote behind this pass.
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

/// What came of asking for a migration.
enum Claiming {
    /// It is this worker's, which goes on where the one before stood.
    Claimed(ClaimKey, Pass),
    /// Writes in other versions may land for so long.
    Draining(Duration),
    /// Another has it, or it is gone.
    NotNow,
}

/// Whether a call that failed so may succeed later, whatever became of it.
fn may_pass(error: &Error) -> bool {
    let is_late = matches!(
        error.kind(),
        ErrorKind::DeadlineExceeded | ErrorKind::UnknownOutcome | ErrorKind::RequestExpired
    );
    is_late || error.retryable()
}

/// How long a refusal says that it lasts.
fn retry_after(error: &Error) -> Duration {
    let told = error.metadata().get("retry_after_ms");
    let told = told.and_then(|text| text.parse().ok());
    // Log time stands still now and then, so the drain may last longer than it was told to: the pause is never zero.
    told.map_or(ASK_AGAIN, |left| {
        Duration::from_millis(left).max(DRAIN_PAUSE)
    })
}

/// What the refusal of a worker's word means.
fn ended(error: Error) -> Result<Worked, Error> {
    match error.kind() {
        ErrorKind::Conflict | ErrorKind::NoAgreement | ErrorKind::NotFound => Ok(Worked::Lost),
        _ => Err(error),
    }
}

/// Waits until the claim is seen to have ended.
async fn lost(reflector: &Reflector, claim: &ClaimKey) -> Result<(), Error> {
    // The claim itself may not have been seen yet.
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
