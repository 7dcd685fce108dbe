//! The queue of a lane, and how batches are taken from it: greedily, but never more than fits into one log entry.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use synod_model::Refusal;
use synod_model::limits::BATCH_BYTES_MAX;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::Instant;

use super::refusals;
use super::request::Request;
use crate::limits::{BATCH_COMMANDS_MAX, LANE_BYTES_MAX, LANE_REQUESTS_MAX};
use crate::peer::messages::{BatchVerdict, NotExecutedReason};
use crate::traces::{SpanName, Stages};

/// What goes into a log entry as a whole.
#[derive(Debug)]
pub(super) enum Unit {
    /// A request of this replica.
    Own(Request),
    /// A batch of another replica.
    Forwarded(Forwarded),
}

/// A batch that another replica forwarded to this one, the leader.
#[derive(Debug)]
pub(super) struct Forwarded {
    pub(super) commands: Vec<Bytes>,
    /// The spans of those commands that have some.
    pub(super) stages: Vec<Stages>,
    pub(super) bytes: usize,
    /// The time until which its callers wait.
    pub(super) deadline: Instant,
    /// Sends the answer to the other replica.
    pub(super) answer: oneshot::Sender<BatchVerdict>,
    /// Its room in the queue, released when it leaves the queue.
    pub(super) place: Option<OwnedSemaphorePermit>,
}

/// The writing end of a lane's queue, bounded by requests and by bytes.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    units: mpsc::Sender<Unit>,
    bytes: Arc<Semaphore>,
}

/// Why a unit was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotQueued {
    /// There is no room.
    Full,
    /// The proposer has stopped.
    Stopping,
}

/// The reading end of a lane's queue.
#[derive(Debug)]
pub(super) struct Intake {
    units: mpsc::Receiver<Unit>,
    /// Units that go first: they did not fit into the last batch, or a leader refused them.
    first: VecDeque<Unit>,
}

/// The units taken for one log entry.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) units: Vec<Unit>,
    pub(super) commands: usize,
    pub(super) bytes: usize,
    /// Whether a request has spans.
    pub(super) is_traced: bool,
}

impl From<NotQueued> for Refusal {
    fn from(why: NotQueued) -> Self {
        match why {
            NotQueued::Full => refusals::queue_full(),
            NotQueued::Stopping => refusals::stopping(),
        }
    }
}

/// Both ends of an empty queue.
pub(super) fn queue() -> (Queue, Intake) {
    let (sender, receiver) = mpsc::channel(LANE_REQUESTS_MAX);
    let queue = Queue {
        units: sender,
        bytes: Arc::new(Semaphore::new(LANE_BYTES_MAX)),
    };
    (
        queue,
        Intake {
            units: receiver,
            first: VecDeque::new(),
        },
    )
}

impl Queue {
    /// Room for a request of this many bytes.
    ///
    /// # Errors
    ///
    /// `OVERLOADED` if there is no room.
    pub(super) fn place(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Refusal> {
        let weight = u32::try_from(bytes).map_err(|_| refusals::queue_full())?;
        Arc::clone(&self.bytes)
            .try_acquire_many_owned(weight)
            .map_err(|_| refusals::queue_full())
    }

    /// Puts a unit at the end.
    pub(super) fn push(&self, unit: Unit) -> Result<(), NotQueued> {
        self.units.try_send(unit).map_err(|error| match error {
            TrySendError::Full(_) => NotQueued::Full,
            TrySendError::Closed(_) => NotQueued::Stopping,
        })
    }

    /// The number of waiting requests and batches.
    pub(super) fn len(&self) -> usize {
        self.units.max_capacity() - self.units.capacity()
    }

    /// The number of waiting bytes.
    pub(super) fn bytes(&self) -> usize {
        LANE_BYTES_MAX - self.bytes.available_permits()
    }
}

impl Intake {
    /// Waits until something can be taken. Returns false when the queue is closed and empty.
    pub(super) async fn ready(&mut self) -> bool {
        if self.first.is_empty() {
            match self.units.recv().await {
                Some(unit) => self.first.push_back(unit),
                None => return false,
            }
        }
        true
    }

    /// Takes what has gathered, in order, up to the size of a log entry. Requests that were withdrawn or whose deadline
    /// has passed are left out.
    pub(super) fn take(&mut self, now: Instant) -> Batch {
        let mut batch = Batch::default();
        while let Some(unit) = self.next() {
            if !batch.has_room_for(&unit) {
                self.first.push_front(unit);
                break;
            }
            if let Some(unit) = unit.claim(now) {
                batch.push(unit);
            }
        }
        batch
    }

    /// Puts requests that were certainly not executed back to the front of the queue.
    pub(super) fn put_back(&mut self, requests: Vec<Request>) {
        for mut request in requests.into_iter().rev() {
            request.unclaim();
            self.first.push_front(Unit::Own(request));
        }
    }

    /// Closes the queue. What waits can still be taken.
    pub(super) fn close(&mut self) {
        self.units.close();
    }

    fn next(&mut self) -> Option<Unit> {
        self.first
            .pop_front()
            .or_else(|| self.units.try_recv().ok())
    }
}

impl Batch {
    fn has_room_for(&self, unit: &Unit) -> bool {
        self.units.is_empty()
            || (self.bytes + unit.bytes() <= BATCH_BYTES_MAX
                && self.commands + unit.commands() <= BATCH_COMMANDS_MAX)
    }

    fn push(&mut self, unit: Unit) {
        self.bytes += unit.bytes();
        self.commands += unit.commands();
        self.is_traced |= unit.is_traced();
        self.units.push(unit);
    }

    /// The encoded commands, in order.
    pub(super) fn envelopes(&self) -> impl Iterator<Item = &Bytes> + Clone {
        self.units.iter().flat_map(|unit| match unit {
            Unit::Own(request) => std::slice::from_ref(&request.envelope),
            Unit::Forwarded(forwarded) => &forwarded.commands,
        })
    }

    /// The trace ids of this replica's own requests in the batch.
    pub(super) fn traces(&self) -> impl Iterator<Item = &str> {
        self.units.iter().filter_map(|unit| match unit {
            Unit::Own(request) => Some(&*request.trace),
            Unit::Forwarded(_) => None,
        })
    }

    /// Begins a stage of all requests in the batch that have spans.
    pub(super) fn enter(&mut self, stage: &'static str) {
        let commands = self.commands;
        for stages in self.stages() {
            stages.enter(stage);
            stages.batched(commands);
        }
    }

    /// The spans of the requests in the batch.
    pub(super) fn stages(&mut self) -> impl Iterator<Item = &mut Stages> {
        let is_traced = self.is_traced;
        let units = self.units.iter_mut().filter(move |_| is_traced);
        units.flat_map(|unit| match unit {
            Unit::Own(request) => std::slice::from_mut(&mut request.stages),
            Unit::Forwarded(forwarded) => &mut forwarded.stages,
        })
    }

    /// How the spans of this replica's own requests are named to the leader; nothing if none has one.
    pub(super) fn callers(&self) -> Vec<SpanName> {
        let units = self.units.iter().filter(|_| self.is_traced);
        let names = units.filter_map(|unit| match unit {
            Unit::Own(request) => Some(request.stages.name()),
            Unit::Forwarded(_) => None,
        });
        names.collect()
    }

    /// The latest deadline in the batch.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let deadlines = self.units.iter().map(|unit| match unit {
            Unit::Own(request) => request.deadline,
            Unit::Forwarded(forwarded) => forwarded.deadline,
        });
        deadlines.max()
    }
}

impl Unit {
    fn claim(self, now: Instant) -> Option<Self> {
        match self {
            Self::Own(request) => request.claim(now).map(Self::Own),
            Self::Forwarded(forwarded) if forwarded.deadline <= now => {
                let _ = forwarded.answer.send(BatchVerdict::not_executed(
                    NotExecutedReason::Deadline,
                    "its deadline passed",
                ));
                None
            }
            Self::Forwarded(mut forwarded) => {
                drop(forwarded.place.take());
                Some(Self::Forwarded(forwarded))
            }
        }
    }

    fn is_traced(&self) -> bool {
        match self {
            Self::Own(request) => request.stages.are_recorded(),
            Self::Forwarded(forwarded) => !forwarded.stages.is_empty(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Own(request) => request.envelope.len(),
            Self::Forwarded(forwarded) => forwarded.bytes,
        }
    }

    fn commands(&self) -> usize {
        match self {
            Self::Own(_) => 1,
            Self::Forwarded(forwarded) => forwarded.commands.len(),
        }
    }
}

#[cfg(test)]
mod tests;
