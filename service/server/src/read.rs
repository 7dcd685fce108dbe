//! Reads, as fresh or as exact as their callers ask.
//!
//! A linearizable read needs proof that this replica misses nothing that was acknowledged before the read was asked
//! for. The proof is a read index: the leader, confirmed by a quorum, returns a log index, and this replica waits until
//! it has applied that index. Many reads share one index ([`rounds`]), but only one that was asked for after the read
//! came.
//!
//! A caller that needs less is answered from this replica's own state: at a past revision, which never changes; at or
//! after a revision that it has seen; or at a limited age, counted from when the last confirmed index was asked for.

mod refusals;
mod rounds;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use synod_machine::{EventScope, OutOfReach, Past};
use synod_model::{ErrorKind, Refusal, Revision};
use synod_proto::Consistency;
use synod_proto::status::key;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::consensus::{Consensus, Position, Published, ReplicaId, Term, WaitError};
use crate::metrics::ReadMetrics;
use crate::stop::Stop;

use refusals::{PROOF, deadline_exceeded, unavailable};
use rounds::{RoundFailed, Rounds};

/// The number of election timeouts after which a read without an index is refused.
const PATIENCE: u32 = 4;

/// The pause before the next try after a failed round, unless the leadership changes first.
const PAUSE: Duration = Duration::from_millis(20);

/// Answers reads. Clones share the rounds.
#[derive(Clone)]
pub struct Reader {
    shared: Arc<ReaderParts>,
}

struct ReaderParts {
    consensus: Consensus,
    rounds: Rounds,
    /// When the latest read index was asked for among those that were confirmed and applied here.
    confirmed_at: Mutex<Option<Instant>>,
    /// When the latest read index was asked for among those that a leader gave, whether or not they were applied here.
    led_at: Mutex<Option<Instant>>,
    metrics: Arc<ReadMetrics>,
}

/// A state to answer a read from.
#[derive(Clone, Debug)]
pub struct Reading {
    published: Arc<Published>,
    revision: Revision,
    age: Option<Duration>,
}

/// A published state, and the leader that confirmed it.
pub(crate) struct ConfirmedState {
    pub(crate) published: Arc<Published>,
    /// The term in which the leader led that a quorum has confirmed.
    pub(crate) term: Term,
    /// The leader that a quorum has confirmed.
    pub(crate) leader: ReplicaId,
}

impl Reader {
    /// Creates the reader, and spawns its tasks, which run until `stop`.
    pub(crate) fn new(
        consensus: &Consensus,
        metrics: &Arc<ReadMetrics>,
        stop: &Stop,
        tasks: &mut JoinSet<()>,
    ) -> Self {
        let rounds = Rounds::new(consensus, metrics, stop, tasks);
        let shared = ReaderParts {
            consensus: consensus.clone(),
            rounds,
            confirmed_at: Mutex::new(None),
            led_at: Mutex::new(None),
            metrics: Arc::clone(metrics),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// A state that meets `consistency`.
    ///
    /// # Errors
    ///
    /// `UNAVAILABLE` if this replica cannot prove in time that its state is current, `DEADLINE_EXCEEDED` if the
    /// caller's deadline passes first, `OVERLOADED` if too many reads wait, and `COMPACTED` or `FUTURE_REVISION` for a
    /// revision that is no longer kept or does not exist yet.
    pub async fn read(
        &self,
        consistency: Consistency,
        deadline: Instant,
    ) -> Result<Reading, Refusal> {
        match consistency {
            Consistency::Linearizable => Ok(Reading::present(self.confirm(deadline).await?)),
            Consistency::AtRevision(revision) => self.at(revision, deadline).await,
            Consistency::Relaxed {
                min_revision,
                max_staleness,
            } => {
                let published = self.come_to(min_revision, deadline).await?;
                match max_staleness {
                    None => Ok(Reading::present(published)),
                    Some(most) => self.no_older_than(most, deadline).await,
                }
            }
        }
    }

    /// The published state, proved to hold everything acknowledged before this call.
    ///
    /// # Errors
    ///
    /// As for [`Self::read`].
    pub(crate) async fn confirm(&self, deadline: Instant) -> Result<Arc<Published>, Refusal> {
        let confirmed = self.confirm_leader(deadline).await?;
        Ok(confirmed.published)
    }

    /// Returns the state of [`Self::confirm`] with the leader that confirmed it.
    ///
    /// # Errors
    ///
    /// As for [`Self::read`].
    pub(crate) async fn confirm_leader(
        &self,
        deadline: Instant,
    ) -> Result<ConfirmedState, Refusal> {
        let gives_up =
            deadline.min(Instant::now() + self.shared.consensus.election_timeout() * PATIENCE);
        loop {
            match self.shared.rounds.index(deadline).await {
                Ok(index) => {
                    note(&self.shared.led_at, index.asked_at);
                    let Position {
                        term,
                        leader,
                        index: entry,
                    } = index.position;
                    let applied = self.shared.consensus.wait_applied(entry, deadline).await;
                    let published = applied.map_err(refuse_wait)?;
                    note(&self.shared.confirmed_at, index.asked_at);
                    return Ok(ConfirmedState {
                        published,
                        term,
                        leader,
                    });
                }
                Err(RoundFailed::Refused(refusal)) => return Err(refusal),
                Err(RoundFailed::Retry(why)) if Instant::now() + PAUSE >= gives_up => {
                    return Err(unavailable(&why));
                }
                // The next index is asked for later, so it proves no less.
                Err(RoundFailed::Retry(_)) => self.pause().await,
            }
        }
    }

    /// The metrics of reads.
    pub(crate) fn metrics(&self) -> &ReadMetrics {
        &self.shared.metrics
    }

    /// How long ago the read index was asked for that last confirmed this replica's state.
    pub(crate) fn age(&self) -> Option<Duration> {
        since(&self.shared.confirmed_at)
    }

    /// How long ago the read index was asked for that a leader gave last. This replica may be behind it.
    pub(crate) fn led_age(&self) -> Option<Duration> {
        since(&self.shared.led_at)
    }

    /// Reads at `revision`. A past state never changes, so proof is needed only if this replica has not reached it yet.
    async fn at(&self, revision: Revision, deadline: Instant) -> Result<Reading, Refusal> {
        let mut published = self.shared.consensus.published();
        if revision > published.state.revision() {
            published = self.confirm(deadline).await?;
        }
        let reading = Reading {
            published,
            revision,
            age: None,
        };
        // The kinds of the upgrade history reach back the furthest. Reads of other kinds find out when they ask for them.
        reading.upgrade_past()?;
        Ok(reading)
    }

    /// Waits until this replica has reached `revision`.
    async fn come_to(
        &self,
        revision: Revision,
        deadline: Instant,
    ) -> Result<Arc<Published>, Refusal> {
        let published = self.shared.consensus.published();
        if published.state.revision() >= revision {
            return Ok(published);
        }
        let mut progress = self.shared.consensus.subscribe();
        let came = progress.wait_for(|progress| progress.revision >= revision);
        match tokio::time::timeout_at(deadline, came).await {
            Ok(Ok(_)) => Ok(self.shared.consensus.published()),
            Ok(Err(_)) => Err(unavailable("this replica is stopping")),
            Err(_) => Err(deadline_exceeded(&format!(
                "this replica came to revision {revision}"
            ))),
        }
    }

    async fn no_older_than(&self, most: Duration, deadline: Instant) -> Result<Reading, Refusal> {
        if self.age().is_none_or(|age| age > most) {
            self.confirm(deadline).await?;
        }
        // The age is read before the state, so the state is at least as new as the age says.
        let age = self.age();
        let published = self.shared.consensus.published();
        match age {
            Some(age) if age <= most => Ok(Reading {
                age: Some(age),
                ..Reading::present(published)
            }),
            Some(_) | None => Err(unavailable(&format!(
                "confirming this replica's state takes longer than the {} ms it may be old",
                most.as_millis()
            ))),
        }
    }

    async fn pause(&self) {
        let mut leadership = self.shared.consensus.leadership();
        let changed = async {
            // Leadership changes no longer arrive, so only the time is waited for.
            if leadership.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        // After the pause and after a change alike, the caller tries again.
        let _ = tokio::time::timeout(PAUSE, changed).await;
    }
}

/// Notes that an index was asked for, if none that was asked for later is noted.
fn note(latest: &Mutex<Option<Instant>>, asked_at: Instant) {
    let mut latest = latest.lock().unwrap_or_else(PoisonError::into_inner);
    *latest = (*latest).max(Some(asked_at));
}

fn since(latest: &Mutex<Option<Instant>>) -> Option<Duration> {
    let latest = *latest.lock().unwrap_or_else(PoisonError::into_inner);
    latest.map(|at| at.elapsed())
}

impl Reading {
    fn present(published: Arc<Published>) -> Self {
        let revision = published.state.revision();
        Self {
            published,
            revision,
            age: None,
        }
    }

    /// The revision that is read.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// What was published at the time of the read; newer than [`Self::revision`] if that is a past one.
    #[must_use]
    pub fn published(&self) -> &Arc<Published> {
        &self.published
    }

    /// Whether the present revision is read. Some data beside the objects, such as deadlines, exists for it only.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.revision == self.published.state.revision()
    }

    /// The greatest possible age of the answer, if the caller has set a limit for it.
    #[must_use]
    pub fn age(&self) -> Option<Duration> {
        self.age
    }

    /// The state at the revision of this reading.
    ///
    /// # Errors
    ///
    /// `COMPACTED` if the revision is no longer kept, `FUTURE_REVISION` if it does not exist yet.
    pub fn past(&self) -> Result<Past<'_>, Refusal> {
        self.past_in(EventScope::All)
    }

    /// The state at the revision of this reading, of which only kinds of the upgrade history can be read.
    ///
    /// # Errors
    ///
    /// As for [`Self::past`].
    pub(crate) fn upgrade_past(&self) -> Result<Past<'_>, Refusal> {
        self.past_in(EventScope::Upgrade)
    }

    fn past_in(&self, scope: EventScope) -> Result<Past<'_>, Refusal> {
        self.published
            .state
            .at_in(scope, self.revision)
            .map_err(|reach| out_of_reach(self.revision, reach))
    }
}

/// The refusal of a revision that cannot be read.
pub(crate) fn out_of_reach(revision: Revision, reach: OutOfReach) -> Refusal {
    match reach {
        OutOfReach::Compacted { oldest } => {
            let message = format!("revision {revision} cannot be read: {reach}");
            Refusal::new(ErrorKind::Compacted, message).with(key::OLDEST_REVISION, oldest)
        }
        // The wording of Kubernetes.
        OutOfReach::Future { present } => {
            let message = format!("Too large resource version: {revision}, current: {present}");
            Refusal::new(ErrorKind::FutureRevision, message).with(key::CURRENT_REVISION, present)
        }
    }
}

fn refuse_wait(error: WaitError) -> Refusal {
    match error {
        WaitError::DeadlineExceeded => deadline_exceeded(PROOF),
        WaitError::Stopped => unavailable("this replica is stopping"),
    }
}
