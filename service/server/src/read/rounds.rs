//! Rounds of read indexes, each shared by all reads that wait when it begins.
//!
//! One round is in progress at a time. A read that arrives meanwhile waits for the next round: an index that was asked
//! for before the read came proves nothing to it.

use std::sync::Arc;

use synod_model::Refusal;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::refusals::{PROOF, deadline_exceeded, unavailable};
use crate::consensus::{Consensus, Leadership, Position, ReadIndexError};
use crate::limits::READS_WAITING_MAX;
use crate::metrics::ReadMetrics;
use crate::stop::Stop;

/// Gives read indexes to reads.
pub(super) struct Rounds {
    asks: mpsc::Sender<Ask>,
    free: Arc<Semaphore>,
    metrics: Arc<ReadMetrics>,
}

/// A confirmed read index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Index {
    /// A state that has applied this entry misses nothing. The leader that confirmed it wrote it in the term in which it leads.
    pub(super) position: Position,
    /// When the index was asked for: after all reads that get it had arrived.
    pub(super) asked_at: Instant,
}

/// Why a round gave no index.
#[derive(Clone, Debug)]
pub(super) enum RoundFailed {
    /// Another round may succeed.
    Retry(String),
    /// Another try would fail, too.
    Refused(Refusal),
}

struct Ask {
    answer: oneshot::Sender<Result<Index, String>>,
    /// Its place among the waiting reads, of the next round and of the one in progress.
    _place: OwnedSemaphorePermit,
}

impl Rounds {
    pub(super) fn new(
        consensus: &Consensus,
        metrics: &Arc<ReadMetrics>,
        stop: &Stop,
        tasks: &mut JoinSet<()>,
    ) -> Self {
        let (asks, queue) = mpsc::channel(READS_WAITING_MAX);
        let work = run(queue, consensus.clone(), Arc::clone(metrics));
        let stop = stop.clone();
        tasks.spawn(async move {
            tokio::select! {
                biased;
                () = stop.requested() => {}
                () = work => {}
            }
        });
        Self {
            asks,
            free: Arc::new(Semaphore::new(READS_WAITING_MAX)),
            metrics: Arc::clone(metrics),
        }
    }

    /// An index that is asked for after this call.
    pub(super) async fn index(&self, deadline: Instant) -> Result<Index, RoundFailed> {
        let (answer, answered) = oneshot::channel();
        let place = Arc::clone(&self.free).try_acquire_owned();
        let ask = Ask {
            answer,
            _place: place.map_err(|_| RoundFailed::Refused(overloaded()))?,
        };
        self.asks.try_send(ask).map_err(|error| match error {
            TrySendError::Full(_) => RoundFailed::Refused(overloaded()),
            TrySendError::Closed(_) => {
                RoundFailed::Refused(unavailable("this replica is stopping"))
            }
        })?;
        self.metrics
            .waiting(READS_WAITING_MAX - self.free.available_permits());
        match tokio::time::timeout_at(deadline, answered).await {
            Ok(Ok(index)) => index.map_err(RoundFailed::Retry),
            Ok(Err(_)) => Err(RoundFailed::Refused(unavailable(
                "this replica is stopping",
            ))),
            Err(_) => Err(RoundFailed::Refused(deadline_exceeded(PROOF))),
        }
    }
}

async fn run(mut queue: mpsc::Receiver<Ask>, consensus: Consensus, metrics: Arc<ReadMetrics>) {
    let mut gathered = Vec::new();
    while queue.recv_many(&mut gathered, READS_WAITING_MAX).await > 0 {
        gathered.retain(|ask: &Ask| !ask.answer.is_closed());
        if gathered.is_empty() {
            continue;
        }
        let asked_at = Instant::now();
        let result = ask_leader(&consensus).await;
        metrics.round(gathered.len(), asked_at.elapsed(), result.is_ok());
        let index = result.map(|position| Index { position, asked_at });
        for ask in gathered.drain(..) {
            let _ = ask.answer.send(index.clone());
        }
        metrics.waiting(queue.len());
    }
}

/// Asks the leader for an index. Gives up when the leadership changes.
async fn ask_leader(consensus: &Consensus) -> Result<Position, String> {
    let mut leadership = consensus.leadership();
    let Leadership { leader, is_me, .. } = *leadership.borrow_and_update();
    let asked = async {
        match leader {
            Some(_) if is_me => consensus
                .read_index()
                .await
                .map_err(|error| error.to_string()),
            Some(leader) => {
                let timeout = consensus.election_timeout() * 2;
                let asked = consensus.remote_read_index(leader, timeout).await;
                asked.map_err(|error| format!("the leader, replica {leader}, was asked: {error}"))
            }
            None => Err("no leader is known".to_owned()),
        }
    };
    tokio::select! {
        biased;
        asked = asked => asked,
        _ = leadership.changed() => Err(ReadIndexError::NotLeader { hint: None }.to_string()),
    }
}

fn overloaded() -> Refusal {
    let message =
        format!("{READS_WAITING_MAX} reads wait already: try again later, or on another replica");
    Refusal::new(synod_model::ErrorKind::Overloaded, message)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt as _;
    use synod_model::ErrorKind;

    use super::*;
    use crate::metrics::Metrics;

    #[tokio::test]
    async fn reads_in_the_round_under_way_count_against_the_bound() {
        let (asks, mut queue) = mpsc::channel(READS_WAITING_MAX);
        let rounds = Rounds {
            asks,
            free: Arc::new(Semaphore::new(READS_WAITING_MAX)),
            metrics: Metrics::new(|| 0).read,
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        let waits = || {
            let mut waits = Box::pin(rounds.index(deadline));
            assert!(waits.as_mut().now_or_never().is_none(), "nobody answers");
            waits
        };
        let waiting: Vec<_> = (0..READS_WAITING_MAX).map(|_| waits()).collect();
        let mut under_way = Vec::new();
        queue.recv_many(&mut under_way, READS_WAITING_MAX).await;
        assert_eq!(under_way.len(), READS_WAITING_MAX);
        match rounds.index(deadline).now_or_never() {
            Some(Err(RoundFailed::Refused(refusal))) => {
                assert_eq!(refusal.kind, ErrorKind::Overloaded);
            }
            other => panic!("one more is refused at once, not {other:?}"),
        }
        under_way.pop();
        drop(waits());
        drop(waiting);
    }
}
