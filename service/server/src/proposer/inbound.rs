//! The leader's end of the links: accepts batches from followers and puts them into its own lanes.

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use synod_machine::Envelope;
use synod_model::limits::{BATCH_BYTES_MAX, COMMAND_BYTES_MAX};
use synod_model::stored::from_foreign_bytes;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::Proposer;
use super::intake::{Forwarded, NotQueued, Unit};
use crate::consensus::ReplicaId;
use crate::limits::{BATCH_COMMANDS_MAX, DEADLINE_MAX, FORWARDED_BATCHES_MAX, PEER_ITEMS_MAX};
use crate::peer::ForwardHandler;
use crate::peer::messages::{BatchVerdict, ForwardRequest, ForwardResponse, NotExecutedReason};

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
                let entered = span.in_scope(|| proposer.enter(from, batch));
                let answered = async move {
                    let verdict = verdict(entered).await;
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

async fn verdict(entered: Result<oneshot::Receiver<BatchVerdict>, BatchVerdict>) -> BatchVerdict {
    match entered {
        Ok(answered) => answered.await.unwrap_or_else(|_| {
            BatchVerdict::Unknown("the leader stopped before the outcome was known".to_owned())
        }),
        Err(verdict) => verdict,
    }
}

impl Proposer {
    /// Puts a batch into its lane, or returns the verdict that refuses it.
    fn enter(
        &self,
        from: ReplicaId,
        batch: ForwardRequest,
    ) -> Result<oneshot::Receiver<BatchVerdict>, BatchVerdict> {
        let leadership = *self.shared.consensus.leadership().borrow();
        if !leadership.is_me {
            return Err(BatchVerdict::not_leader(leadership.leader));
        }
        let lane = batch.lane;
        let bytes = check(&batch).inspect_err(|_| tracing::warn!(%from, "refused a batch"))?;
        tracing::debug!(
            %from,
            lane = lane.name(),
            commands = batch.commands.len(),
            "took a batch"
        );
        let overloaded = || {
            let message = "the leader has too much to do";
            BatchVerdict::not_executed(NotExecutedReason::Overloaded, message)
        };
        let queue = self.shared.queue(lane);
        let place = queue.place(bytes).map_err(|_| overloaded())?;
        let (answer, answered) = oneshot::channel();
        let deadline = Instant::now() + batch.timeout.min(DEADLINE_MAX);
        let forwarded = Forwarded {
            commands: batch.commands,
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
}

/// Checks the size of a batch, and that every command can be decoded: one that cannot would stop every replica that
/// applies it. Returns the bytes of all commands together.
fn check(batch: &ForwardRequest) -> Result<usize, BatchVerdict> {
    let bytes: usize = batch.commands.iter().map(bytes::Bytes::len).sum();
    let bytes_max = if batch.commands.len() == 1 {
        COMMAND_BYTES_MAX
    } else {
        BATCH_BYTES_MAX
    };
    if batch.commands.is_empty() || batch.commands.len() > BATCH_COMMANDS_MAX || bytes > bytes_max {
        return Err(invalid("it does not fit a log entry"));
    }
    for command in &batch.commands {
        from_foreign_bytes::<Envelope>(command, PEER_ITEMS_MAX)
            .map_err(|error| invalid(&error.to_string()))?;
    }
    Ok(bytes)
}

fn invalid(why: &str) -> BatchVerdict {
    let message = format!("the leader cannot take the batch: {why}");
    BatchVerdict::not_executed(NotExecutedReason::Invalid, message)
}
