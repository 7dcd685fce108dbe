//! The leader's end of the links: accepts batches from followers and puts them into its own lanes.

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use synod_machine::Envelope;
use synod_model::limits::{BATCH_BYTES_MAX, COMMAND_BYTES_MAX};
use synod_model::stored::from_foreign_bytes;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::intake::{Forwarded, NotQueued, Unit};
use super::renewals::Unconfirmed;
use super::settle::bound_objects;
use super::{Lane, Proposer};
use crate::consensus::ReplicaId;
use crate::limits::{BATCH_COMMANDS_MAX, DEADLINE_MAX, FORWARDED_BATCHES_MAX, PEER_ITEMS_MAX};
use crate::peer::ForwardHandler;
use crate::peer::messages::{BatchVerdict, ForwardRequest, ForwardResponse, NotExecutedReason};
use crate::traces::Stages;

impl ForwardHandler for Proposer {
    fn forward(
        &self,
        from: ReplicaId,
        batches: BoxStream<'static, ForwardRequest>,
    ) -> BoxStream<'static, ForwardResponse> {
        let (proposer, stop) = (self.clone(), self.shared.stop.clone());
        let ended = ForwardResponse {
            batch: 0,
            verdict: BatchVerdict::Ended,
        };
        batches
            .take_until(async move { stop.requested().await })
            .map(move |batch| {
                let number = batch.batch;
                let span = tracing::debug_span!("forwarded", %from, requests = ?batch.traces);
                // Not when the answer is polled: batches must enter the lane in the order in which they arrived.
                let taken = span.in_scope(|| proposer.take(from, batch));
                let proposer = proposer.clone();
                let answered = async move {
                    let verdict = proposer.verdict(taken).await;
                    tracing::debug!("answered a batch");
                    ForwardResponse {
                        batch: number,
                        verdict,
                    }
                };
                answered.instrument(span)
            })
            .buffer_unordered(FORWARDED_BATCHES_MAX)
            // At this point every accepted batch is answered.
            .chain(stream::iter([ended]))
            .boxed()
    }
}

/// A batch of another replica that was taken.
enum Taken {
    /// It waits in its lane.
    Queued(oneshot::Receiver<BatchVerdict>),
    /// Its commands are renewals, and this leader has extended their deadlines.
    Extended(Unconfirmed, Forwarding),
}

/// A batch that is not in a lane yet.
struct Forwarding {
    lane: Lane,
    commands: Vec<Bytes>,
    stages: Vec<Stages>,
    bytes: usize,
    deadline: Instant,
}

impl Proposer {
    /// Takes a batch, or returns the verdict that refuses it.
    fn take(&self, from: ReplicaId, batch: ForwardRequest) -> Result<Taken, BatchVerdict> {
        let leadership = *self.shared.consensus.leadership().borrow();
        if !leadership.is_me {
            return Err(BatchVerdict::not_leader(leadership.leader));
        }
        let (bytes, envelopes) =
            check(&batch).inspect_err(|_| tracing::warn!(%from, "refused a batch"))?;
        tracing::debug!(
            %from,
            lane = batch.lane.name(),
            commands = batch.commands.len(),
            "took a batch"
        );
        let replica = self.shared.consensus.replica();
        let callers = (&batch.callers[..], &batch.caller_states[..]);
        let traces = &self.shared.traces;
        let stages = traces.forwarded(callers, batch.commands.len(), replica);
        let forwarding = Forwarding {
            lane: batch.lane,
            stages,
            commands: batch.commands,
            bytes,
            deadline: Instant::now() + batch.timeout.min(DEADLINE_MAX),
        };
        match self.extend(forwarding.lane, envelopes) {
            Some(unconfirmed) => Ok(Taken::Extended(unconfirmed, forwarding)),
            None => self.enter(forwarding).map(Taken::Queued),
        }
    }

    /// Extends the deadlines of what a batch renews. `None` if it must go into the log.
    fn extend(&self, lane: Lane, envelopes: Vec<Envelope>) -> Option<Unconfirmed> {
        if lane != Lane::Renewal {
            return None;
        }
        let is_plain = envelopes.iter().all(|envelope| envelope.request.is_none());
        is_plain.then(|| self.shared.renewals.extend(&envelopes))?
    }

    /// Puts a batch into its lane, or returns the verdict that refuses it.
    fn enter(
        &self,
        forwarding: Forwarding,
    ) -> Result<oneshot::Receiver<BatchVerdict>, BatchVerdict> {
        let Forwarding {
            lane,
            commands,
            stages,
            bytes,
            deadline,
        } = forwarding;
        let overloaded = || {
            let message = "the leader has too much to do";
            BatchVerdict::not_executed(NotExecutedReason::Overloaded, message)
        };
        let queue = self.shared.queue(lane);
        let place = queue.place(bytes).map_err(|_| overloaded())?;
        let (answer, answered) = oneshot::channel();
        let forwarded = Forwarded {
            commands,
            stages,
            bytes,
            deadline,
            answer,
            place: Some(place),
        };
        let pushed = queue.push(Unit::Forwarded(forwarded));
        pushed.map_err(|why| match why {
            NotQueued::Full => overloaded(),
            NotQueued::Stopping => {
                let message = "the leader is shutting down";
                BatchVerdict::not_executed(NotExecutedReason::Shutdown, message)
            }
        })?;
        Ok(answered)
    }

    async fn verdict(&self, taken: Result<Taken, BatchVerdict>) -> BatchVerdict {
        let queued = match taken {
            Err(verdict) => return verdict,
            Ok(Taken::Queued(queued)) => Ok(queued),
            Ok(Taken::Extended(unconfirmed, forwarding)) => {
                let deadline = forwarding.deadline;
                match self.shared.renewals.confirm(&unconfirmed, deadline).await {
                    Some((at, mut outcomes)) => {
                        bound_objects(&mut outcomes);
                        return BatchVerdict::Executed { at, outcomes };
                    }
                    None => self.enter(forwarding),
                }
            }
        };
        match queued {
            Ok(answered) => answered.await.unwrap_or_else(|_| {
                BatchVerdict::Unknown("the leader stopped before the outcome was known".to_owned())
            }),
            Err(verdict) => verdict,
        }
    }
}

/// Checks the size of a batch, and that every command can be decoded: one that cannot would stop every replica that
/// applies it. Returns the bytes of all commands together, and the commands.
fn check(batch: &ForwardRequest) -> Result<(usize, Vec<Envelope>), BatchVerdict> {
    let bytes: usize = batch.commands.iter().map(Bytes::len).sum();
    let bytes_max = if batch.commands.len() == 1 {
        COMMAND_BYTES_MAX
    } else {
        BATCH_BYTES_MAX
    };
    if batch.commands.is_empty() || batch.commands.len() > BATCH_COMMANDS_MAX || bytes > bytes_max {
        return Err(invalid("it does not fit a log entry"));
    }
    let envelopes = batch.commands.iter().map(|command| {
        from_foreign_bytes(command, PEER_ITEMS_MAX).map_err(|error| invalid(&error.to_string()))
    });
    Ok((bytes, envelopes.collect::<Result<_, _>>()?))
}

fn invalid(why: &str) -> BatchVerdict {
    let message = format!("the leader cannot take the batch: {why}");
    BatchVerdict::not_executed(NotExecutedReason::Invalid, message)
}
