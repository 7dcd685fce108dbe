use synod_model::{
    BinaryVersion, Endpoint, Epoch, InstanceId, Join, Labels, MemberId, Revision, Ttl, Violations,
};

use super::{Change, key};
use crate::convert::labels_to_wire;
use crate::fields::sound;
use crate::v1;

impl From<&Change<Join>> for v1::MembershipJoinRequest {
    fn from(change: &Change<Join>) -> Self {
        let join = &change.body;
        Self {
            request_id: change.wire_key(),
            id: join.id.to_string(),
            instance: join.instance.to_string(),
            ttl_ms: Some(join.ttl.as_millis()),
            labels: labels_to_wire(&join.labels),
            version: join.version.to_string(),
            endpoint: join.endpoint.to_string(),
            lost_epoch: join.lost_epoch.map(Epoch::get),
        }
    }
}

impl TryFrom<v1::MembershipJoinRequest> for Change<Join> {
    type Error = Violations;

    fn try_from(pb: v1::MembershipJoinRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let id = found.parsed("id", MemberId::parse(&pb.id));
        let instance = found.parsed("instance", InstanceId::parse(&pb.instance));
        let ttl = found.parsed(
            "ttlMs",
            pb.ttl_ms.map_or(Ok(Ttl::DEFAULT), Ttl::from_millis),
        );
        let labels = found.parsed("labels", Labels::parse(&pb.labels));
        let version = found.parsed("version", BinaryVersion::parse(&pb.version));
        let endpoint = found.parsed("endpoint", Endpoint::parse(&pb.endpoint));
        let lost_epoch = pb.lost_epoch.map(|epoch| Epoch::new(Revision::new(epoch)));
        found.parsed("lostEpoch", lost_epoch.map_or(Ok(()), Epoch::check));

        let (Some(id), Some(instance), Some(ttl), Some(labels), Some(version), Some(endpoint)) =
            (id, instance, ttl, labels, version, endpoint)
        else {
            return Err(found);
        };
        let body = Join {
            id,
            instance,
            ttl,
            labels,
            version,
            endpoint,
            lost_epoch,
        };
        let change = Self {
            key: key.id,
            session_cluster: key.cluster,
            epoch_cluster: None,
            token_cluster: None,
            body,
        };
        sound(change, found)
    }
}
