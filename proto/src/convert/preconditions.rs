use synod_model::{Preconditions, Revision, Uid, Violations};

use crate::fields::sound;
use crate::v1;

impl From<&Preconditions> for v1::Preconditions {
    fn from(preconditions: &Preconditions) -> Self {
        Self {
            uid: preconditions
                .uid
                .map(|uid| uid.to_string())
                .unwrap_or_default(),
            resource_version: preconditions.resource_version.map(Revision::get),
        }
    }
}

impl TryFrom<v1::Preconditions> for Preconditions {
    type Error = Violations;

    fn try_from(pb: v1::Preconditions) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let uid = match pb.uid.as_str() {
            "" => None,
            text => found.parsed("uid", Uid::parse(text)),
        };
        let preconditions = Self {
            uid,
            resource_version: pb.resource_version.map(Revision::new),
        };
        found.extend_at("", preconditions.check());
        sound(preconditions, found)
    }
}
