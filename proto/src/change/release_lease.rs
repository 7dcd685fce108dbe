use synod_model::{FencingToken, HolderIdentity, ReleaseLease, Revision, Violations};

use super::acquire_lease::lease_key;
use super::{Change, key};
use crate::fields::sound;
use crate::v1;

impl From<&Change<ReleaseLease>> for v1::LeasesReleaseRequest {
    fn from(change: &Change<ReleaseLease>) -> Self {
        let release = &change.body;
        Self {
            request_id: change.wire_key(),
            lease: Some((&release.key).into()),
            holder: release.holder.to_string(),
            token: release.token.map(FencingToken::get),
        }
    }
}

impl TryFrom<v1::LeasesReleaseRequest> for Change<ReleaseLease> {
    type Error = Violations;

    fn try_from(pb: v1::LeasesReleaseRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let id = key(pb.request_id, &mut found);
        let lease = lease_key(pb.lease, &mut found);
        let holder = found.parsed("holder", HolderIdentity::parse(&pb.holder));
        let token = pb
            .token
            .map(|token| FencingToken::new(Revision::new(token)));
        found.parsed("token", token.map_or(Ok(()), FencingToken::check));
        let (Some(lease), Some(holder)) = (lease, holder) else {
            return Err(found);
        };
        let body = ReleaseLease {
            key: lease,
            holder,
            token,
        };
        let change = Self {
            key: id.id,
            session_cluster: id.cluster,
            ..Self::new(body)
        };
        sound(change, found)
    }
}
