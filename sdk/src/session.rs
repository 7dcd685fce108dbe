//! Sessions, by which a changing request is executed exactly once.

mod window;

use std::sync::{Arc, Mutex, PoisonError};

use synod_model::{ClusterId, ErrorKind, RequestId, Revision, Sequence, SessionId};
use synod_proto::v1;
use tokio::time::{Instant, timeout_at};

use crate::client::stubs;
use crate::transport::{Call, Repeats};
use crate::values::{Header, read};
use crate::{Error, RequestKey};

use window::Window;

/// A client's session, opened when it is first needed, and again after the cluster has forgotten it.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    present: Mutex<Option<Arc<Session>>>,
    /// Held while a session is opened, so that not every waiting request opens one.
    opening: tokio::sync::Mutex<()>,
}

/// A session that is open, as far as this client knows.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) cluster: ClusterId,
    window: Window,
}

/// A place in a session for one request. If it is dropped without a call, the outcome of the request counts as unknown.
#[derive(Debug)]
pub(crate) struct Ticket {
    session: Arc<Session>,
    sequence: Sequence,
    answered: bool,
}

impl Sessions {
    /// A place for a request in the present session; opens one if there is none.
    ///
    /// # Errors
    ///
    /// No session could be opened before the deadline, or too many requests of the session stayed unanswered until
    /// then. The request was not executed, as it was not sent.
    pub(crate) async fn ticket(&self, call: Call<'_>) -> Result<Ticket, Error> {
        let session = match self.present() {
            Some(session) => session,
            None => self.open(call).await?,
        };
        let waiting = timeout_at(call.deadline, session.window.begin());
        let Ok(sequence) = waiting.await else {
            let message =
                "too many requests of this client are waiting for an answer; nothing was sent";
            return Err(Error::new(ErrorKind::Overloaded, message));
        };
        Ok(Ticket {
            session,
            sequence,
            answered: false,
        })
    }

    pub(crate) fn present(&self) -> Option<Arc<Session>> {
        self.lock().clone()
    }

    /// Removes the present session and returns it: the next request opens another.
    pub(crate) fn take(&self) -> Option<Arc<Session>> {
        self.lock().take()
    }

    /// Removes this session, which the cluster does not know any more.
    pub(crate) fn forget(&self, id: SessionId) {
        self.lock().take_if(|session| session.id == id);
    }

    async fn open(&self, call: Call<'_>) -> Result<Arc<Session>, Error> {
        let Ok(_opening) = timeout_at(call.deadline, self.opening.lock()).await else {
            let message = "no session could be opened before the deadline; nothing was sent";
            return Err(Error::new(ErrorKind::Unavailable, message));
        };
        if let Some(session) = self.present() {
            return Ok(session);
        }
        // A session whose opening was not answered ends by itself, so opening twice does no harm.
        let repeats = Repeats::Read;
        let opening = Call { repeats, ..call }.run(|attempt| async move {
            let request = attempt.request(v1::SessionsOpenRequest {});
            stubs::sessions(attempt.channel).open(request).await
        });
        let opened = opening.await.map_err(|failure| {
            let error = failure
                .error
                .context("no session could be opened; the request was not sent");
            error.with_execution(synod_model::Verdict::NotExecuted)
        })?;
        let header: Header = read(opened.header)?;
        let id = SessionId::new(Revision::new(opened.session));
        let session = Arc::new(Session {
            id,
            cluster: header.cluster,
            window: Window::new(opened.outcomes_max),
        });
        *self.lock() = Some(Arc::clone(&session));
        Ok(session)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Session>>> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// The exactly-once key of the request, with the lowest unanswered number as of now.
    pub(crate) fn request_id(&self) -> RequestId {
        RequestId {
            session: self.session.id,
            sequence: self.sequence,
            lowest_unanswered: self.session.window.lowest_unanswered(),
        }
    }

    /// The key by which to read the outcome of the request.
    pub(crate) fn key(&self) -> RequestKey {
        RequestKey {
            cluster: self.session.cluster,
            session: self.session.id,
            sequence: self.sequence,
        }
    }

    /// The outcome is known: the cluster need not keep it.
    pub(crate) fn answered(mut self) {
        self.answered = true;
    }

    /// The outcome is not known: the cluster is to keep it for a while, so that it can be read.
    pub(crate) fn abandoned(self) {
        drop(self);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.answered {
            self.session.window.answered(self.sequence);
        } else {
            self.session.window.abandoned(self.sequence);
        }
    }
}

/// The deadline of a call that begins now.
pub(crate) fn deadline(span: std::time::Duration) -> Instant {
    Instant::now() + span
}
