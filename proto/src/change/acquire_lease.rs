use synod_model::{AcquireLease, HolderIdentity, LeaseKey, Ttl, Violations};

use super::{Change, key, parse_speaker};
use crate::fields::{required, sound};
use crate::v1;

impl From<&Change<AcquireLease>> for v1::LeasesAcquireRequest {
    fn from(change: &Change<AcquireLease>) -> Self {
        let acquire = &change.body;
        let member = acquire.if_member.as_ref();
        Self {
            request_id: change.wire_key(),
            lease: Some((&acquire.key).into()),
            holder: acquire.holder.to_string(),
            ttl_ms: Some(acquire.ttl.as_millis()),
            wait_ms: acquire.wait.map(Ttl::as_millis),
            if_member: member.and_then(|(member, epoch)| change.wire_member(member, *epoch)),
        }
    }
}

impl TryFrom<v1::LeasesAcquireRequest> for Change<AcquireLease> {
    type Error = Violations;

    fn try_from(pb: v1::LeasesAcquireRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let id = key(pb.request_id, &mut found);
        let lease = lease_key(pb.lease, &mut found);
        let holder = found.parsed("holder", HolderIdentity::parse(&pb.holder));
        let ttl = pb.ttl_ms.map_or(Ok(Ttl::DEFAULT), Ttl::from_millis);
        let ttl = found.parsed("ttlMs", ttl);
        let wait = found.parsed("waitMs", pb.wait_ms.map(Ttl::from_millis).transpose());
        let speaker = pb.if_member.map(|member| parse_speaker(Some(member)));
        let speaker = found.parsed("ifMember", speaker.transpose());
        let (Some(lease), Some(holder), Some(ttl), Some(wait), Some(speaker)) =
            (lease, holder, ttl, wait, speaker)
        else {
            return Err(found);
        };
        let epoch_cluster = speaker.as_ref().and_then(|speaker| speaker.cluster);
        let body = AcquireLease {
            key: lease,
            holder,
            ttl,
            wait,
            if_member: speaker.map(|speaker| (speaker.member, speaker.epoch)),
        };
        let change = Self {
            key: id.id,
            session_cluster: id.cluster,
            epoch_cluster,
            ..Self::new(body)
        };
        sound(change, found)
    }
}

/// Reads the field `lease`.
pub(crate) fn lease_key(pb: Option<v1::LeaseKey>, found: &mut Violations) -> Option<LeaseKey> {
    let named = required(pb, "must name a lease").map_err(Violations::from);
    found.parsed("lease", named.and_then(LeaseKey::try_from))
}
