//! Drives one lane: takes what has gathered in its queue and sends it, into the log or to the leader.
//!
//! A batch is sent as soon as there are requests and room in flight: while one is being written, the next gathers. What
//! cannot be sent, because no leader is known or reached, waits for [`PATIENCE`] election timeouts and is then refused;
//! nothing of it was executed.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::time::Instant;

use super::intake::{Batch, Intake, Unit};
use super::lane::Lane;
use super::link::Link;
use super::refusals;
use super::request::Request;
use super::sequencer::Sequencer;
use super::settle::{Fate, Reason, settle};
use super::stall::Stall;
use crate::consensus::{Consensus, Leadership, Progress, ReplicaId, Term};
use crate::limits::{ENTRIES_IN_FLIGHT_MAX, FORWARDED_BATCHES_MAX};
use crate::metrics::ProposerMetrics;
use crate::peer::PeerError;
use crate::peer::messages::ForwardRequest;
use crate::seams::watch;
use crate::stop::Stop;
use crate::traces::{CATCH_UP, FORWARD, LOG};

/// The pause before the next try after a refusal that another try may cure, unless the leadership changes first.
const PAUSE: Duration = Duration::from_millis(20);

/// The number of election timeouts after which what cannot be sent is refused.
const PATIENCE: u32 = 4;

/// The task of one lane.
pub(super) struct Driver {
    lane: Lane,
    intake: Intake,
    consensus: Consensus,
    sequencer: Sequencer,
    metrics: Arc<ProposerMetrics>,
    leadership: watch::Receiver<Leadership>,
    progress: watch::Receiver<Progress>,
    in_flight: FuturesUnordered<BoxFuture<'static, (Route, Settled)>>,
    /// The number of batches in flight by route: those owed by an old leader take no room from its successor's.
    sent: BTreeMap<Route, usize>,
    link: Option<Link>,
    opening: Option<Opening>,
    /// Nothing is sent before this time.
    paused_until: Option<Instant>,
    /// The time since which nothing can be sent.
    stuck_since: Option<Instant>,
    /// Tells how long the leader has refused batches because it cannot have anything executed.
    stall: Stall,
}

/// A batch with its fate.
struct Settled {
    units: Vec<Unit>,
    fate: Fate,
}

/// A link that is being opened.
struct Opening {
    leader: ReplicaId,
    link: BoxFuture<'static, Result<Link, PeerError>>,
}

/// The route of a batch, as of now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Route {
    /// Into the log, stamped in this term.
    Log(Term),
    /// To the leader, over an open link.
    Leader(ReplicaId),
    /// Not possible yet: this replica leads, but has not applied an entry of its term.
    CatchingUp,
    /// Not possible yet: there is no link to the leader.
    Unlinked(ReplicaId),
    /// Not possible yet: no leader is known.
    Leaderless,
}

impl Driver {
    pub(super) fn new(
        lane: Lane,
        intake: Intake,
        sequencer: Sequencer,
        consensus: Consensus,
        metrics: Arc<ProposerMetrics>,
    ) -> Self {
        Self {
            lane,
            intake,
            sequencer,
            metrics,
            leadership: consensus.leadership(),
            progress: consensus.subscribe(),
            consensus,
            in_flight: FuturesUnordered::new(),
            sent: BTreeMap::new(),
            link: None,
            opening: None,
            paused_until: None,
            stuck_since: None,
            stall: Stall::default(),
        }
    }

    /// Works until `stop`; then refuses waiting requests, and ends when everything that was sent is settled.
    pub(super) async fn run(mut self, stop: Stop) {
        loop {
            let now = Instant::now();
            self.paused_until = self.paused_until.filter(|until| *until > now);
            let route = self.route();
            self.open_link(route);
            let gives_up = self.gives_up(route, now);
            let wake = self.wake_at(now);
            let takes = gives_up || self.may_send(route);
            tokio::select! {
                biased;
                () = stop.requested() => break,
                Some((route, settled)) = self.in_flight.next() => self.returned(route, settled),
                opened = opened(&mut self.opening) => self.opened(opened),
                changed = self.leadership.changed() => match changed {
                    Ok(()) => self.paused_until = None,
                    Err(watch::Closed) => break,
                },
                _ = self.progress.changed(), if route == Route::CatchingUp => {}
                () = tokio::time::sleep_until(wake.unwrap_or(now)), if wake.is_some() => {}
                true = self.intake.ready(), if takes => if gives_up {
                    self.refuse_all(route);
                } else {
                    self.send(route).await;
                },
            }
        }
        self.end().await;
    }

    fn route(&self) -> Route {
        let Leadership {
            term,
            leader,
            is_me,
        } = *self.leadership.borrow();
        match leader {
            Some(_) if is_me && self.sequencer.may_stamp(term) => Route::Log(term),
            Some(_) if is_me => Route::CatchingUp,
            Some(leader) if self.link.as_ref().is_some_and(|link| link.leads_to(leader)) => {
                Route::Leader(leader)
            }
            Some(leader) => Route::Unlinked(leader),
            None => Route::Leaderless,
        }
    }

    /// Starts opening a link if one is missing, so that it is open when the first request comes.
    fn open_link(&mut self, route: Route) {
        let Route::Unlinked(leader) = route else {
            return;
        };
        // Opening a link to a replaced leader may take its whole timeout to fail, so it is dropped.
        self.opening.take_if(|opening| opening.leader != leader);
        if self.opening.is_none() && self.paused_until.is_none() {
            let consensus = self.consensus.clone();
            let link = Box::pin(async move { Link::open(&consensus, leader).await });
            self.opening = Some(Opening { leader, link });
        }
    }

    fn opened(&mut self, opened: Result<Link, PeerError>) {
        self.opening = None;
        match opened {
            Ok(link) => self.link = Some(link),
            Err(error) => {
                tracing::debug!(lane = self.lane.name(), %error, "no link to the leader");
                self.paused_until = Some(Instant::now() + PAUSE);
            }
        }
    }

    /// Whether waiting requests must be refused because nothing could be sent for too long.
    fn gives_up(&mut self, route: Route, now: Instant) -> bool {
        match route {
            Route::Log(_) | Route::Leader(_) => {
                self.stuck_since = None;
                false
            }
            Route::CatchingUp | Route::Unlinked(_) | Route::Leaderless => {
                now >= *self.stuck_since.get_or_insert(now) + self.patience()
            }
        }
    }

    fn may_send(&self, route: Route) -> bool {
        let in_flight_max = match route {
            Route::Log(_) => ENTRIES_IN_FLIGHT_MAX,
            Route::Leader(_) => FORWARDED_BATCHES_MAX,
            Route::CatchingUp | Route::Unlinked(_) | Route::Leaderless => return false,
        };
        let in_flight = self.sent.get(&route).copied().unwrap_or_default();
        in_flight < in_flight_max && self.paused_until.is_none()
    }

    /// When to run again even if nothing happens.
    fn wake_at(&self, now: Instant) -> Option<Instant> {
        let patience_ends = self
            .stuck_since
            .map(|since| since + self.patience())
            .filter(|end| *end > now);
        self.paused_until.into_iter().chain(patience_ends).min()
    }

    fn patience(&self) -> Duration {
        self.consensus.election_timeout() * PATIENCE
    }

    async fn send(&mut self, route: Route) {
        let mut batch = self.intake.take(Instant::now());
        if batch.units.is_empty() {
            return;
        }
        self.metrics.batch(self.lane, batch.commands, batch.bytes);
        tracing::debug!(
            lane = self.lane.name(),
            ?route,
            commands = batch.commands,
            requests = ?batch.traces().collect::<Vec<_>>(),
            "sending a batch"
        );
        match route {
            Route::Log(term) => {
                batch.enter(LOG);
                self.write(term, batch).await;
            }
            Route::Leader(leader) | Route::Unlinked(leader) => {
                batch.enter(FORWARD);
                self.forward(leader, batch);
            }
            Route::CatchingUp | Route::Leaderless => self.settle(Settled {
                units: batch.units,
                fate: Fate::TryAgain { leader: None },
            }),
        }
    }

    async fn write(&mut self, term: Term, mut batch: Batch) {
        let submitted = match self.sequencer.submit(term, batch.envelopes()).await {
            Ok(submitted) => submitted,
            Err(error) => {
                return self.settle(Settled {
                    units: batch.units,
                    fate: error.into(),
                });
            }
        };
        let sequencer = self.sequencer.clone();
        self.send_off(Route::Log(term), async move {
            let result = submitted.pending.await;
            sequencer.settled(submitted.term, submitted.number, result.is_ok());
            let fate = match result {
                Ok(entry) => {
                    for stages in batch.stages() {
                        stages.applied(entry.position.index, entry.apply_began);
                    }
                    let outcomes = match Arc::try_unwrap(entry) {
                        Ok(entry) => (entry.position, entry.applied.outcomes),
                        Err(shared) => (shared.position, shared.applied.outcomes.clone()),
                    };
                    Fate::Executed {
                        position: outcomes.0,
                        outcomes: outcomes.1,
                    }
                }
                Err(error) => error.into(),
            };
            Settled {
                units: batch.units,
                fate,
            }
        });
    }

    fn forward(&mut self, leader: ReplicaId, batch: Batch) {
        // Only this replica's own requests are forwarded: a batch of another replica is returned to it.
        let (own, foreign) = batch
            .units
            .into_iter()
            .partition(|unit| matches!(unit, Unit::Own(_)));
        let told = self.leadership.borrow().leader;
        let none_of_own = settle(foreign, Fate::TryAgain { leader: told });
        assert!(none_of_own.is_empty(), "only own requests are tried again");
        let mut batch = Batch {
            units: own,
            is_traced: batch.is_traced,
            ..Batch::default()
        };
        let Some(deadline) = batch.deadline() else {
            return;
        };
        let request = self.request(&batch, deadline);
        let commands = request.commands.len();
        let Some(answer) = self.link.as_mut().and_then(|link| link.send(request)) else {
            return self.settle(Settled {
                units: batch.units,
                fate: Fate::TryAgain { leader: None },
            });
        };
        let consensus = self.consensus.clone();
        let given_up = given_up(self.consensus.clone(), leader, deadline);
        self.send_off(Route::Leader(leader), async move {
            let verdict = tokio::select! {
                biased;
                verdict = answer.verdict() => verdict.ok_or("the link to the leader broke"),
                why = given_up => Err(why),
            };
            let fate = match verdict {
                Ok(verdict) => {
                    for stages in batch.stages() {
                        stages.enter(CATCH_UP);
                    }
                    seen_here(&consensus, Fate::of_verdict(verdict, commands), deadline).await
                }
                Err(why) => Fate::Unknown(why.to_owned()),
            };
            Settled {
                units: batch.units,
                fate,
            }
        });
    }

    fn request(&self, batch: &Batch, deadline: Instant) -> ForwardRequest {
        let timeout = deadline.saturating_duration_since(Instant::now());
        let named = batch.callers().into_iter();
        let (callers, mut caller_states): (Vec<_>, Vec<_>) = named
            .map(|name| (name.traceparent, name.tracestate))
            .unzip();
        if caller_states.iter().all(String::is_empty) {
            caller_states.clear();
        }
        ForwardRequest {
            batch: 0,
            lane: self.lane,
            timeout: timeout.max(Duration::from_millis(1)),
            commands: batch.envelopes().cloned().collect(),
            traces: batch.traces().map(str::to_owned).collect(),
            callers,
            caller_states,
        }
    }

    fn send_off(&mut self, route: Route, settled: impl Future<Output = Settled> + Send + 'static) {
        self.in_flight
            .push(Box::pin(async move { (route, settled.await) }));
        *self.sent.entry(route).or_default() += 1;
        self.metrics.in_flight(self.lane, self.in_flight.len());
    }

    fn returned(&mut self, route: Route, settled: Settled) {
        self.metrics.in_flight(self.lane, self.in_flight.len());
        if let Some(sent) = self.sent.get_mut(&route) {
            *sent -= 1;
        }
        self.sent.retain(|_, sent| *sent > 0);
        self.settle(settled);
    }

    fn settle(&mut self, Settled { units, fate }: Settled) {
        let fate = self.patient(fate, Instant::now());
        if !matches!(fate, Fate::Executed { .. }) {
            self.metrics.failed(units.len());
        }
        let again = settle(units, fate);
        if !again.is_empty() {
            self.intake.put_back(again);
            self.paused_until = Some(Instant::now() + PAUSE);
        }
    }

    /// A stalled batch is tried again for as long as requests wait for a leader, and no longer.
    fn patient(&mut self, fate: Fate, now: Instant) -> Fate {
        match fate {
            Fate::Stalled(why) if self.stall.outlasts(self.patience(), now) => {
                Fate::NotExecuted(Reason::Unavailable(why))
            }
            Fate::Executed { .. } => {
                self.stall = Stall::default();
                fate
            }
            Fate::Stalled(_) | Fate::TryAgain { .. } | Fate::NotExecuted(_) | Fate::Unknown(_) => {
                fate
            }
        }
    }

    /// Refuses everything that waits. Nothing of it was sent.
    fn refuse_all(&mut self, route: Route) {
        let why = match route {
            Route::Unlinked(leader) => format!("the leader, replica {leader}, cannot be reached"),
            Route::CatchingUp => "this replica leads and cannot reach a quorum".to_owned(),
            Route::Leaderless | Route::Log(_) | Route::Leader(_) => "no leader is known".to_owned(),
        };
        let batch = self.intake.take(Instant::now());
        self.settle(Settled {
            units: batch.units,
            fate: Fate::NotExecuted(Reason::Unavailable(why)),
        });
    }

    /// Refuses what waits, and settles what was sent.
    async fn end(mut self) {
        self.intake.close();
        while self.intake.ready().await {
            let batch = self.intake.take(Instant::now());
            refuse_again(settle(batch.units, Fate::TryAgain { leader: None }));
        }
        while let Some((_, Settled { units, fate })) = self.in_flight.next().await {
            refuse_again(settle(units, fate));
        }
    }
}

/// Answers requests that could be tried again, but will not be because the lane is ending.
fn refuse_again(requests: Vec<Request>) {
    for request in requests {
        request.answer(Err(refusals::stopping()));
    }
}

/// Waits until this replica has applied the entry: the callers' answer must not precede the entry's events.
async fn seen_here(consensus: &Consensus, fate: Fate, deadline: Instant) -> Fate {
    let Fate::Executed { position, .. } = &fate else {
        return fate;
    };
    match consensus.wait_applied(position.index, deadline).await {
        Ok(_) => fate,
        Err(error) => Fate::Unknown(format!("it was executed, but {error}")),
    }
}

/// Waits until the leader's answer is no longer worth waiting for, and returns the reason: the leader was replaced and
/// had an election timeout to answer, or the deadline passed. Needed because a link breaks when its other end is gone,
/// but not when that end is alive and stuck.
async fn given_up(consensus: Consensus, leader: ReplicaId, deadline: Instant) -> &'static str {
    let grace = consensus.election_timeout();
    let mut leadership = consensus.leadership();
    let deposed = async {
        while leadership
            .wait_for(|now| now.leader != Some(leader))
            .await
            .is_ok()
        {
            tokio::time::sleep(grace).await;
            if leadership.borrow().leader != Some(leader) {
                return;
            }
        }
    };
    match tokio::time::timeout_at(deadline, deposed).await {
        Ok(()) => "the leader was replaced before it answered",
        Err(_) => "the leader did not answer before the deadline",
    }
}

async fn opened(opening: &mut Option<Opening>) -> Result<Link, PeerError> {
    match opening {
        Some(opening) => (&mut opening.link).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
