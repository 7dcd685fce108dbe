//! One pass of a worker over all objects of a migration.

use std::num::NonZeroU32;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use synod_model::{
    ContinueToken, ErrorKind, FailureClass, Migration, MigrationFailure, MigrationProgress,
};
use tokio::time::{Instant, interval, sleep, sleep_until};

use super::failure::failure;
use super::options::MigratorOptions;
use super::plan::{Next, TRIES, after_list, after_rewrite};
use super::rewrites::Rewrites;
use super::store::{Store, StorePage};
use crate::{ClaimKey, Client, Error};

/// How many keys of unreadable objects a failure names.
const NAMED: usize = 8;

/// The position of a worker in its pass.
#[derive(Debug)]
pub(super) struct Pass {
    /// Where the next page begins.
    token: Option<ContinueToken>,
    /// Where a later worker continues: behind the rewritten objects, but not behind an object that could not be read.
    saved: Option<ContinueToken>,
    done: u64,
    estimate: Option<u64>,
    /// How often the list had to begin anew because the store could not continue from a token.
    begun_anew: u32,
    /// The objects that could not be read, named by their keys, and how many more.
    unread: Vec<String>,
    unread_more: usize,
}

/// How a pass ended.
#[derive(Debug)]
pub(super) enum Passed {
    /// Every object was seen, and rewritten.
    All,
    /// The pass cannot be continued.
    GaveUp(MigrationFailure),
    /// The pass cannot be continued by this worker now.
    LetGo(String),
    /// The claim has ended.
    Lost,
}

/// The result of a page.
enum Paged {
    More,
    End,
    Cut(Cut),
}

/// Why a page was not finished.
enum Cut {
    GaveUp(MigrationFailure),
    LetGo(String),
}

impl From<MigrationFailure> for Cut {
    fn from(failure: MigrationFailure) -> Self {
        Self::GaveUp(failure)
    }
}

impl From<Cut> for Passed {
    fn from(cut: Cut) -> Self {
        match cut {
            Cut::GaveUp(failure) => Self::GaveUp(failure),
            Cut::LetGo(why) => Self::LetGo(why),
        }
    }
}

impl Pass {
    /// Continues from the saved progress of another worker.
    pub(super) fn resumed(progress: MigrationProgress) -> Self {
        Self {
            token: progress.continue_token.clone(),
            saved: progress.continue_token,
            done: progress.done,
            estimate: progress.estimate,
            begun_anew: 0,
            unread: Vec::new(),
            unread_more: 0,
        }
    }

    /// Begins again at the first object.
    pub(super) fn again(before: Self) -> Self {
        Self {
            token: None,
            saved: None,
            unread: Vec::new(),
            unread_more: 0,
            ..before
        }
    }

    /// Continues to the last object. The claim is kept meanwhile, however slow the store is.
    pub(super) async fn run<S: Store>(
        &mut self,
        client: &Client,
        store: &S,
        options: &MigratorOptions,
        claim: &ClaimKey,
        migration: &Migration,
        rewrites: &Rewrites,
    ) -> Result<Passed, Error> {
        let mut beat = interval(options.ttl.duration() / 3);
        let mut pace = Instant::now();
        loop {
            let said = self.progress();
            let paged = {
                let page = self.page(store, options, migration, &mut pace, rewrites);
                tokio::pin!(page);
                loop {
                    tokio::select! {
                        biased;
                        paged = &mut page => break paged,
                        _ = beat.tick() => {
                            if let Some(ended) = says(client, claim, said.clone(), rewrites).await? {
                                rewrites.settle(&mut page).await;
                                return Ok(ended);
                            }
                        }
                    }
                }
            };
            if let Some(ended) = says(client, claim, self.progress(), rewrites).await? {
                return Ok(ended);
            }
            match paged {
                Paged::More => {}
                Paged::End => return Ok(self.ended()),
                Paged::Cut(cut) => return Ok(cut.into()),
            }
        }
    }

    fn progress(&self) -> MigrationProgress {
        MigrationProgress {
            done: self.done,
            estimate: self.estimate,
            continue_token: self.saved.clone(),
        }
    }

    /// The result of the whole pass: objects that could not be read prevent the completion.
    fn ended(&self) -> Passed {
        if self.unread.is_empty() {
            return Passed::All;
        }
        let more = match self.unread_more {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let text = format!("cannot be read: {}{more}", self.unread.join("; "));
        Passed::GaveUp(failure(FailureClass::Undecodable, &text))
    }

    async fn page<S: Store>(
        &mut self,
        store: &S,
        options: &MigratorOptions,
        migration: &Migration,
        pace: &mut Instant,
        rewrites: &Rewrites,
    ) -> Paged {
        let StorePage {
            objects,
            next,
            remaining,
        } = match self.listed(store, migration).await {
            Ok(page) => page,
            Err(cut) => return Paged::Cut(cut),
        };
        match rewritten(store, options, migration, &objects, pace, rewrites).await {
            Ok(unread) => self.leave_unread(unread),
            Err(cut) => return Paged::Cut(cut),
        }
        self.done += objects.len() as u64;
        self.estimate = remaining.map(|remaining| self.done + remaining);
        // At the end the last page stays the saved one: a later worker repeats no more than that page.
        if self.unread.is_empty() && next.is_some() {
            self.saved.clone_from(&next);
        }
        self.token = next;
        match self.token {
            Some(_) => Paged::More,
            None => Paged::End,
        }
    }

    async fn listed<S: Store>(
        &mut self,
        store: &S,
        migration: &Migration,
    ) -> Result<StorePage<S::Object>, Cut> {
        let mut tries = 0;
        loop {
            let error = match store.list_page(migration, self.token.as_ref()).await {
                Ok(page) => return Ok(page),
                Err(error) => error,
            };
            tries += 1;
            match after_list(error, tries) {
                Next::Again(pause) => sleep(pause).await,
                Next::GoOn(Some(token)) if tries <= TRIES => self.token = Some(token),
                // Each restart rewrites every object again that the store does not leave out, so restarts are counted
                // over all pages.
                Next::GoOn(None) if self.begun_anew < TRIES => {
                    self.begun_anew += 1;
                    self.token = None;
                    // A later worker begins anew, too: the store may have told that what was written must be written again.
                    self.saved = None;
                }
                Next::GoOn(_) => {
                    let text = "the list has expired again and again, and the store does not say where to go on";
                    return Err(failure(FailureClass::Transient, text).into());
                }
                Next::GiveUp(class, why) => return Err(failure(class, &why).into()),
                Next::LetGo(why) => return Err(Cut::LetGo(why)),
                Next::Unread(what) => {
                    return Err(failure(FailureClass::Undecodable, &what).into());
                }
                Next::Done => {
                    let text = "the store gave no usable answer to the list";
                    return Err(failure(FailureClass::Transient, text).into());
                }
            }
        }
    }

    /// Records objects that could not be read.
    fn leave_unread(&mut self, unread: Vec<String>) {
        for what in unread {
            match self.unread.len() < NAMED {
                true => self.unread.push(what),
                false => self.unread_more += 1,
            }
        }
    }
}

/// Rewrites the objects of a page, several at a time, and returns those that could not be read. If one ends the pass, no other is
/// started, and what was started is waited for, for a short time.
async fn rewritten<S: Store>(
    store: &S,
    options: &MigratorOptions,
    migration: &Migration,
    objects: &[S::Object],
    pace: &mut Instant,
    rewrites: &Rewrites,
) -> Result<Vec<String>, Cut> {
    let mut under_way = FuturesUnordered::new();
    let rewriting = async {
        let mut unread = Vec::new();
        for object in objects {
            if under_way.len() >= options.objects_at_once.get()
                && let Some(rewritten) = under_way.next().await
            {
                unread.extend(rewritten?);
            }
            // Only when there is room: one rate limit holds for all objects.
            let begin = paced(pace, options.objects_per_second);
            under_way.push(rewritten_at(begin, store, migration, object, rewrites));
        }
        while let Some(rewritten) = under_way.next().await {
            unread.extend(rewritten?);
        }
        Ok(unread)
    };
    let done: Result<Vec<String>, Cut> = rewriting.await;
    if done.is_err() {
        let others = async { while under_way.next().await.is_some() {} };
        rewrites.settle(others).await;
    }
    done
}

/// When the next object may be rewritten, if there is a rate limit.
fn paced(next: &mut Instant, rate: Option<NonZeroU32>) -> Option<Instant> {
    let rate = rate?;
    let begin = (*next).max(Instant::now());
    *next = begin + Duration::from_secs(1) / rate.get();
    Some(begin)
}

/// Rewrites an object when its time has come; returns its description if it could not be read.
async fn rewritten_at<S: Store>(
    begin: Option<Instant>,
    store: &S,
    migration: &Migration,
    object: &S::Object,
    rewrites: &Rewrites,
) -> Result<Option<String>, Cut> {
    if let Some(begin) = begin {
        sleep_until(begin).await;
    }
    let stopped = || Cut::LetGo("the worker stops".to_owned());
    store.await_turn(object).await;
    let mut started = rewrites.start().await.ok_or_else(stopped)?;
    let mut tries = 0;
    let rewritten = loop {
        let answer = store.rewrite(migration, object).await;
        started.tried(&answer);
        let Err(error) = answer else {
            break Ok(None);
        };
        tries += 1;
        match after_rewrite(error, tries) {
            Next::Done | Next::GoOn(_) => break Ok(None),
            Next::Again(pause) => sleep(pause).await,
            Next::GiveUp(class, why) => break Err(failure(class, &why).into()),
            Next::LetGo(why) => break Err(Cut::LetGo(why)),
            Next::Unread(what) => break Ok(Some(what)),
        }
        store.await_turn(object).await;
        if !rewrites.allowed().await {
            break Err(stopped());
        }
    };
    started.ended();
    rewritten
}

/// Reports the progress. Returns how the pass ends if the claim has ended, or nobody is to work at migrations because they
/// are switched off: then whoever claims the migration later goes on from the last progress.
async fn says(
    client: &Client,
    claim: &ClaimKey,
    progress: MigrationProgress,
    rewrites: &Rewrites,
) -> Result<Option<Passed>, Error> {
    let sent_at = rewrites.now();
    match client.report_migration_progress(claim, progress).await {
        Ok(_) => {
            rewrites.extend(sent_at);
            Ok(None)
        }
        Err(error) => match error.kind() {
            ErrorKind::Conflict | ErrorKind::NotFound => Ok(Some(Passed::Lost)),
            ErrorKind::SwitchedOff => Ok(Some(Passed::LetGo(error.message().to_owned()))),
            _ => Err(error),
        },
    }
}
