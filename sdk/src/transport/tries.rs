//! One call, with as many tries as its deadline allows.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use synod_model::{ErrorKind, Verdict};
use tokio::time::{Instant, sleep, timeout};
use tonic::{Request, Response, Status};

use super::failure::{FailedTry, has_run_out};
use super::round::Round;
use super::{Backoff, CallTrace, Endpoints, Failure, Headed, ReplicaChannel};
use crate::Error;
use crate::seams::Seams;
use crate::traces::Traces;

/// When a request may be sent again after a try whose outcome is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// Always: the request changes nothing.
    Read,
    /// Always: the replicas recognize the request by its key, and execute it once; or the second time it changes nothing.
    ExactlyOnce,
    /// Never: the request could be executed twice.
    AtMostOnce,
}

/// A call: where it can go, by when it must be answered, and how it may be repeated.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) endpoints: &'a Arc<Endpoints>,
    pub(crate) seams: &'a Seams,
    /// Who follows it, if anybody does.
    pub(crate) traces: Option<&'a Arc<dyn Traces>>,
    pub(crate) deadline: Instant,
    pub(crate) repeats: Repeats,
}

/// One try of a call.
pub(crate) struct Try {
    /// The channel to the replica that is asked.
    pub(crate) channel: ReplicaChannel,
    /// The time until the deadline of the call.
    pub(crate) remaining: Duration,
}

impl Try {
    /// The request, with the deadline of the call set.
    pub(crate) fn request<M>(&self, message: M) -> Request<M> {
        let mut request = Request::new(message);
        request.set_timeout(self.remaining);
        request
    }
}

/// The shortest limit of one try, if the call has that much time left.
const TRY_MIN: Duration = Duration::from_millis(500);
/// Waits between rounds over all endpoints.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(25), Duration::from_secs(1));

impl Call<'_> {
    /// Sends the request until it is answered or refused by a rule, or the deadline has passed.
    pub(crate) async fn run<T, F, Fut>(self, send: F) -> Result<T, Failure>
    where
        T: Headed,
        F: Fn(Try) -> Fut,
        Fut: Future<Output = Result<Response<T>, Status>>,
    {
        let trace = CallTrace::new(self.traces);
        let answer = self.tries(send, &trace).await;
        trace.ended(answer.as_ref().err().map(|failure| &failure.error));
        answer
    }

    async fn tries<T, F, Fut>(self, send: F, trace: &CallTrace) -> Result<T, Failure>
    where
        T: Headed,
        F: Fn(Try) -> Fut,
        Fut: Future<Output = Result<Response<T>, Status>>,
    {
        let mut course = Course::new(self);
        while let Some(remaining) = self.remaining() {
            let place = course.place;
            let attempt = Try {
                channel: self.endpoints.channel(place).followed_by(trace),
                remaining,
            };
            let token = self.endpoints.token();
            let limit = course.limit(remaining);
            let failed = match timeout(limit, send(attempt)).await {
                Ok(Ok(response)) => {
                    let answer = response.into_inner();
                    let replica_id = answer.header().map(|header| header.replica_id);
                    self.endpoints.answered(place, replica_id);
                    return Ok(answer);
                }
                Ok(Err(status)) if !has_run_out(&status) => FailedTry::of(&status),
                Ok(Err(_)) | Err(_) if limit == remaining => FailedTry::cut_short(limit),
                Ok(Err(_)) | Err(_) => FailedTry::unanswered(limit),
            };
            trace.try_failed(|| self.endpoints.text(place), &failed.error);
            if course.may_renew(&failed) && self.endpoints.has_another_token(token).await {
                course.is_renewed = true;
                continue;
            }
            course.take(failed)?;
            course.wait().await;
        }
        Err(course.end())
    }

    fn remaining(&self) -> Option<Duration> {
        let remaining = self.deadline.checked_duration_since(Instant::now())?;
        (!remaining.is_zero()).then_some(remaining)
    }
}

/// The state of a call after the tries so far.
struct Course<'a> {
    call: Call<'a>,
    total: Duration,
    /// The endpoint to try next.
    place: usize,
    tries: u32,
    round: Round,
    backoff: Backoff,
    /// The shortest wait before the next round.
    retry_after: Duration,
    /// Whether a try may have been executed.
    uncertain: bool,
    /// Whether a try was made again with a new token.
    is_renewed: bool,
    last: Option<Error>,
}

impl<'a> Course<'a> {
    fn new(call: Call<'a>) -> Self {
        Self {
            call,
            total: call.remaining().unwrap_or_default(),
            place: call.endpoints.preferred(),
            tries: 0,
            round: Round::new(call.endpoints.len()),
            backoff: BACKOFF,
            retry_after: Duration::ZERO,
            uncertain: false,
            is_renewed: false,
            last: None,
        }
    }

    /// The limit of one try. A replica that hangs must not use up the time for the others, unless it may be executing a
    /// request that can be sent only once.
    fn limit(&self, remaining: Duration) -> Duration {
        let others = self.call.endpoints.len() > 1;
        match self.call.repeats {
            Repeats::Read | Repeats::ExactlyOnce if others => {
                (self.total / 3).max(TRY_MIN).min(remaining)
            }
            Repeats::Read | Repeats::ExactlyOnce | Repeats::AtMostOnce => remaining,
        }
    }

    /// Whether a new token may help, once. Who calls is found out before anything is executed.
    fn may_renew(&self, failed: &FailedTry) -> bool {
        failed.error.kind() == ErrorKind::Unauthenticated && !self.is_renewed
    }

    /// Records a try that failed, and chooses the endpoint for the next.
    ///
    /// # Errors
    ///
    /// The call has failed: there is no next try.
    fn take(&mut self, failed: FailedTry) -> Result<(), Failure> {
        tracing::debug!(
            endpoint = self.call.endpoints.text(self.place),
            error = %failed.error,
            "a try failed"
        );
        self.tries += 1;
        match (failed.verdict(), self.call.repeats) {
            // This try was not executed, but an earlier one may have been: the caller decides what follows.
            _ if failed.error.kind() == ErrorKind::RequestExpired => {
                return Err(self.fail(failed.error));
            }
            (Verdict::Refused, _) if self.uncertain && failed.is_decided_at_the_edge() => {
                let error = failed.error.with_execution(Verdict::Unknown);
                let context = "an earlier try may have been executed; a later try was refused";
                return Err(self.fail(error.context(context)));
            }
            (Verdict::Refused, _) | (Verdict::Unknown, Repeats::AtMostOnce) => {
                return Err(self.fail(failed.error));
            }
            (Verdict::Unknown, Repeats::ExactlyOnce) => self.uncertain = true,
            (Verdict::Unknown, Repeats::Read) | (Verdict::NotExecuted, _) => {}
        }
        self.call.endpoints.failed();
        let hinted = failed
            .leader
            .and_then(|hint| self.call.endpoints.hinted(&hint));
        self.place = self.round.next(self.place, hinted);
        self.retry_after = self.retry_after.max(failed.retry_after.unwrap_or_default());
        // An earlier error is more useful than the fact that the deadline ended a later try.
        if !failed.cut_short || self.last.is_none() {
            self.last = Some(failed.error);
        }
        Ok(())
    }

    /// Waits after each round: when every replica has failed once, they need time.
    async fn wait(&mut self) {
        if !self.round.end() {
            return;
        }
        let wait = self.backoff.next(&*self.call.seams.randomness);
        let wait = wait.max(std::mem::take(&mut self.retry_after));
        sleep(wait.min(self.call.remaining().unwrap_or_default())).await;
    }

    fn fail(&self, error: Error) -> Failure {
        Failure {
            error,
            uncertain: self.uncertain,
        }
    }

    /// The deadline has passed.
    fn end(self) -> Failure {
        let told = match &self.last {
            Some(last) => format!("; the last try said: {last}"),
            None => String::new(),
        };
        let message = format!(
            "no answer within {:?} after {} tries at {:?}{told}",
            self.total, self.tries, self.call.endpoints
        );
        let error = match self.last.as_ref().map(Error::kind) {
            _ if self.uncertain => Error::new(ErrorKind::DeadlineExceeded, message),
            // The replicas' own error is more useful than the fact that the deadline has passed.
            Some(kind @ (ErrorKind::Unavailable | ErrorKind::Overloaded)) => {
                Error::new(kind, message)
            }
            // This is a read whose connection broke.
            Some(ErrorKind::UnknownOutcome) => Error::new(ErrorKind::Unavailable, message),
            Some(_) | None => Error::new(ErrorKind::DeadlineExceeded, message)
                .with_execution(Verdict::NotExecuted),
        };
        self.fail(error)
    }
}
