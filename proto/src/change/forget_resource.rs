use synod_model::{ForgetResource, Revision, Violations};

use super::adopt::resource;
use super::{Change, key};
use crate::fields::sound;
use crate::v1;

impl From<&Change<ForgetResource>> for v1::StorageVersionsForgetRequest {
    fn from(change: &Change<ForgetResource>) -> Self {
        Self {
            request_id: change.wire_key(),
            resource: Some((&change.body.resource).into()),
            if_revision: change.body.if_revision.map(Revision::get),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::StorageVersionsForgetRequest> for Change<ForgetResource> {
    type Error = Violations;

    fn try_from(pb: v1::StorageVersionsForgetRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let resource = found.parsed("resource", resource(pb.resource));
        let Some(resource) = resource else {
            return Err(found);
        };
        let change = Self {
            key: key.id,
            session_cluster: key.cluster,
            epoch_cluster: None,
            token_cluster: None,
            body: ForgetResource {
                resource,
                if_revision: pb.if_revision.map(Revision::new),
            },
        };
        sound(change, found)
    }
}
