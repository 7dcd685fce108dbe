use synod_model::{Join, Leave, MarkReady, Renew, Ttl, Violations};

use super::{Change, cluster_of, requests};
use crate::wire::Wire;
use crate::{messages, v1};

requests! {
    v1::MembershipJoinRequest = Join;
    v1::MembershipReadyRequest = MarkReady, epoch member;
    v1::MembershipLeaveRequest = Leave, epoch member;
}

messages! {
    v1::MembershipJoinRequest = Join {
        id = id,
        instance = instance,
        ttl = ttl_ms or Ttl::DEFAULT,
        labels = labels,
        version = version,
        endpoint = endpoint,
        lost_epoch = lost_epoch,
        gated = gated,
        ; ..Default::default()
    }
    v1::MembershipReadyRequest = MarkReady {
        (member, epoch) = member,
        ; ..Default::default()
    }
    v1::MembershipLeaveRequest = Leave {
        (member, epoch) = member,
        drained = drained,
        instance = instance,
        stopped = stopped,
        ; ..Default::default()
    } => check
    v1::MembershipRenewRequest = Renew {
        (member, epoch) = member,
        ; ..Default::default()
    }
}

impl v1::MembershipRenewRequest {
    /// The renewal as it is sent, with the number that its answer will carry.
    #[must_use]
    pub fn of(change: &Change<Renew>, correlation: u64) -> Self {
        let mut pb: Self = change.body.to_wire();
        if let Some(member) = &mut pb.member {
            member.cluster_id = change.epoch_cluster.to_wire();
        }
        Self { correlation, ..pb }
    }
}

/// The renewal without its `correlation`, which the answer carries even if this fails.
impl TryFrom<v1::MembershipRenewRequest> for Change<Renew> {
    type Error = Violations;

    fn try_from(pb: v1::MembershipRenewRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let said = pb.member.as_ref().map(|member| &member.cluster_id);
        let epoch_cluster = cluster_of("member", said, &mut found);
        let Some(body) = found.parsed("", Renew::of_wire(pb)) else {
            return Err(found);
        };
        let change = Self {
            epoch_cluster,
            ..Self::new(body)
        };
        crate::wire::sound(change, found)
    }
}
