//! The reporter: the task that tells the cluster what the server encodes, what it has adopted, and that it is ready.
//!
//! It sends one request at a time, so that requests are executed in the order in which the program made them; adoptions
//! run beside it. Every statement is numbered, so that the cluster executes none after a later one. The base is the
//! last acknowledged report: under a new epoch it is sent again before anything else, since the first report of an
//! epoch replaces all. If the others have moved on meanwhile and it is refused, the next change that the program
//! has asked for is sent together with the rest of it.

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
use synod_model::{Epoch, GroupResource, InstanceId, MemberId, ReportEntry, Revision};
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

/// A request of the program to its membership.
#[derive(Debug)]
pub(super) enum Command {
    /// Report all resources of the server.
    Report(Vec<ReportEntry>, Reply<Reported>),
    /// Report one resource anew.
    Change(Box<ReportEntry>, Reply<Reported>),
    /// Mark the server as ready.
    Ready(Reply<()>),
    /// Leave, after waiting at most this long for permits to be given back.
    Leave(Duration, Reply<()>),
}

/// The reporter task and its state.
pub(super) struct Reporter {
    id: MemberId,
    instance: InstanceId,
    client: Client,
    gate: Gate,
    standing: Arc<Board<Standing>>,
    /// Tells the keeper that the epoch may be over.
    doubt: Arc<Notify>,
    drain_limit: Duration,
    commands: mpsc::Receiver<Command>,
    /// The entries that were acknowledged last, under any epoch.
    committed: BTreeMap<GroupResource, ReportEntry>,
    /// Whether the cluster may hold something other than `committed`.
    doubtful: bool,
    jobs: VecDeque<Job>,
    jobs_begun: u64,
    drains: FuturesUnordered<BoxFuture<'static, (u64, Result<(), Error>)>>,
    ready: Ready,
    /// The request that is being sent.
    sending: Option<BoxFuture<'static, Sent>>,
    /// No request is sent before this time.
    paused_until: Option<Instant>,
    /// The epoch that the cluster has refused: nothing more is sent under it.
    refused_epoch: Option<Epoch>,
    /// The epoch under which the last acknowledged entries were refused when they were last sent again.
    refused_base: Option<Epoch>,
    views: Views,
    adopting: BTreeMap<GroupResource, Revision>,
    adoptions: FuturesUnordered<BoxFuture<'static, Adoption>>,
    adoption_slots: Arc<Semaphore>,
    watching: Watching,
}

/// Whether the server is to be marked as ready, and the callers that wait for it.
#[derive(Debug, Default)]
struct Ready {
    wanted: bool,
    tries: u32,
    /// When the waiting callers are told that it failed.
    give_up_at: Option<Instant>,
    replies: Vec<Reply<()>>,
}

/// The watch, open or being opened.
struct Watching {
    /// All revisions up to this one were seen.
    seen: Revision,
    stage: WatchStage,
}

enum WatchStage {
    Opening(BoxFuture<'static, Result<Watch, Error>>),
    Open(Watch),
}

/// The events that the task waits for.
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

/// The number of jobs that may wait; more commands wait in their channel.
const JOBS_MAX: usize = 16;
/// The number of adoptions that are sent at the same time.
const ADOPTIONS_MAX: usize = 16;
/// How long to pause after a failure: as long as Kubernetes does.
const PAUSE: Duration = Duration::from_secs(1);

impl Reporter {
    /// The reporter of a server that has joined at this revision.
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
            instance: keeper.join.instance.clone(),
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
            refused_base: None,
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
            // [`Self::work`] handles this command itself.
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

    /// How long one request may take with all its tries.
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

    /// Opens the watch again after a pause.
    fn open_later(&mut self, client: &Client) {
        let opening = open_watch(client.clone(), self.seen, Some(PAUSE));
        self.stage = WatchStage::Opening(Box::pin(opening));
    }
}

/// Watches the changes after `seen`.
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

/// The result of the pending request; waits for ever if there is none.
async fn resolved<T>(future: &mut Option<BoxFuture<'static, T>>) -> T {
    match future {
        Some(future) => future.await,
        None => pending().await,
    }
}
