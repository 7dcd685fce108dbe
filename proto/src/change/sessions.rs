use synod_model::{CloseSession, OpenSession, Violations};

use super::{Change, cluster_of};
use crate::wire::{Wire, sound};
use crate::{messages, v1};

impl From<v1::SessionsOpenRequest> for Change<OpenSession> {
    fn from(pb: v1::SessionsOpenRequest) -> Self {
        let v1::SessionsOpenRequest {} = pb;
        Self::new(OpenSession {})
    }
}

messages! {
    v1::SessionsCloseRequest = CloseSession {
        session = session,
        ; ..Default::default()
    }
}

impl From<&Change<CloseSession>> for v1::SessionsCloseRequest {
    fn from(change: &Change<CloseSession>) -> Self {
        Self {
            cluster_id: change.session_cluster.to_wire(),
            ..change.body.to_wire()
        }
    }
}

impl TryFrom<v1::SessionsCloseRequest> for Change<CloseSession> {
    type Error = Violations;

    fn try_from(pb: v1::SessionsCloseRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let session_cluster = cluster_of("", Some(&pb.cluster_id), &mut found);
        let Some(body) = found.parsed("", CloseSession::of_wire(pb)) else {
            return Err(found);
        };
        let change = Self {
            session_cluster,
            ..Self::new(body)
        };
        sound(change, found)
    }
}
