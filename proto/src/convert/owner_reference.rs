use synod_model::{ApiVersion, Kind, ObjectName, OwnerReference, Uid, Violations};

use crate::v1;

impl From<&OwnerReference> for v1::OwnerReference {
    fn from(owner: &OwnerReference) -> Self {
        Self {
            api_version: owner.api_version.to_string(),
            kind: owner.kind.to_string(),
            name: owner.name.to_string(),
            uid: owner.uid.to_string(),
            controller: owner.controller,
            block_owner_deletion: owner.block_owner_deletion,
        }
    }
}

impl TryFrom<v1::OwnerReference> for OwnerReference {
    type Error = Violations;

    fn try_from(pb: v1::OwnerReference) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let api_version = found.parsed("apiVersion", ApiVersion::parse(&pb.api_version));
        let kind = found.parsed("kind", Kind::parse(&pb.kind));
        let name = found.parsed("name", ObjectName::parse(&pb.name));
        let uid = found.parsed("uid", Uid::parse(&pb.uid));
        match (api_version, kind, name, uid) {
            (Some(api_version), Some(kind), Some(name), Some(uid)) => Ok(Self {
                api_version,
                kind,
                name,
                uid,
                controller: pb.controller,
                block_owner_deletion: pb.block_owner_deletion,
            }),
            _ => Err(found),
        }
    }
}
