use synod_model::{CloseSession, OpenSession, Revision, SessionId, Violations};

use super::{Change, named};
use crate::fields::{cluster, sound};
use crate::v1;

impl From<v1::SessionsOpenRequest> for Change<OpenSession> {
    fn from(pb: v1::SessionsOpenRequest) -> Self {
        let v1::SessionsOpenRequest {} = pb;
        Self::new(OpenSession {})
    }
}

impl From<&Change<CloseSession>> for v1::SessionsCloseRequest {
    fn from(change: &Change<CloseSession>) -> Self {
        Self {
            session: change.body.session.get(),
            cluster_id: named(change.session_cluster),
        }
    }
}

impl TryFrom<v1::SessionsCloseRequest> for Change<CloseSession> {
    type Error = Violations;

    fn try_from(pb: v1::SessionsCloseRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let session_cluster = found.parsed("clusterId", cluster(&pb.cluster_id)).flatten();
        let body = CloseSession {
            session: SessionId::new(Revision::new(pb.session)),
        };
        found.extend_at("", body.check());
        sound(
            Self {
                session_cluster,
                ..Self::new(body)
            },
            found,
        )
    }
}
