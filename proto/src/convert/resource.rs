use synod_model::{GroupResource, Violations};

use crate::v1;

impl From<&GroupResource> for v1::GroupResource {
    fn from(resource: &GroupResource) -> Self {
        Self {
            group: resource.group().to_owned(),
            resource: resource.resource().to_owned(),
        }
    }
}

impl TryFrom<v1::GroupResource> for GroupResource {
    type Error = Violations;

    fn try_from(pb: v1::GroupResource) -> Result<Self, Violations> {
        Self::new(&pb.group, &pb.resource)
    }
}
