//! The two kinds of call, a read and a change, and how each is repeated.

use std::future::Future;

use synod_model::{ErrorKind, Verdict};
use synod_proto::Change;
use tokio::time::{Instant, sleep_until};
use tonic::{Response, Status};

use super::Client;
use crate::Error;
use crate::session::{Sessions, deadline};
use crate::transport::{Call, CallTrace, Failure, Headed, Repeats, Try};

/// How many sessions one request is tried under. One expired session is normal, a third one is a failure.
const SESSIONS_TRIED_MAX: u32 = 3;

/// What happens to a change when no session can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    /// The change fails without being sent.
    Fail,
    /// The change is sent without a session, and executed at most once.
    AtMostOnce,
}

/// A change that can be sent without a session spends at most this fraction (1/n) of its time on opening one.
const SESSION_SHARE: u32 = 4;

/// How a change becomes a message, and how that is sent: a function of the try and the message.
pub(crate) trait Sends<B, M>: Fn(Try, M) -> Self::Sending {
    /// The answer.
    type Answer: Headed;
    /// The sending.
    type Sending: Future<Output = Result<Response<Self::Answer>, Status>>;

    /// Sends this change.
    fn send(&self, attempt: Try, change: &Change<B>) -> Self::Sending;
}

impl<B, M, T, F, Fut> Sends<B, M> for F
where
    M: for<'a> From<&'a Change<B>>,
    T: Headed,
    F: Fn(Try, M) -> Fut,
    Fut: Future<Output = Result<Response<T>, Status>>,
{
    type Answer = T;
    type Sending = Fut;

    fn send(&self, attempt: Try, change: &Change<B>) -> Fut {
        self(attempt, M::from(change))
    }
}

impl Client {
    /// Sends a request that changes nothing, to any replica and as often as needed.
    pub(crate) async fn read<T, F, Fut>(&self, send: F) -> Result<T, Error>
    where
        T: Headed,
        F: Fn(Try) -> Fut,
        Fut: Future<Output = Result<Response<T>, Status>>,
    {
        let call = self.call(deadline(self.timeout), Repeats::Read);
        call.run(send).await.map_err(|failure| failure.error)
    }

    /// Sends a request that changes something: in the client's session if it has one, else at most once.
    pub(crate) async fn change<B, M, S: Sends<B, M>>(
        &self,
        change: Change<B>,
        send: S,
    ) -> Result<S::Answer, Error> {
        let deadline = deadline(self.timeout);
        self.once(deadline, change, Without::Fail, send).await
    }

    /// Sends a change that a member's epoch or instance fences: in the client's session if one can be opened, else at
    /// most once. The calls that keep members alive must not depend on room for sessions, which others can use up.
    pub(super) async fn fenced_change<B, M, S: Sends<B, M>>(
        &self,
        change: Change<B>,
        send: S,
    ) -> Result<S::Answer, Error> {
        let deadline = deadline(self.timeout);
        self.once(deadline, change, Without::AtMostOnce, send).await
    }

    /// Sends a join, as [`Self::fenced_change`] does, but reports an unknown outcome no earlier than its deadline.
    ///
    /// A member's statements are numbered within its epoch, so a late one is recognized. A join has no epoch yet: one
    /// that was given up and is executed late would displace a later join of another instance. Replicas execute a join
    /// no more after its deadline.
    pub(super) async fn joining_change<B, M, S: Sends<B, M>>(
        &self,
        change: Change<B>,
        send: S,
    ) -> Result<S::Answer, Error> {
        let deadline = deadline(self.timeout);
        let sent = self.once(deadline, change, Without::AtMostOnce, send).await;
        if let Err(error) = &sent
            && error.execution() == Verdict::Unknown
        {
            sleep_until(deadline).await;
        }
        sent
    }

    /// Sends a change exactly once where the client has a session for it, else at most once.
    async fn once<B, M, S: Sends<B, M>>(
        &self,
        deadline: Instant,
        change: Change<B>,
        without: Without,
        send: S,
    ) -> Result<S::Answer, Error> {
        match &self.shared.sessions {
            Some(sessions) => {
                self.in_session(sessions, deadline, change, without, send)
                    .await
            }
            None => self.at_most_once(deadline, change, send).await,
        }
    }

    async fn at_most_once<B, M, S: Sends<B, M>>(
        &self,
        deadline: Instant,
        mut change: Change<B>,
        send: S,
    ) -> Result<S::Answer, Error> {
        change.key = None;
        let call = self.call(deadline, Repeats::AtMostOnce);
        let sending = call.run(|attempt| send.send(attempt, &change));
        sending.await.map_err(|failure| failure.error)
    }

    /// Sends a change, or with `dry_run` tries it out: then it is a read and takes no place in the session.
    pub(crate) async fn write<B, M, S: Sends<B, M>>(
        &self,
        dry_run: bool,
        change: Change<B>,
        send: S,
    ) -> Result<S::Answer, Error> {
        // The request may hold a whole object: the future is boxed, so that the futures that await it stay small.
        if dry_run {
            Box::pin(self.read(|attempt| send.send(attempt, &change))).await
        } else {
            Box::pin(self.change(change, send)).await
        }
    }

    async fn in_session<B, M, S: Sends<B, M>>(
        &self,
        sessions: &Sessions,
        deadline: Instant,
        mut change: Change<B>,
        without: Without,
        send: S,
    ) -> Result<S::Answer, Error> {
        let call = self.call(deadline, Repeats::ExactlyOnce);
        let mut sessions_left = SESSIONS_TRIED_MAX;
        loop {
            let ticket = match (sessions.ticket(without.opening(call)).await, without) {
                (Ok(ticket), _) => ticket,
                (Err(error), Without::Fail) => return Err(error),
                (Err(error), Without::AtMostOnce) => {
                    tracing::debug!(%error, "sending a change of a member without a session");
                    change.session_cluster = None;
                    return self.at_most_once(deadline, change, send).await;
                }
            };
            change.key = Some(ticket.request_id());
            change.session_cluster = Some(ticket.session().cluster);
            let Failure { error, uncertain } =
                match call.run(|attempt| send.send(attempt, &change)).await {
                    Ok(answer) => {
                        ticket.answered();
                        return Ok(answer);
                    }
                    Err(failure) => failure,
                };
            if error.kind() == ErrorKind::RequestExpired {
                sessions.forget(ticket.session().id);
                ticket.answered();
                if uncertain {
                    return Err(forgotten(&error));
                }
                // Nothing was executed under the old session, so the request may be sent under a new one.
                sessions_left -= 1;
                if sessions_left == 0 {
                    return Err(error.with_execution(Verdict::NotExecuted));
                }
                continue;
            }
            if error.execution() == Verdict::Unknown {
                let key = ticket.key();
                ticket.abandoned();
                return Err(error.with_request_key(key));
            }
            ticket.answered();
            return Err(error);
        }
    }

    /// A call that is still to be made, as it is followed in the application's traces.
    pub(crate) fn call_trace(&self) -> CallTrace {
        CallTrace::new(self.shared.traces.as_ref())
    }

    pub(super) fn call(&self, deadline: Instant, repeats: Repeats) -> Call<'_> {
        Call {
            endpoints: &self.shared.endpoints,
            seams: &self.shared.seams,
            traces: self.shared.traces.as_ref(),
            deadline,
            repeats,
        }
    }
}

impl Without {
    /// The call that opens a session for `call`.
    fn opening(self, call: Call<'_>) -> Call<'_> {
        let now = Instant::now();
        let deadline = match self {
            Self::Fail => call.deadline,
            Self::AtMostOnce => now + call.deadline.saturating_duration_since(now) / SESSION_SHARE,
        };
        Call { deadline, ..call }
    }
}

/// The error of a request whose session has ended since: its outcome can no longer be learned.
fn forgotten(last: &Error) -> Error {
    let message = format!(
        "an earlier try may have been executed; its session has ended, so the outcome can no longer be read: {}",
        last.message()
    );
    Error::new(ErrorKind::UnknownOutcome, message)
}
