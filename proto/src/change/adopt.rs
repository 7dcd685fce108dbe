use synod_model::{Adopt, GroupResource, Revision, Violation, Violations};

use super::{Change, key, speaker, statement};
use crate::fields::{required, sound};
use crate::v1;

impl From<&Change<Adopt>> for v1::StorageVersionsAdoptRequest {
    fn from(change: &Change<Adopt>) -> Self {
        let adopt = &change.body;
        Self {
            request_id: change.wire_key(),
            member: change.wire_member(&adopt.member, adopt.epoch),
            resource: Some((&adopt.resource).into()),
            selected_revision: adopt.selected_revision.get(),
            number: adopt.number.get(),
        }
    }
}

impl TryFrom<v1::StorageVersionsAdoptRequest> for Change<Adopt> {
    type Error = Violations;

    fn try_from(pb: v1::StorageVersionsAdoptRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let speaker = speaker(pb.member, &mut found);
        let number = statement(pb.number, &mut found);
        let resource = found.parsed("resource", resource(pb.resource));
        let selected_revision = Revision::new(pb.selected_revision);
        if selected_revision == Revision::ZERO {
            found.push(
                Violation::required("must be the selected revision that is adopted")
                    .at("selectedRevision"),
            );
        }
        let (Some(speaker), Some(number), Some(resource)) = (speaker, number, resource) else {
            return Err(found);
        };
        let body = Adopt {
            member: speaker.member,
            epoch: speaker.epoch,
            number,
            resource,
            selected_revision,
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

/// Reads a field that names a resource.
pub(crate) fn resource(pb: Option<v1::GroupResource>) -> Result<GroupResource, Violations> {
    required(pb, "must name a resource")?.try_into()
}
