//! The client's own session, and the outcomes of requests.

use std::sync::Arc;
use std::time::Duration;

use synod_model::CloseSession;
use synod_proto::{Change, GetOutcome, v1};

use super::{Client, ClientParts, stubs};
use crate::seams::Seams;
use crate::session::{Session, deadline};
use crate::transport::{Call, Endpoints, Failure, Repeats};
use crate::values::read;
use crate::{Error, Outcome, RequestKey};

/// How long a dropped client tries to close its session. A session that is not closed ends when it is no longer used.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

impl Client {
    /// Reads the outcome of a request whose error said that the outcome is unknown: a linearizable read.
    ///
    /// # Errors
    ///
    /// `REQUEST_EXPIRED`: the session has ended, or too many later requests were made: the outcome is no longer kept.
    pub async fn outcome(&self, key: &RequestKey) -> Result<Outcome, Error> {
        let get = GetOutcome {
            session: key.session,
            sequence: key.sequence,
            session_cluster: Some(key.cluster),
        };
        let answer = self.read(|attempt| {
            let request = attempt.request((&get).into());
            async move { stubs::sessions(attempt.channel).get_outcome(request).await }
        });
        read::<v1::SessionsGetOutcomeResponse, _>(answer.await?)
    }

    /// Closes the client's session, if it has one. The client can still be used, and then opens another session.
    ///
    /// # Errors
    ///
    /// No replica answered in time. The session then ends by itself, when it has not been used for a while.
    pub async fn close(&self) -> Result<(), Error> {
        let sessions = self.shared.sessions.as_ref();
        let Some(session) = sessions.and_then(|sessions| sessions.take()) else {
            return Ok(());
        };
        let call = self.call(deadline(self.timeout), Repeats::Read);
        close(call, &session).await.map_err(|failure| failure.error)
    }
}

/// Closing a session twice does no harm, so it is repeated like a read.
async fn close(call: Call<'_>, session: &Session) -> Result<(), Failure> {
    let mut change = Change::new(CloseSession {
        session: session.id,
    });
    change.session_cluster = Some(session.cluster);
    let closing = call.run(|attempt| {
        let request = attempt.request(v1::SessionsCloseRequest::from(&change));
        async move { stubs::sessions(attempt.channel).close(request).await }
    });
    closing.await.map(drop)
}

impl Drop for ClientParts {
    /// Closes the session in the background, if a runtime is still there to do it.
    fn drop(&mut self) {
        let session = self.sessions.as_ref().and_then(|sessions| sessions.take());
        let (Some(session), Ok(runtime)) = (session, tokio::runtime::Handle::try_current()) else {
            return;
        };
        let seams = self.seams.clone();
        let endpoints = Arc::clone(&self.endpoints);
        runtime.spawn(close_in_background(endpoints, seams, session));
    }
}

async fn close_in_background(endpoints: Arc<Endpoints>, seams: Seams, session: Arc<Session>) {
    let call = Call {
        endpoints: &endpoints,
        seams: &seams,
        traces: None,
        deadline: deadline(CLOSE_LIMIT),
        repeats: Repeats::Read,
    };
    if let Err(failure) = close(call, &session).await {
        tracing::debug!(error = %failure.error, "the session of a dropped client was not ended");
    }
}
