use synod_model::{Collection, CollectionRules, Labels, Violations};

use crate::wire::Wire;
use crate::{messages, read_fields, v1};

messages! {
    v1::CollectionRules = CollectionRules, default {
        strict_storage_version = strict_storage_version,
        create_on_update = create_on_update,
        unconditional_update = unconditional_update,
        status_subresource = status_subresource,
    }
}

impl From<&Collection> for v1::Collection {
    fn from(collection: &Collection) -> Self {
        let name = collection.resource.storage_state_name();
        let metadata = v1::Metadata::of(name, &Labels::default(), &collection.metadata);
        Self {
            metadata: Some(metadata),
            resource: collection.resource.to_wire(),
            kind: collection.kind.to_wire(),
            namespaced: collection.namespaced,
            rules: collection.rules.to_wire(),
        }
    }
}

impl TryFrom<v1::Collection> for Collection {
    type Error = Violations;

    fn try_from(pb: v1::Collection) -> Result<Self, Violations> {
        let mut found = Violations::new();
        read_fields! { pb, found;
            metadata = metadata,
            resource = resource,
            kind = kind,
            rules = rules,
        }
        Ok(Self {
            resource,
            metadata,
            kind,
            namespaced: pb.namespaced,
            rules,
        })
    }
}
