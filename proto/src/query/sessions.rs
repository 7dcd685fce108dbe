use synod_model::{ClusterId, Refusal, Sequence, SessionId};

use crate::change::check_session_cluster;
use crate::{messages, v1};

/// Asks for the outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetOutcome {
    /// The session of the request.
    pub session: SessionId,
    /// The place of the request in the session.
    pub sequence: Sequence,
    /// The cluster that gave the session. `None`: the caller does not say, so it is not checked.
    pub session_cluster: Option<ClusterId>,
}

messages! {
    v1::SessionsGetOutcomeRequest = GetOutcome {
        session = session,
        sequence = sequence,
        session_cluster = cluster_id,
    }
}

impl GetOutcome {
    /// Checks that this cluster gave the session.
    ///
    /// # Errors
    ///
    /// `REQUEST_EXPIRED` if another cluster gave it.
    pub fn check_cluster(&self, present: ClusterId) -> Result<(), Refusal> {
        check_session_cluster(self.session_cluster, present)
    }
}
