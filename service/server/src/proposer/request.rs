//! A request on its way into the log: the proposer's end, and the end of the caller that waits for it.
//!
//! Whether a request was executed is never guessed. It is queued until the proposer claims it for a batch, and sent
//! from then on. A caller that gives up while the request is queued withdraws it, so that it will certainly never be
//! executed; a caller that gives up later is told that the outcome is unknown.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use bytes::Bytes;
use synod_machine::Outcome;
use synod_model::Refusal;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;

use super::refusals;
use crate::traces::{QUEUE, Stages};

/// The answer to a caller: the outcome of its command as applied, or why there is none.
pub(super) type Answered = Result<Outcome, Refusal>;

const QUEUED: u8 = 0;
const SENT: u8 = 1;
const WITHDRAWN: u8 = 2;

/// The proposer's end of a request.
#[derive(Debug)]
pub(super) struct Request {
    /// The encoded command with its exactly-once key.
    pub(super) envelope: Bytes,
    /// The time until which the caller waits.
    pub(super) deadline: Instant,
    /// The name of the request in the logs of every replica that it passes; may be empty.
    pub(super) trace: Arc<str>,
    /// Its spans.
    pub(super) stages: Stages,
    stage: Arc<AtomicU8>,
    answer: oneshot::Sender<Answered>,
    /// Its room in the queue, released when it leaves the queue.
    place: Option<OwnedSemaphorePermit>,
}

/// The caller's end of a request. Dropping it withdraws the request if it was not sent yet.
#[derive(Debug)]
pub(super) struct Waiter {
    deadline: Instant,
    stage: Arc<AtomicU8>,
    answer: oneshot::Receiver<Answered>,
}

/// Both ends of a request.
pub(super) fn request(
    envelope: Bytes,
    deadline: Instant,
    trace: Arc<str>,
    stages: Stages,
    place: OwnedSemaphorePermit,
) -> (Request, Waiter) {
    let stage = Arc::new(AtomicU8::new(QUEUED));
    let (answer, answered) = oneshot::channel();
    let request = Request {
        envelope,
        deadline,
        trace,
        stages,
        stage: Arc::clone(&stage),
        answer,
        place: Some(place),
    };
    (
        request,
        Waiter {
            deadline,
            stage,
            answer: answered,
        },
    )
}

impl Request {
    /// Marks the request as sent. `None` if its caller has withdrawn it, or if its deadline has passed, which the
    /// caller is told.
    pub(super) fn claim(mut self, now: Instant) -> Option<Self> {
        self.place = None;
        if self.deadline <= now {
            self.answer(Err(refusals::deadline_before_proposal()));
            return None;
        }
        let claimed =
            self.stage
                .compare_exchange(QUEUED, SENT, Ordering::AcqRel, Ordering::Acquire);
        claimed.is_ok().then_some(self)
    }

    /// Marks the request as queued again: it was certainly not executed, and will be sent again.
    pub(super) fn unclaim(&mut self) {
        self.stages.enter(QUEUE);
        self.stage.store(QUEUED, Ordering::Release);
    }

    /// Answers the caller, if it still waits.
    pub(super) fn answer(self, answered: Answered) {
        // The last stage ends before its call does.
        drop(self.stages);
        let _ = self.answer.send(answered);
    }
}

impl Waiter {
    /// Waits for the answer until the deadline.
    pub(super) async fn answered(mut self) -> Answered {
        match tokio::time::timeout_at(self.deadline, &mut self.answer).await {
            Ok(Ok(answered)) => answered,
            // The proposer dropped the request without an answer.
            Ok(Err(_)) if self.withdraw() => Err(refusals::stopping()),
            Ok(Err(_)) => Err(refusals::unknown(
                "this replica stopped before the outcome was known",
            )),
            Err(_) if self.withdraw() => Err(refusals::deadline_before_proposal()),
            Err(_) => Err(refusals::unknown(
                "the deadline passed before the outcome was known",
            )),
        }
    }

    /// Prevents the request from being sent; false if it was sent before.
    fn withdraw(&self) -> bool {
        self.stage
            .compare_exchange(QUEUED, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.withdraw();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use synod_model::ErrorKind;
    use tokio::sync::Semaphore;

    use super::*;

    /// A request that waits until `deadline`, with an envelope of `bytes` bytes.
    pub(in crate::proposer) fn sample(bytes: usize, deadline: Instant) -> (Request, Waiter) {
        let place = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        let envelope = Bytes::from(vec![7; bytes]);
        request(envelope, deadline, Arc::from(""), Stages::default(), place)
    }

    fn kind(answered: Answered) -> (ErrorKind, bool) {
        let refusal = answered.unwrap_err();
        (
            refusal.kind,
            refusal
                .metadata
                .get("not_executed")
                .is_some_and(|value| value == "true"),
        )
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_was_never_sent_is_certainly_not_executed_when_its_deadline_passes() {
        let (request, waiter) = sample(1, Instant::now() + Duration::from_secs(1));
        assert_eq!(
            kind(waiter.answered().await),
            (ErrorKind::DeadlineExceeded, true)
        );
        assert!(request.claim(Instant::now()).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_was_sent_has_an_unknown_outcome_when_its_deadline_passes() {
        let now = Instant::now();
        let (request, waiter) = sample(1, now + Duration::from_secs(1));
        let sent = request.claim(now);
        assert!(sent.is_some());
        assert_eq!(
            kind(waiter.answered().await),
            (ErrorKind::UnknownOutcome, false)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_is_not_sent_after_its_deadline() {
        let deadline = Instant::now() + Duration::from_secs(1);
        let (request, waiter) = sample(1, deadline);
        assert!(request.claim(deadline).is_none());
        assert_eq!(
            kind(waiter.answered().await),
            (ErrorKind::DeadlineExceeded, true)
        );
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_takes_its_request_with_it() {
        let now = Instant::now();
        let (request, waiter) = sample(1, now + Duration::from_secs(1));
        drop(waiter);
        assert!(request.claim(now).is_none());
    }

    #[tokio::test]
    async fn a_proposer_that_stops_leaves_no_doubt_about_what_it_had_not_sent() {
        let now = Instant::now();
        let (queued, waiter) = sample(1, now + Duration::from_secs(1));
        drop(queued);
        assert_eq!(
            kind(waiter.answered().await),
            (ErrorKind::Unavailable, true)
        );
        let (sent, waiter) = sample(1, now + Duration::from_secs(1));
        drop(sent.claim(now));
        assert_eq!(
            kind(waiter.answered().await),
            (ErrorKind::UnknownOutcome, false)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_is_sent_again_can_be_withdrawn_in_between() {
        let now = Instant::now();
        let (request, waiter) = sample(1, now + Duration::from_secs(1));
        let mut request = request.claim(now).unwrap();
        request.unclaim();
        assert_eq!(
            kind(waiter.answered().await),
            (ErrorKind::DeadlineExceeded, true)
        );
    }
}
