use std::sync::Arc;

use synod_model::{
    Attributes, Content, Deletion, MediaType, Metadata, Object, ObjectKey, OwnerReferences,
    Revision, Violations,
};

use crate::wire::{Wire, required};
use crate::{messages, read_fields, v1};

messages! {
    v1::ObjectContent = Content: "must say what to store" {
        encoding = encoding_version,
        media_type = media_type by json_unless_said,
        data = data,
    } => check
    v1::ObjectAttributes = Attributes, default {
        labels = labels,
        annotations = annotations,
        owners = owner_references,
        finalizers = finalizers,
    }
}

/// A media type; an empty text is JSON.
mod json_unless_said {
    use super::*;

    pub(super) fn write(media_type: &MediaType) -> String {
        media_type.to_wire()
    }

    pub(super) fn read(pb: String) -> Result<MediaType, Violations> {
        let said: Option<MediaType> = Wire::of_wire(pb)?;
        Ok(said.unwrap_or(MediaType::JSON))
    }
}

impl Wire<Vec<v1::OwnerReference>> for OwnerReferences {
    fn to_wire(&self) -> Vec<v1::OwnerReference> {
        self.iter().map(Wire::to_wire).collect()
    }

    fn of_wire(pb: Vec<v1::OwnerReference>) -> Result<Self, Violations> {
        Self::new(Vec::of_wire(pb)?)
    }
}

impl From<&Object> for v1::Object {
    fn from(object: &Object) -> Self {
        let key = v1::ObjectKey::from(&object.key);
        let attributes = v1::ObjectAttributes::from(&object.attributes);
        let deleted = object.deletion.as_ref().map(|deletion| deletion.at);
        let metadata = v1::Metadata {
            name: key.name,
            namespace: key.namespace,
            labels: attributes.labels,
            annotations: attributes.annotations,
            owner_references: attributes.owner_references,
            finalizers: attributes.finalizers,
            deletion_time_ms: deleted.to_wire(),
            ..object.metadata.to_wire()
        };
        Self {
            metadata: Some(metadata),
            resource: key.resource,
            content: object.content.to_wire(),
            content_revision: object.content_revision.to_wire(),
        }
    }
}

/// Of a deletion only the time is sent: revision and position are internal to the cluster, and read as zero.
impl TryFrom<v1::Object> for Object {
    type Error = Violations;

    fn try_from(pb: v1::Object) -> Result<Self, Violations> {
        let mut metadata = required(pb.metadata, "an object has metadata")
            .map_err(|fault| fault.at("metadata"))?;
        let deletion = metadata.deletion_time_ms;
        let key = v1::ObjectKey {
            resource: pb.resource,
            namespace: std::mem::take(&mut metadata.namespace),
            name: std::mem::take(&mut metadata.name),
        };
        let attributes = v1::ObjectAttributes {
            labels: std::mem::take(&mut metadata.labels),
            annotations: std::mem::take(&mut metadata.annotations),
            owner_references: std::mem::take(&mut metadata.owner_references),
            finalizers: std::mem::take(&mut metadata.finalizers),
        };
        let mut found = Violations::new();
        let key = found.parsed("", ObjectKey::of_wire(key));
        let attributes = found.parsed("metadata", Attributes::of_wire(attributes));
        read_fields! { pb, found;
            metadata = metadata => Metadata::of_wire(metadata),
            content = content,
            content_revision = content_revision,
        }
        let (Some(key), Some(attributes)) = (key, attributes) else {
            return Err(found);
        };
        Ok(Self {
            key,
            metadata,
            attributes,
            deletion: deletion.map(|ms| {
                Arc::new(Deletion {
                    at: synod_model::WallTime::from_millis(ms),
                    revision: Revision::ZERO,
                    position: 0,
                })
            }),
            content,
            content_revision,
        })
    }
}
