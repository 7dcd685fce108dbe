use synod_model::{MarkReady, Violations};

use super::{Change, key, speaker};
use crate::fields::sound;
use crate::v1;

impl From<&Change<MarkReady>> for v1::MembershipReadyRequest {
    fn from(change: &Change<MarkReady>) -> Self {
        let ready = &change.body;
        Self {
            request_id: change.wire_key(),
            member: change.wire_member(&ready.member, ready.epoch),
        }
    }
}

impl TryFrom<v1::MembershipReadyRequest> for Change<MarkReady> {
    type Error = Violations;

    fn try_from(pb: v1::MembershipReadyRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let speaker = speaker(pb.member, &mut found);
        let Some(speaker) = speaker else {
            return Err(found);
        };
        let body = MarkReady {
            member: speaker.member,
            epoch: speaker.epoch,
        };
        let change = Self {
            key: key.id,
            session_cluster: key.cluster,
            epoch_cluster: speaker.cluster,
            token_cluster: None,
            body,
        };
        sound(change, found)
    }
}
