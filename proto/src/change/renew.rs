use synod_model::{Renew, Violations};

use super::{Change, speaker};
use crate::fields::sound;
use crate::v1;

impl v1::MembershipRenewRequest {
    /// The renewal as it is sent, with the number that its answer will carry.
    #[must_use]
    pub fn of(change: &Change<Renew>, correlation: u64) -> Self {
        let renew = &change.body;
        Self {
            member: change.wire_member(&renew.member, renew.epoch),
            correlation,
        }
    }
}

/// The renewal without its `correlation`, which the answer carries even if this fails.
impl TryFrom<v1::MembershipRenewRequest> for Change<Renew> {
    type Error = Violations;

    fn try_from(pb: v1::MembershipRenewRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let speaker = speaker(pb.member, &mut found);
        let Some(speaker) = speaker else {
            return Err(found);
        };
        let body = Renew {
            member: speaker.member,
            epoch: speaker.epoch,
        };
        sound(
            Self {
                epoch_cluster: speaker.cluster,
                ..Self::new(body)
            },
            found,
        )
    }
}
