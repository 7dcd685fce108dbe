use synod_model::{Revision, SettingsPatch, UpdateSettings, Violations};

use super::{Change, key};
use crate::fields::sound;
use crate::v1;

impl From<&Change<UpdateSettings>> for v1::ClusterUpdateSettingsRequest {
    fn from(change: &Change<UpdateSettings>) -> Self {
        let update = &change.body;
        Self {
            request_id: change.wire_key(),
            patch: Some((&update.patch).into()),
            if_revision: update.if_revision.map(Revision::get),
            dry_run: false,
        }
    }
}

impl TryFrom<v1::ClusterUpdateSettingsRequest> for Change<UpdateSettings> {
    type Error = Violations;

    fn try_from(pb: v1::ClusterUpdateSettingsRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let key = key(pb.request_id, &mut found);
        let patch = found.parsed(
            "patch",
            SettingsPatch::try_from(pb.patch.unwrap_or_default()),
        );
        let Some(patch) = patch else {
            return Err(found);
        };
        let body = UpdateSettings {
            patch,
            if_revision: pb.if_revision.map(Revision::new),
        };
        // The patch is sound; what is left is that it must not be empty.
        found.extend_at("", body.check());
        sound(
            Change {
                key: key.id,
                session_cluster: key.cluster,
                ..Change::new(body)
            },
            found,
        )
    }
}
