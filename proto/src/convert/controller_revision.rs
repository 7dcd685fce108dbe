use std::collections::BTreeMap;

use synod_model::{
    Annotations, ApiVersion, ControllerRevision, Labels, LiveMark, MediaType, Metadata, Namespace,
    NamespacedName, ObjectName, OwnerReference, RevisionData, RevisionNumber, Violations,
};

use super::mark_tie::{marks_from_wire, marks_to_wire};
use crate::fields::{list, required};
use crate::v1;

impl From<&ControllerRevision> for v1::ControllerRevision {
    fn from(revision: &ControllerRevision) -> Self {
        let ControllerRevision {
            key,
            metadata,
            labels,
            annotations,
            controller,
            number,
            data,
            marks,
        } = revision;
        let metadata = v1::Metadata {
            namespace: key.namespace().unwrap_or_default().to_owned(),
            annotations: annotations_to_wire(annotations),
            owner_references: controller.iter().map(Into::into).collect(),
            ..v1::Metadata::of(key.name(), labels, metadata)
        };
        Self {
            metadata: Some(metadata),
            revision: number.get(),
            media_type: data.media_type().to_string(),
            data: data.bytes().clone(),
            current: marks.has(&LiveMark::Current),
            update: marks.has(&LiveMark::Update),
            in_use: marks.in_use().map(ToString::to_string).collect(),
            marks: marks_to_wire(marks),
            data_version: data.version().map(ToString::to_string),
        }
    }
}

impl TryFrom<v1::ControllerRevision> for ControllerRevision {
    type Error = Violations;

    fn try_from(pb: v1::ControllerRevision) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let metadata = required(pb.metadata, "must be there")?;
        let namespace = found.parsed("metadata.namespace", Namespace::parse(&metadata.namespace));
        let name = found.parsed("metadata.name", ObjectName::parse(&metadata.name));
        let identity = found.parsed("metadata", Metadata::try_from(&metadata));
        let labels = found.parsed("metadata.labels", Labels::parse(&metadata.labels));
        let annotations = Annotations::parse(&metadata.annotations);
        let annotations = found.parsed("metadata.annotations", annotations);
        let owners = list::<_, _, _, Vec<_>>(metadata.owner_references, OwnerReference::try_from);
        let owners = found.parsed("metadata.ownerReferences", owners);
        let number = found.parsed("revision", RevisionNumber::new(pb.revision));
        let media_type = found.parsed("mediaType", MediaType::parse(&pb.media_type));
        let version = pb.data_version.as_deref().map(ApiVersion::parse);
        let version = found.parsed("dataVersion", version.transpose());
        // They say what the fields beside them say, and more.
        let marks = found.parsed("marks", marks_from_wire(pb.marks));
        match (
            (namespace, name, identity, labels),
            (annotations, owners, number),
            (media_type, version, marks),
        ) {
            (
                (Some(namespace), Some(name), Some(metadata), Some(labels)),
                (Some(annotations), Some(owners), Some(number)),
                (Some(media_type), Some(version), Some(marks)),
            ) => Ok(Self {
                key: NamespacedName::new(Some(&namespace), &name),
                metadata,
                labels,
                annotations,
                controller: owners.into_iter().find(|owner| owner.controller),
                number,
                data: RevisionData::from_stored(media_type, pb.data).in_version(version),
                marks,
            }),
            _ => Err(found),
        }
    }
}

pub(crate) fn annotations_to_wire(annotations: &Annotations) -> BTreeMap<String, String> {
    annotations
        .iter()
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}
