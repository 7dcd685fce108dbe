//! Telling the cluster what the server encodes, and keeping it told: reports, votes, and being ready.
//!
//! One task does it, one request at a time, so that what is sent is what was asked for, in that order; adoptions go on
//! beside it. All that is said is numbered, so that nothing of it is carried out after what was said later. The base is
//! what was acknowledged last: under a new epoch it is reported again before anything else, since the first report of an
//! epoch replaces all.

mod adoption;
mod job;
mod leaving;
mod sending;
mod sent;
mod views;
mod votes;

use std::collections::{BTreeMap, VecDeque};
use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use synod_model::{Epoch, GroupResource, MemberId, ReportEntry, Revision};
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio::time::{Instant, sleep, sleep_until};

use super::keeper::Keeper;
use super::state::Standing;
use crate::board::Board;
use crate::gate::Gate;
use crate::watch::{Watch, WatchFrom, WatchMessage, WatchOptions};
use crate::{Client, Error, ObjectKind, Reported};
use adoption::Adoption;
use job::{Job, Scope, Stage, TRIES_MAX};
use sent::Sent;
use views::Views;

pub(super) use job::Reply;

/// What a program asks of its membership.
#[derive(Debug)]
pub(super) enum Command {
    /// To report all of its resources.
    Report(Vec<ReportEntry>, Reply<Reported>),
    /// To report one resource anew.
    Change(Box<ReportEntry>, Reply<Reported>),
    /// To say that it is ready.
    Ready(Reply<()>),
    /// To leave, after waiting so long at most for permits to come back.
    Leave(Duration, Reply<()>),
}

/// The task and all that it knows.
pub(super) struct Reporter {
    id: MemberId,
    client: Client,
    gate: Gate,
    standing: Arc<Board<Standing>>,
    /// Tells the keeper that the epoch may be over.
    doubt: Arc<Notify>,
    drain_limit: Duration,
    commands: mpsc::Receiver<Command>,
    /// What was acknowledged last, under whichever epoch.
    committed: BTreeMap<GroupResource, ReportEntry>,
    /// Whether the cluster may hold something else than what was acknowledged.
    doubtful: bool,
    jobs: VecDeque<Job>,
    jobs_begun: u64,
    drains: FuturesUnordered<BoxFuture<'static, (u64, Result<(), Error>)>>,
    ready: Ready,
    /// The request that is on its way.
    sending: Option<BoxFuture<'static, Sent>>,
    /// No request is sent before this time.
    paused_until: Option<Instant>,
    /// The epoch under which nothing is accepted any more.
    refused_epoch: Option<Epoch>,
    views: Views,
    adopting: BTreeMap<GroupResource, Revision>,
    adoptions: FuturesUnordered<BoxFuture<'static, Adoption>>,
    adoption_slots: Arc<Semaphore>,
    watching: Watching,
}

/// Whether the server is to be ready, and who wants to know.
#[derive(Debug, Default)]
struct Ready {
    wanted: bool,
    tries: u32,
    /// When those who want to know are told that it did not work.
    give_up_at: Option<Instant>,
    replies: Vec<Reply<()>>,
}

/// The watch, or how far it is from standing.
struct Watching {
    /// All up to here was seen.
    seen: Revision,
    stage: WatchStage,
}

enum WatchStage {
    Opening(BoxFuture<'static, Result<Watch, Error>>),
    Open(Watch),
}

/// What the task waits for.
enum Wake {
    Changed,
    Sent(Sent),
    Drained(u64, Result<(), Error>),
    Adopted(Adoption),
    Watched(Option<Result<WatchMessage, Error>>),
    Opened(Result<Watch, Error>),
    Command(Option<Command>),
    Timer,
}

/// Jobs that wait at most; more commands wait in their channel.
const JOBS_MAX: usize = 16;
/// Adoptions that are sent at a time.
const ADOPTIONS_MAX: usize = 16;
/// How long to wait after a failure: as long as Kubernetes does.
const PAUSE: Duration = Duration::from_secs(1);

impl Reporter {
    /// The task of a server that has joined at a revision.
    pub(super) fn new(
        keeper: &Keeper,
        joined_at: Revision,
        drain_limit: Duration,
        commands: mpsc::Receiver<Command>,
    ) -> Self {
        let client = keeper.client.clone();
        let watching = Watching {
            seen: joined_at,
            stage: WatchStage::Opening(Box::pin(open_watch(client.clone(), joined_at, None))),
        };
        Self {
            id: keeper.join.id.clone(),
            client,
            gate: keeper.gate.clone(),
            standing: Arc::clone(&keeper.standing),
            doubt: Arc::clone(&keeper.doubt),
            drain_limit,
            commands,
            committed: BTreeMap::new(),
            doubtful: false,
            jobs: VecDeque::new(),
            jobs_begun: 0,
            drains: FuturesUnordered::new(),
            ready: Ready::default(),
            sending: None,
            paused_until: None,
            refused_epoch: None,
            views: Views::default(),
            adopting: BTreeMap::new(),
            adoptions: FuturesUnordered::new(),
            adoption_slots: Arc::new(Semaphore::new(ADOPTIONS_MAX)),
            watching,
        }
    }

    /// Works until the membership is over for good.
    pub(super) async fn run(self) {
        let standing = Arc::clone(&self.standing);
        tokio::select! {
            biased;
            _ = standing.wait(Standing::ended) => {}
            () = self.work() => {}
        }
    }

    async fn work(mut self) {
        let gate = self.gate.clone();
        loop {
            let changed = gate.changed();
            tokio::pin!(changed);
            changed.as_mut().enable();
            self.give_up_late();
            self.begin_jobs();
            self.begin_adoptions();
            self.send_next();
            match self.wait(changed).await {
                Wake::Changed | Wake::Timer => {}
                Wake::Sent(sent) => self.take_sent(sent),
                Wake::Drained(number, drained) => self.take_drained(number, drained),
                Wake::Adopted(adoption) => self.take_adoption(adoption),
                Wake::Watched(message) => self.take_watched(message),
                Wake::Opened(opened) => self.take_opened(opened),
                Wake::Command(Some(Command::Leave(drain_limit, reply))) => {
                    return self.leave(drain_limit, reply).await;
                }
                Wake::Command(Some(command)) => self.take_command(command),
                Wake::Command(None) => return,
            }
        }
    }

    async fn wait(&mut self, changed: Pin<&mut Notified<'_>>) -> Wake {
        let timer = self.next_timer();
        let until = timer.unwrap_or_else(Instant::now);
        tokio::select! {
            biased;
            () = changed => Wake::Changed,
            sent = resolved(&mut self.sending) => {
                self.sending = None;
                Wake::Sent(sent)
            }
            Some((number, drained)) = self.drains.next() => Wake::Drained(number, drained),
            Some(adoption) = self.adoptions.next() => Wake::Adopted(adoption),
            command = self.commands.recv(), if self.jobs.len() < JOBS_MAX => Wake::Command(command),
            wake = self.watching.next() => wake,
            () = sleep_until(until), if timer.is_some() => Wake::Timer,
        }
    }

    fn take_command(&mut self, command: Command) {
        match command {
            Command::Report(entries, reply) => self.add_job(Scope::Full(entries), reply),
            Command::Change(entry, reply) => self.add_job(Scope::One(entry), reply),
            Command::Ready(reply) => {
                self.ready.wanted = true;
                self.ready.tries = 0;
                self.ready
                    .give_up_at
                    .get_or_insert(Instant::now() + self.sending_limit());
                self.ready.replies.push(reply);
            }
            // The caller has taken it out.
            Command::Leave(..) => {}
        }
    }

    fn take_watched(&mut self, message: Option<Result<WatchMessage, Error>>) {
        match message {
            Some(Ok(WatchMessage::Events(events) | WatchMessage::Resync(events))) => {
                self.watching.seen = events.revision;
                for event in events.events {
                    self.take_event(events.revision, event);
                }
            }
            Some(Ok(WatchMessage::Bookmark(revision))) => self.watching.seen = revision,
            Some(Err(error)) => self.take_opened(Err(error)),
            None => self.watching.open_later(&self.client),
        }
    }

    fn take_opened(&mut self, opened: Result<Watch, Error>) {
        match opened {
            Ok(watch) => self.watching.stage = WatchStage::Open(watch),
            Err(error) => {
                let error = error.context("the selected versions cannot be watched");
                tracing::warn!(member = %self.id, %error);
                self.standing
                    .update(|standing| standing.report_error = Some(error));
                self.watching.open_later(&self.client);
            }
        }
    }

    /// How long the sending of one request may take with all its tries.
    fn sending_limit(&self) -> Duration {
        (self.client.timeout() + PAUSE) * TRIES_MAX
    }

    fn next_timer(&self) -> Option<Instant> {
        let waiting = self.jobs.iter().filter(|job| job.stage != Stage::Sent);
        let late = waiting.map(|job| job.give_up_at);
        late.chain(self.paused_until)
            .chain(self.ready.give_up_at)
            .min()
    }
}

impl Watching {
    async fn next(&mut self) -> Wake {
        match &mut self.stage {
            WatchStage::Opening(opening) => Wake::Opened(opening.await),
            WatchStage::Open(watch) => Wake::Watched(watch.next().await),
        }
    }

    /// Opens the watch again, after a while.
    fn open_later(&mut self, client: &Client) {
        let opening = open_watch(client.clone(), self.seen, Some(PAUSE));
        self.stage = WatchStage::Opening(Box::pin(opening));
    }
}

/// Watches what happens after `seen`.
async fn open_watch(
    client: Client,
    seen: Revision,
    wait: Option<Duration>,
) -> Result<Watch, Error> {
    if let Some(wait) = wait {
        sleep(wait).await;
    }
    let kinds = vec![
        ObjectKind::Member,
        ObjectKind::StorageVersion,
        ObjectKind::Settings,
    ];
    let from = WatchFrom::Revision(seen.next());
    client
        .watch(WatchOptions::new().kinds(kinds).from(from))
        .await
}

/// The outcome of what is on its way; never if nothing is.
async fn resolved<T>(future: &mut Option<BoxFuture<'static, T>>) -> T {
    match future {
        Some(future) => future.await,
        None => pending().await,
    }
}
