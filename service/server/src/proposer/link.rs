//! A follower's link to the leader: one stream of batches for each lane.
//!
//! A link is opened before anything is sent over it, so if it cannot be opened, certainly nothing was executed. When a
//! link breaks, every batch that was sent but not answered gets an answer at once: its outcome is unknown. A leader
//! that shuts down ends its links with [`BatchVerdict::Ended`] instead: the batches that it has not answered were not
//! executed. If a replaced leader neither answers nor ends the link, [`super::driver`] stops waiting for it.

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

/// The longest time for opening a link.
const OPEN_TIMEOUT: Duration = Duration::from_secs(1);

/// An open link.
pub(super) struct Link {
    /// The replica at the other end.
    leader: ReplicaId,
    batches: mpsc::Sender<ForwardRequest>,
    unanswered: Unanswered,
    sent: u64,
}

/// The batches that were sent and not answered. Clones share them.
#[derive(Clone)]
struct Unanswered(Arc<Mutex<Option<Answers>>>);

/// The senders of the verdicts, by batch. `None` in [`Unanswered`] once the link has ended or broken.
type Answers = BTreeMap<u64, oneshot::Sender<BatchVerdict>>;

/// The verdict to come on a batch. Dropping it forgets the batch, so that unanswered batches do not pile up.
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

    /// Sends a batch, after giving it its number. `None` if the batch was not sent.
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
    /// The leader's verdict on the batch; `None` when the link breaks first.
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

    /// Passes on the verdicts until the link ends.
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
        // If the link broke without `Ended`, dropping the senders tells those who wait.
        self.lock().take();
    }
}
