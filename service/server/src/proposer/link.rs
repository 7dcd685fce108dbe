//! A follower's link to the leader: one stream of batches for each lane.
//!
//! A link is opened before anything is sent over it, so that a failure to open it leaves no doubt: nothing was executed.
//! When a link breaks, every batch that was sent and not answered is answered at once: its outcome is unknown. A leader
//! that shuts down ends its links instead, and says by that what it has not taken. A leader that is replaced and does
//! neither is not waited for ([`super::driver`]).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::{Stream, StreamExt};
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;

use crate::consensus::{Consensus, ReplicaId};
use crate::limits::FORWARDED_BATCHES_MAX;
use crate::peer::PeerError;
use crate::peer::messages::{BatchVerdict, ForwardRequest, ForwardResponse};

/// How long opening a link may take.
const OPEN_TIMEOUT: Duration = Duration::from_secs(1);

/// An open link.
pub(super) struct Link {
    /// Who is at the other end.
    leader: ReplicaId,
    batches: mpsc::Sender<ForwardRequest>,
    unanswered: Unanswered,
    sent: u64,
}

/// The batches that were sent and not answered. Clones share them.
#[derive(Clone)]
struct Unanswered(Arc<Mutex<Option<Answers>>>);

/// Who waits for which batch. There are none once the link is broken.
type Answers = BTreeMap<u64, oneshot::Sender<BatchVerdict>>;

/// What a leader will say of a batch. Dropping it forgets the batch, so that a leader that never answers piles up none.
pub(super) struct PendingBatch {
    batch_id: u64,
    unanswered: Unanswered,
    verdict: oneshot::Receiver<BatchVerdict>,
}

impl Link {
    /// Opens a link to `leader`.
    ///
    /// # Errors
    ///
    /// When the replica cannot be reached in time. Nothing was sent.
    pub(super) async fn open(consensus: &Consensus, leader: ReplicaId) -> Result<Self, PeerError> {
        let (batches, queue) = mpsc::channel(FORWARDED_BATCHES_MAX);
        let answers = consensus
            .open_forward(leader, ReceiverStream::new(queue), OPEN_TIMEOUT)
            .await?;
        let unanswered = Unanswered(Arc::new(Mutex::new(Some(BTreeMap::new()))));
        tokio::spawn(unanswered.clone().read(answers));
        Ok(Self {
            leader,
            batches,
            unanswered,
            sent: 0,
        })
    }

    /// Whether the link leads to this replica and is not broken.
    pub(super) fn leads_to(&self, leader: ReplicaId) -> bool {
        self.leader == leader && self.unanswered.lock().is_some()
    }

    /// Sends a batch, whose number is given here. Answers `None` if the batch was not sent.
    pub(super) fn send(&mut self, mut batch: ForwardRequest) -> Option<PendingBatch> {
        batch.batch = self.sent;
        let (told, verdict) = oneshot::channel();
        self.unanswered.lock().as_mut()?.insert(batch.batch, told);
        self.sent += 1;
        let answer = PendingBatch {
            batch_id: batch.batch,
            unanswered: self.unanswered.clone(),
            verdict,
        };
        self.batches.try_send(batch).is_ok().then_some(answer)
    }
}

impl PendingBatch {
    /// What the leader says of the batch; `None` when the link breaks first.
    pub(super) async fn verdict(mut self) -> Option<BatchVerdict> {
        (&mut self.verdict).await.ok()
    }
}

impl Drop for PendingBatch {
    fn drop(&mut self) {
        self.unanswered.take(self.batch_id);
    }
}

impl Unanswered {
    fn lock(&self) -> MutexGuard<'_, Option<Answers>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, batch_id: u64) -> Option<oneshot::Sender<BatchVerdict>> {
        self.lock().as_mut()?.remove(&batch_id)
    }

    /// Hands out the answers until the link ends.
    async fn read<E>(self, answers: impl Stream<Item = Result<ForwardResponse, E>>) {
        let mut answers = std::pin::pin!(answers);
        while let Some(Ok(ForwardResponse { batch, verdict })) = answers.next().await {
            if verdict == BatchVerdict::Ended {
                let never_taken = self.lock().take().unwrap_or_default();
                for answer in never_taken.into_values() {
                    let _ = answer.send(BatchVerdict::Ended);
                }
            } else if let Some(answer) = self.take(batch) {
                let _ = answer.send(verdict);
            }
        }
        // It broke, if it had not ended. Dropping the senders tells all who wait.
        self.lock().take();
    }
}
