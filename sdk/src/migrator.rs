//! A worker that carries migrations out: it claims them, rewrites every object page by page, and says how far it is.
//!
//! Several workers share the resources: a migration is one's at a time. What a worker has done is saved with each page,
//! so the next one goes on there when it dies. A worker whose migration is aborted stops at once.

mod collection;
mod fence;
mod pass;
mod plan;

use std::collections::BTreeSet;
use std::future::Future;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use synod_model::{
    ContinueToken, ErrorKind, FailureClass, FailureReason, GroupResource, Migration,
    MigrationFailure, MigrationId, MigrationPhase, Ttl, WorkerName,
};
use tokio::time::timeout;

pub use collection::{CollectionStore, RecodeError};
pub use fence::{Fence, FenceFault, FenceGuard, Fenced, FencedStore};
use pass::{Pass, Passed};
pub use plan::StoreError;

use crate::{Assumed, ClaimKey, Client, Error, ObjectKind, Reflector};

/// A store whose objects a worker rewrites.
pub trait Store: Send + Sync {
    /// An object as it was listed.
    type Object: Send + Sync;

    /// The objects after `token`, a page of them; from the first one without it.
    ///
    /// All that is on the page is rewritten, so the store leaves out what it knows to need no rewrite: what is in the
    /// target's encoding, and where everything is written anew ([`Migration::reason`]), what it knows to have been stored as a
    /// whole after the migration's start. A store that cannot tell leaves nothing out.
    ///
    /// A token is best the key of the last object, or has it: then the list goes on there at whatever state of the store.
    /// It is saved in the cluster, and comes back in another process, long after a snapshot of the store that it names is
    /// gone. To a token that cannot be gone on with, the store answers [`Expired`](StoreError::Expired) with one that can. With
    /// none, the list begins anew, and with it the rewriting of all that is not left out: a worker does that a few times in
    /// a walk, and then gives up.
    ///
    /// # Errors
    ///
    /// What the store said.
    fn list_page(
        &self,
        migration: &Migration,
        token: Option<&ContinueToken>,
    ) -> impl Future<Output = Result<StorePage<Self::Object>, StoreError>> + Send;

    /// Writes an object as it is, in the target's encoding, and only if nobody has changed it since it was listed.
    ///
    /// [`Conflict`](StoreError::Conflict) says that it is done: who was faster has encoded it anew, as every update does that
    /// an API server carries out. Where an object can be changed without that, the store reads it again and tries again
    /// by itself.
    ///
    /// # Errors
    ///
    /// What the store said.
    fn rewrite(
        &self,
        migration: &Migration,
        object: &Self::Object,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A page of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorePage<O> {
    /// The objects.
    pub objects: Vec<O>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<ContinueToken>,
    /// How many objects there may be behind this page, if the store says so.
    pub remaining: Option<u64>,
}

/// How a worker works.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigratorOptions {
    /// Under which name it claims, for people.
    pub worker: WorkerName,
    /// How long it may be silent before another takes its place.
    pub ttl: Ttl,
    /// The resources that it can rewrite.
    pub resources: BTreeSet<GroupResource>,
    /// How many objects it rewrites in a second at most; `None`: as many as the store takes.
    pub objects_per_second: Option<NonZeroU32>,
    /// How many objects of a page it rewrites at the same time at most, in any order.
    pub objects_at_once: NonZeroUsize,
}

impl MigratorOptions {
    /// A worker of this name for these resources, with the default TTL, one object after the other and as fast as the
    /// store.
    #[must_use]
    pub fn new(worker: WorkerName, resources: BTreeSet<GroupResource>) -> Self {
        Self {
            worker,
            ttl: Ttl::DEFAULT,
            resources,
            objects_per_second: None,
            objects_at_once: NonZeroUsize::MIN,
        }
    }

    /// How long it may be silent before another takes its place.
    #[must_use]
    pub fn ttl(mut self, ttl: Ttl) -> Self {
        self.ttl = ttl;
        self
    }

    /// How many objects it rewrites in a second at most.
    #[must_use]
    pub fn objects_per_second(mut self, rate: NonZeroU32) -> Self {
        self.objects_per_second = Some(rate);
        self
    }

    /// How many objects of a page it rewrites at the same time at most, in any order. A store whose writes wait for a
    /// disk or a network takes several in the time of one.
    #[must_use]
    pub fn objects_at_once(mut self, count: NonZeroUsize) -> Self {
        self.objects_at_once = count;
        self
    }
}

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

/// A failure in words that fit.
fn failure(class: FailureClass, text: &str) -> MigrationFailure {
    let shown: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .take(1_000)
        .collect();
    let reason = FailureReason::parse(&shown).or_else(|_| FailureReason::parse("it failed"));
    MigrationFailure {
        class,
        reason: reason.expect("a plain sentence is a reason"),
    }
}
