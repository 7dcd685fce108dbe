use synod_model::{Leave, Violations};

use super::{Change, key, speaker};
use crate::fields::sound;
use crate::v1;

impl From<&Change<Leave>> for v1::MembershipLeaveRequest {
    fn from(change: &Change<Leave>) -> Self {
        let leave = &change.body;
        Self {
            request_id: change.wire_key(),
            member: change.wire_member(&leave.member, leave.epoch),
            drained: leave.drained,
        }
    }
}

impl TryFrom<v1::MembershipLeaveRequest> for Change<Leave> {
    type Error = Violations;

    fn try_from(pb: v1::MembershipLeaveRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let speaker = speaker(pb.member, &mut found);
        let Some(speaker) = speaker else {
            return Err(found);
        };
        let body = Leave {
            member: speaker.member,
            epoch: speaker.epoch,
            drained: pb.drained,
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
