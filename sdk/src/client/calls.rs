//! The two shapes of a call: a read, and a change.

use std::future::Future;

use synod_model::{ErrorKind, Verdict};
use synod_proto::Change;
use tokio::time::{Instant, sleep_until};
use tonic::{Response, Status};

use super::Client;
use crate::Error;
use crate::session::{Sessions, deadline};
use crate::transport::{Call, Failure, Headed, Repeats, Try};

/// Sessions that one request is sent under before it is given up: one that expired is no surprise, a third one is.
const SESSIONS_TRIED_MAX: u32 = 3;

/// What becomes of a change for which there is no session to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    /// It fails, and was not sent.
    Fail,
    /// It is sent all the same, at most once.
    AtMostOnce,
}

/// A change that can do without a session waits for one no longer than this part of its time.
const SESSION_SHARE: u32 = 4;

impl Client {
    /// Sends a request that changes nothing, to any replica and as often as it takes.
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
    pub(crate) async fn change<B, M, T, F, Fut>(
        &self,
        change: Change<B>,
        send: F,
    ) -> Result<T, Error>
    where
        M: for<'a> From<&'a Change<B>>,
        T: Headed,
        F: Fn(Try, M) -> Fut,
        Fut: Future<Output = Result<Response<T>, Status>>,
    {
        let deadline = deadline(self.timeout);
        self.once(deadline, change, Without::Fail, send).await
    }

    /// Sends a change that a member's epoch or instance fences: in the client's session if one can be had. What keeps
    /// members alive must not depend on the room for sessions, which others can use up.
    pub(super) async fn fenced_change<B, M, T, F, Fut>(
        &self,
        change: Change<B>,
        send: F,
    ) -> Result<T, Error>
    where
        M: for<'a> From<&'a Change<B>>,
        T: Headed,
        F: Fn(Try, M) -> Fut,
        Fut: Future<Output = Result<Response<T>, Status>>,
    {
        let deadline = deadline(self.timeout);
        self.once(deadline, change, Without::AtMostOnce, send).await
    }

    /// Sends a join, as [`Self::fenced_change`] does.
    ///
    /// What a member says is numbered within its epoch, so late is told from later. A join has no epoch yet: one that was
    /// given up would take the place of a later one by another instance. So its caller is told that the outcome is unknown
    /// when its deadline is over, after which replicas carry nothing out, and not before.
    pub(super) async fn joining_change<B, M, T, F, Fut>(
        &self,
        change: Change<B>,
        send: F,
    ) -> Result<T, Error>
    where
        M: for<'a> From<&'a Change<B>>,
        T: Headed,
        F: Fn(Try, M) -> Fut,
        Fut: Future<Output = Result<Response<T>, Status>>,
    {
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
    async fn once<B, M, T, F, Fut>(
        &self,
        deadline: Instant,
        change: Change<B>,
        without: Without,
        send: F,
    ) -> Result<T, Error>
    where
        M: for<'a> From<&'a Change<B>>,
        T: Headed,
        F: Fn(Try, M) -> Fut,
        Fut: Future<Output = Result<Response<T>, Status>>,
    {
        match &self.shared.sessions {
            Some(sessions) => {
                self.in_session(sessions, deadline, change, without, send)
                    .await
            }
            None => self.at_most_once(deadline, change, send).await,
        }
    }

    async fn at_most_once<B, M, T, F, Fut>(
        &self,
        deadline: Instant,
        mut change: Change<B>,
        send: F,
    ) -> Result<T, Error>
    where
        M: for<'a> From<&'a Change<B>>,
        T: Headed,
        F: Fn(Try, M) -> Fut,
        Fut: Future<Output = Result<Response<T>, Status>>,
    {
        change.key = None;
        let call = self.call(deadline, Repeats::AtMostOnce);
        let sending = call.run(|attempt| send(attempt, M::from(&change)));
        sending.await.map_err(|failure| failure.error)
    }

    /// Sends a request that changes something, or tries out what it would change: then it is a read, and takes no place
    /// in the session.
    pub(crate) async fn write<B, M, T, F, Fut>(
        &self,
        dry_run: bool,
        change: Change<B>,
        send: F,
    ) -> Result<T, Error>
    where
        M: for<'a> From<&'a Change<B>>,
        T: Headed,
        F: Fn(Try, M) -> Fut,
        Fut: Future<Output = Result<Response<T>, Status>>,
    {
        // A whole object may be in it: it waits on the heap, so that what waits for it stays small.
        if dry_run {
            Box::pin(self.read(|attempt| send(attempt, M::from(&change)))).await
        } else {
            Box::pin(self.change(change, send)).await
        }
    }

    async fn in_session<B, M, T, F, Fut>(
        &self,
        sessions: &Sessions,
        deadline: Instant,
        mut change: Change<B>,
        without: Without,
        send: F,
    ) -> Result<T, Error>
    where
        M: for<'a> From<&'a Change<B>>,
        T: Headed,
        F: Fn(Try, M) -> Fut,
        Fut: Future<Output = Result<Response<T>, Status>>,
    {
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
                match call.run(|attempt| send(attempt, M::from(&change))).await {
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
                // Nothing was executed under the old session, so the request is free to go under another one.
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

    pub(super) fn call(&self, deadline: Instant, repeats: Repeats) -> Call<'_> {
        Call {
            endpoints: &self.shared.endpoints,
            seams: &self.shared.seams,
            deadline,
            repeats,
        }
    }
}

impl Without {
    /// The call by which a session is opened for `call`.
    fn opening(self, call: Call<'_>) -> Call<'_> {
        let now = Instant::now();
        let deadline = match self {
            Self::Fail => call.deadline,
            Self::AtMostOnce => now + call.deadline.saturating_duration_since(now) / SESSION_SHARE,
        };
        Call { deadline, ..call }
    }
}

/// The error of a request that was sent in a session which the cluster has forgotten since.
fn forgotten(last: &Error) -> Error {
    let message = format!(
        "an earlier try may have been executed, but its session has ended, so nobody can tell any more: {}",
        last.message()
    );
    Error::new(ErrorKind::UnknownOutcome, message)
}
