//! The name of a request.

use std::fmt;

use synod_model::{ClusterId, Revision, Sequence, SessionId};
use synod_proto::v1;

/// Names one request for good: ask with it what became of the request.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey {
    /// The cluster that gave the session.
    pub cluster: ClusterId,
    /// The session that the request belongs to.
    pub session: SessionId,
    /// Its place in the session.
    pub sequence: Sequence,
}

impl RequestKey {
    /// The key in a request; `None` if it does not name the cluster, or is no key.
    pub(crate) fn from_wire(pb: &v1::RequestId) -> Option<Self> {
        Some(Self {
            cluster: ClusterId::parse(&pb.cluster_id).ok()?,
            session: SessionId::new(Revision::new(pb.session)),
            sequence: Sequence::new(pb.sequence)?,
        })
    }
}

impl fmt::Display for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.cluster, self.session, self.sequence)
    }
}
