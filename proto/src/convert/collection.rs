use synod_model::{Collection, CollectionRules, GroupResource, Kind, Labels, Metadata, Violations};

use crate::fields::required;
use crate::v1;

impl From<&Collection> for v1::Collection {
    fn from(collection: &Collection) -> Self {
        let name = collection.resource.storage_state_name();
        Self {
            metadata: Some(v1::Metadata::of(
                name,
                &Labels::default(),
                &collection.metadata,
            )),
            resource: Some((&collection.resource).into()),
            kind: collection.kind.to_string(),
            namespaced: collection.namespaced,
            rules: Some(collection.rules.into()),
        }
    }
}

impl TryFrom<v1::Collection> for Collection {
    type Error = Violations;

    fn try_from(pb: v1::Collection) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let metadata = required(pb.metadata, "a collection has metadata")
            .map_err(Violations::from)
            .and_then(|metadata| Metadata::try_from(&metadata));
        let metadata = found.parsed("metadata", metadata);
        let resource = required(pb.resource, "a collection has a resource")
            .map_err(Violations::from)
            .and_then(GroupResource::try_from);
        let resource = found.parsed("resource", resource);
        let kind = found.parsed("kind", Kind::parse(&pb.kind));
        let (Some(metadata), Some(resource), Some(kind)) = (metadata, resource, kind) else {
            return Err(found);
        };
        Ok(Self {
            resource,
            metadata,
            kind,
            namespaced: pb.namespaced,
            rules: pb.rules.unwrap_or_default().into(),
        })
    }
}

impl From<CollectionRules> for v1::CollectionRules {
    fn from(rules: CollectionRules) -> Self {
        Self {
            strict_storage_version: rules.strict_storage_version,
            create_on_update: rules.create_on_update,
            unconditional_update: rules.unconditional_update,
        }
    }
}

impl From<v1::CollectionRules> for CollectionRules {
    fn from(pb: v1::CollectionRules) -> Self {
        Self {
            strict_storage_version: pb.strict_storage_version,
            create_on_update: pb.create_on_update,
            unconditional_update: pb.unconditional_update,
        }
    }
}
