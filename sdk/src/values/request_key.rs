//! The key of a request.

use std::fmt;

use synod_model::{ClusterId, Revision, Sequence, SessionId};
use synod_proto::v1;

/// The permanent name of one request: the key by which to read its outcome.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey {
    /// The cluster that the session belongs to.
    pub cluster: ClusterId,
    /// The session that the request belongs to.
    pub session: SessionId,
    /// The number of the request in the session.
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
