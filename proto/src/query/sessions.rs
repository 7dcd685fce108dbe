use synod_model::{ClusterId, Refusal, Revision, Sequence, SessionId, Violations};

use crate::change::{check_session_cluster, named};
use crate::fields::{cluster, required, sound};
use crate::v1;

/// Asks what became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetOutcome {
    /// Its session.
    pub session: SessionId,
    /// Its place in the session.
    pub sequence: Sequence,
    /// The cluster that gave the session. `None`: the caller does not say, so it is not checked.
    pub session_cluster: Option<ClusterId>,
}

impl GetOutcome {
    /// Whether the session was given by this cluster.
    ///
    /// # Errors
    ///
    /// `REQUEST_EXPIRED` if another one gave it.
    pub fn check_cluster(&self, present: ClusterId) -> Result<(), Refusal> {
        check_session_cluster(self.session_cluster, present)
    }
}

impl From<&GetOutcome> for v1::SessionsGetOutcomeRequest {
    fn from(get: &GetOutcome) -> Self {
        Self {
            session: get.session.get(),
            sequence: get.sequence.get(),
            cluster_id: named(get.session_cluster),
        }
    }
}

impl TryFrom<v1::SessionsGetOutcomeRequest> for GetOutcome {
    type Error = Violations;

    fn try_from(pb: v1::SessionsGetOutcomeRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let session = SessionId::new(Revision::new(pb.session));
        found.parsed("session", session.check());
        let sequence = found.parsed(
            "sequence",
            required(Sequence::new(pb.sequence), "must be at least 1"),
        );
        let session_cluster = found.parsed("clusterId", cluster(&pb.cluster_id)).flatten();
        let Some(sequence) = sequence else {
            return Err(found);
        };
        sound(
            Self {
                session,
                sequence,
                session_cluster,
            },
            found,
        )
    }
}
