use std::sync::Arc;

use synod_model::{
    Annotations, ApiVersion, Attributes, Content, Deletion, Finalizers, Labels, MediaType,
    Metadata, Object, ObjectKey, OwnerReference, OwnerReferences, Revision, Violations, WallTime,
};

use super::labels_to_wire;
use crate::fields::{list, required, sound};
use crate::v1;

impl From<&Object> for v1::Object {
    fn from(object: &Object) -> Self {
        let key = v1::ObjectKey::from(&object.key);
        let attributes = v1::ObjectAttributes::from(&object.attributes);
        let deleted = object.deletion.as_ref().map(|deletion| deletion.at);
        let metadata = v1::Metadata {
            namespace: key.namespace,
            annotations: attributes.annotations,
            owner_references: attributes.owner_references,
            finalizers: attributes.finalizers,
            deletion_time_ms: deleted.map(WallTime::as_millis),
            ..v1::Metadata::of(key.name, &object.attributes.labels, &object.metadata)
        };
        Self {
            metadata: Some(metadata),
            resource: key.resource,
            content: Some((&object.content).into()),
            content_revision: object.content_revision.get(),
        }
    }
}

/// Of a deletion only the time travels: its place in the queue is the cluster's own business, and comes as zero.
impl TryFrom<v1::Object> for Object {
    type Error = Violations;

    fn try_from(pb: v1::Object) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let pb_metadata = required(pb.metadata, "an object has metadata")
            .map_err(|fault| fault.at("metadata"))?;
        let metadata = found.parsed("metadata", Metadata::try_from(&pb_metadata));
        let deletion = pb_metadata.deletion_time_ms.map(|ms| {
            Arc::new(Deletion {
                at: WallTime::from_millis(ms),
                revision: Revision::ZERO,
                position: 0,
            })
        });
        let key = v1::ObjectKey {
            resource: pb.resource,
            namespace: pb_metadata.namespace,
            name: pb_metadata.name,
        };
        let key = found.parsed("", ObjectKey::try_from(key));
        let attributes = v1::ObjectAttributes {
            labels: pb_metadata.labels,
            annotations: pb_metadata.annotations,
            owner_references: pb_metadata.owner_references,
            finalizers: pb_metadata.finalizers,
        };
        let attributes = found.parsed("metadata", Attributes::try_from(attributes));
        let content = required(pb.content, "an object has content").map_err(Violations::from);
        let content = found.parsed("content", content.and_then(Content::try_from));
        let (Some(key), Some(metadata), Some(attributes), Some(content)) =
            (key, metadata, attributes, content)
        else {
            return Err(found);
        };
        Ok(Self {
            key,
            metadata,
            attributes,
            deletion,
            content,
            content_revision: Revision::new(pb.content_revision),
        })
    }
}

impl From<&Content> for v1::ObjectContent {
    fn from(content: &Content) -> Self {
        Self {
            encoding_version: content.encoding.to_string(),
            media_type: content.media_type.to_string(),
            data: content.data.clone(),
        }
    }
}

impl TryFrom<v1::ObjectContent> for Content {
    type Error = Violations;

    fn try_from(pb: v1::ObjectContent) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let encoding = found.parsed("encodingVersion", ApiVersion::parse(&pb.encoding_version));
        let media_type = match pb.media_type.as_str() {
            "" => Some(MediaType::JSON),
            text => found.parsed("mediaType", MediaType::parse(text)),
        };
        let (Some(encoding), Some(media_type)) = (encoding, media_type) else {
            return Err(found);
        };
        let content = Self {
            encoding,
            media_type,
            data: pb.data,
        };
        found.extend_at("", content.check());
        sound(content, found)
    }
}

impl From<&Attributes> for v1::ObjectAttributes {
    fn from(attributes: &Attributes) -> Self {
        let annotations = attributes.annotations.iter();
        let finalizers = attributes.finalizers.iter();
        Self {
            labels: labels_to_wire(&attributes.labels),
            annotations: annotations
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
            owner_references: attributes.owners.iter().map(Into::into).collect(),
            finalizers: finalizers.map(ToString::to_string).collect(),
        }
    }
}

impl TryFrom<v1::ObjectAttributes> for Attributes {
    type Error = Violations;

    fn try_from(pb: v1::ObjectAttributes) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let labels = found.parsed("labels", Labels::parse(&pb.labels));
        let annotations = found.parsed("annotations", Annotations::parse(&pb.annotations));
        let owners = list::<_, _, _, Vec<_>>(pb.owner_references, OwnerReference::try_from)
            .and_then(OwnerReferences::new);
        let owners = found.parsed("ownerReferences", owners);
        let finalizers = found.parsed("finalizers", Finalizers::parse(&pb.finalizers));
        match (labels, annotations, owners, finalizers) {
            (Some(labels), Some(annotations), Some(owners), Some(finalizers)) => Ok(Self {
                labels,
                annotations,
                owners,
                finalizers,
            }),
            _ => Err(found),
        }
    }
}
