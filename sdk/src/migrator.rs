//! The migration worker: it claims migrations, rewrites every object page by page, and reports its progress.
//!
//! Several workers share the resources: each migration is claimed by one worker at a time. Progress is saved with each
//! page, so another worker continues there if this one dies. A worker whose migration is aborted stops at once. One that is
//! told to stop, or whose store is not ready, gives its claim back, so that another one need not wait until that runs out.

mod collection;
mod failure;
mod fence;
mod options;
mod pass;
mod plan;
mod put_off;
mod rewrites;
mod store;

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use synod_model::{
    ClaimMigration, ErrorKind, Migration, MigrationFailure, MigrationId, MigrationPhase, WorkerStop,
};
use tokio::time::timeout;

pub use collection::{CollectionStore, RecodeError};
pub use fence::{Fence, FenceFault, FenceGuard, Fenced, FencedStore};
pub use options::MigratorOptions;
use pass::{Pass, Passed};
pub use plan::StoreError;
use put_off::PutOff;
use rewrites::Rewrites;
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
    /// The worker gave its claim back: it waits for the next worker, which continues where this one stood.
    Released {
        /// Why, for people.
        why: String,
    },
    /// This worker has it no longer: it was aborted, or another worker has it.
    Lost,
}

/// The result of trying to work at a migration.
#[derive(Clone, Debug)]
pub enum Attempt {
    /// It was claimed, and worked at.
    Worked(Worked),
    /// It cannot be claimed now, and this says why: `DRAINING` with `retry_after_ms` in the metadata, `CONFLICT`, `NOT_FOUND`
    /// or `SWITCHED_OFF`.
    Refused(Error),
    /// The worker was told to stop before it claimed anything.
    Stopped,
}

/// A migration worker. It starts no task: [`run`](Self::run) works until its future is dropped, and
/// [`run_until`](Self::run_until) until it is told to stop. Only the latter gives back what is claimed; what a dropped future
/// has claimed is another worker's once the claim has run out.
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

/// How long a worker tries to give its claim back: a claim that it cannot give back runs out.
const RELEASING: Duration = Duration::from_secs(2);

/// How long a worker may take to stop.
const STOPPING: Duration = Duration::from_secs(3);

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
        self.run_until(pending()).await
    }

    /// As [`run`](Self::run), until `stop` ends. Then the worker gives back what it has claimed, and returns within three
    /// seconds, whether that succeeded or not: another worker continues at once, or once the claim has run out.
    ///
    /// Calls of the store that are under way are dropped unless they end within half a second: a write that was sent may land
    /// after the claim was given back. The cluster is told, and lets no migration to another version begin before that.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub async fn run_until(&self, stop: impl Future<Output = ()>) -> Result<(), Error> {
        let stop = stop.shared();
        // Boxed, since whoever awaits a worker would carry all that it keeps.
        let stopped = Box::pin(self.works_until(stop.clone()));
        ends_soon(stop, stopped).await.unwrap_or(Ok(()))
    }

    async fn works_until(&self, stop: impl Future<Output = ()> + Clone) -> Result<(), Error> {
        let reflecting = self.client.reflect(vec![ObjectKind::Migration]);
        let Some(reflector) = unless(stop.clone(), reflecting).await.transpose()? else {
            return Ok(());
        };
        let mut put_off = PutOff::default();
        loop {
            let revision = reflector.revision();
            let mut ask_again = ASK_AGAIN;
            let is_open = |migration: Arc<Migration>| migration.is_open();
            put_off.keep(|id| reflector.migration(id).is_some_and(is_open));
            for (id, done) in self.pending(&reflector) {
                if let Some(left) = put_off.left(&id) {
                    ask_again = ask_again.min(left);
                    continue;
                }
                match self.attempt(&reflector, &id, stop.clone()).await {
                    Ok(Attempt::Worked(Worked::Released { why })) => {
                        tracing::info!(migration = %id, why, "a claim was given back");
                        put_off.put_off(id, done);
                    }
                    Ok(Attempt::Worked(_)) => {}
                    Ok(Attempt::Refused(refusal)) => {
                        if let Some(walk) = refusal.metadata().get("walk") {
                            tracing::warn!(migration = %id, walk, "a worker that walks more has to take it");
                        }
                        ask_again = ask_again.min(retry_after(&refusal));
                    }
                    Ok(Attempt::Stopped) => return Ok(()),
                    // Its claim ends by itself; then the migration is continued from its saved progress.
                    Err(error) if may_pass(&error) => {
                        tracing::warn!(%error, migration = %id, "a migration is put off");
                    }
                    Err(error) => return Err(error),
                }
            }
            // No event shows the end of a drain, or that a failed migration may be retried: so ask again later.
            let waiting = timeout(ask_again, reflector.changed(revision));
            match unless(stop.clone(), waiting).await {
                None => return Ok(()),
                Some(Ok(changed)) => {
                    changed?;
                }
                Some(Err(_)) => {}
            }
        }
    }

    /// Works at one migration, if it can be claimed now. `None`: it cannot.
    ///
    /// # Errors
    ///
    /// The cluster does not answer.
    pub async fn run_one(&self, id: &MigrationId) -> Result<Option<Worked>, Error> {
        match self.run_one_until(id, pending()).await? {
            Attempt::Worked(worked) => Ok(Some(worked)),
            Attempt::Refused(_) | Attempt::Stopped => Ok(None),
        }
    }

    /// Works at one migration, if it can be claimed now, until `stop` ends. Then the worker gives its claim back, and returns
    /// within three seconds.
    ///
    /// # Errors
    ///
    /// The cluster does not answer, or what is claimed cannot be given back: then it has to run out.
    pub async fn run_one_until(
        &self,
        id: &MigrationId,
        stop: impl Future<Output = ()>,
    ) -> Result<Attempt, Error> {
        let stop = stop.shared();
        let working = Box::pin(async {
            let reflecting = self.client.reflect(vec![ObjectKind::Migration]);
            match unless(stop.clone(), reflecting).await.transpose()? {
                Some(reflector) => self.attempt(&reflector, id, stop.clone()).await,
                None => Ok(Attempt::Stopped),
            }
        });
        let ended = ends_soon(stop.clone(), working).await;
        ended.unwrap_or_else(|| Err(not_released("it did not stop in time")))
    }

    async fn attempt(
        &self,
        reflector: &Reflector,
        id: &MigrationId,
        stop: impl Future<Output = ()> + Clone,
    ) -> Result<Attempt, Error> {
        if stop.clone().now_or_never().is_some() {
            return Ok(Attempt::Stopped);
        }
        match self.claim(id).await? {
            Claiming::Claimed(claim, pass, rewrites) => {
                let worked = self.work(reflector, &claim, pass, &rewrites, stop).await?;
                Ok(Attempt::Worked(worked))
            }
            Claiming::Refused(refusal) => Ok(Attempt::Refused(refusal)),
        }
    }

    /// The migrations that it may claim, and how many objects of each are done.
    fn pending(&self, reflector: &Reflector) -> Vec<(MigrationId, u64)> {
        let migrations = reflector.migrations().into_iter();
        let mine = migrations.filter(|migration| {
            migration.phase == MigrationPhase::Pending
                && self.options.resources.iter().any(|it| migration.is_of(it))
        });
        mine.map(|migration| (migration.id.clone(), migration.done))
            .collect()
    }

    async fn claim(&self, id: &MigrationId) -> Result<Claiming, Error> {
        let clock = Arc::clone(&self.client.seams().clock);
        let sent_at = clock.now();
        let claimed = self.client.send_claim_migration(ClaimMigration {
            id: id.clone(),
            worker: self.options.worker.clone(),
            ttl: self.options.ttl,
            fenced: self.store.is_fenced(),
            walks: Some(self.store.walks()),
        });
        match claimed.await {
            Ok(claimed) => {
                let claim = ClaimKey {
                    id: id.clone(),
                    token: claimed.token,
                    cluster: claimed.header.cluster,
                };
                let rewrites = Rewrites::new(clock, self.options.ttl.duration(), sent_at);
                let pass = Pass::resumed(claimed.progress);
                Ok(Claiming::Claimed(claim, pass, rewrites))
            }
            Err(error) => match error.kind() {
                ErrorKind::Draining
                | ErrorKind::Conflict
                | ErrorKind::NotFound
                | ErrorKind::SwitchedOff => Ok(Claiming::Refused(error)),
                _ => Err(error),
            },
        }
    }

    /// Rewrites all objects while keeping the claim, and reports the result, or gives the claim back.
    async fn work(
        &self,
        reflector: &Reflector,
        claim: &ClaimKey,
        mut pass: Pass,
        rewrites: &Rewrites,
        stop: impl Future<Output = ()> + Clone,
    ) -> Result<Worked, Error> {
        let view = self
            .client
            .migration(&claim.id, crate::ReadOptions::linearizable())
            .await?;
        loop {
            let passed = {
                let passing = pass.run(
                    &self.client,
                    &*self.store,
                    &self.options,
                    claim,
                    &view.migration,
                    rewrites,
                );
                let mut passing = pin!(passing);
                let cut_off = tokio::select! {
                    biased;
                    passed = &mut passing => Err(passed?),
                    ended = lost(reflector, claim) => ended.map(|()| Ok(Passed::Lost))?,
                    () = stop.clone() => Ok(Passed::LetGo("the worker was told to stop".to_owned())),
                };
                match cut_off {
                    Err(passed) => passed,
                    Ok(passed) => {
                        rewrites.settle(passing).await;
                        passed
                    }
                }
            };
            let failure = match passed {
                Passed::Lost => return Ok(self.lose(claim, rewrites).await),
                Passed::LetGo(why) => return self.release(claim, rewrites, why).await,
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
                    Err(error) => return self.lose_after(error, claim, rewrites).await,
                },
            };
            let stop = Some(rewrites.stop());
            let failed = self.client.fail_migration(claim, failure.clone(), stop);
            return match failed.await {
                Ok(_) => Ok(Worked::Failed(failure)),
                Err(error) => self.lose_after(error, claim, rewrites).await,
            };
        }
    }

    /// Gives the claim back. What was reported last is what the next worker begins with.
    async fn release(
        &self,
        claim: &ClaimKey,
        rewrites: &Rewrites,
        why: String,
    ) -> Result<Worked, Error> {
        let released = self.client.release_migration(claim, Some(rewrites.stop()));
        match timeout(RELEASING, released).await {
            Ok(Ok(_)) => Ok(Worked::Released { why }),
            Ok(Err(error)) => ended(error),
            Err(_) => Err(not_released("no replica took it in time")),
        }
    }

    /// Ends after the refusal of the worker's last report, which may say that the claim has ended.
    async fn lose_after(
        &self,
        error: Error,
        claim: &ClaimKey,
        rewrites: &Rewrites,
    ) -> Result<Worked, Error> {
        match ended(error)? {
            Worked::Lost => Ok(self.lose(claim, rewrites).await),
            other => Ok(other),
        }
    }

    /// Says of a claim that has ended that all rewrites were answered, if they were: then nothing of it drains.
    async fn lose(&self, claim: &ClaimKey, rewrites: &Rewrites) -> Worked {
        let stop = rewrites.stop();
        if stop == WorkerStop::AllAnswered {
            // If this does not reach the cluster, or the claim has left no drain, nothing is lost but time.
            let said = self.client.release_migration(claim, Some(stop));
            let _ = timeout(RELEASING, said).await;
        }
        Worked::Lost
    }
}

/// The result of claiming a migration.
enum Claiming {
    /// This worker has it, and continues from its saved progress.
    Claimed(ClaimKey, Pass, Rewrites),
    /// Writes in other versions may land, another worker has it, it is gone, or migrations are switched off.
    Refused(Error),
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

fn not_released(why: &str) -> Error {
    let message = format!("the claim was not given back, since {why}: it has to run out");
    Error::new(ErrorKind::DeadlineExceeded, message)
}

/// The result of `doing`, unless `stop` ends first.
async fn unless<T>(stop: impl Future<Output = ()>, doing: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = stop => None,
        done = doing => Some(done),
    }
}

/// The result of work that knows itself when to stop, unless it takes too long to do so.
async fn ends_soon<T>(
    stop: impl Future<Output = ()>,
    working: impl Future<Output = T>,
) -> Option<T> {
    let mut working = pin!(working);
    tokio::select! {
        biased;
        ended = &mut working => return Some(ended),
        () = stop => {}
    }
    timeout(STOPPING, working).await.ok()
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
