use bytes::Bytes;
use synod_model::{
    Annotations, ControllerRevision, Labels, LiveMark, MediaType, NamespacedName, OwnerReference,
    RevisionData, Violations,
};

use super::keys::{named as name_of, names};
use super::metadata::named;
use crate::wire::Wire;
use crate::{read_fields, v1};

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
        let (namespace, name) = names(key);
        let metadata = v1::Metadata {
            namespace,
            annotations: annotations.to_wire(),
            owner_references: controller.iter().map(Wire::to_wire).collect(),
            ..v1::Metadata::of(name, labels, metadata)
        };
        Self {
            metadata: Some(metadata),
            revision: number.to_wire(),
            media_type: data.media_type().to_wire(),
            data: data.bytes().clone(),
            current: marks.has(&LiveMark::Current),
            update: marks.has(&LiveMark::Update),
            in_use: marks.in_use().map(ToString::to_string).collect(),
            marks: marks.to_wire(),
            data_version: data.version().map(ToString::to_string),
        }
    }
}

/// The fields that the metadata of a snapshot has beside its identity.
struct Named {
    key: NamespacedName,
    labels: Labels,
    annotations: Annotations,
    owners: Vec<OwnerReference>,
}

fn of_metadata(pb: &v1::Metadata) -> Result<Named, Violations> {
    let mut found = Violations::new();
    let key = found.parsed("", name_of(&pb.namespace, &pb.name));
    read_fields! { pb, found;
        labels = labels => Labels::parse(&pb.labels),
        annotations = annotations => Annotations::parse(&pb.annotations),
        owners = owner_references => Vec::of_wire(pb.owner_references.clone()),
    }
    let Some(key) = key else {
        return Err(found);
    };
    Ok(Named {
        key,
        labels,
        annotations,
        owners,
    })
}

impl TryFrom<v1::ControllerRevision> for ControllerRevision {
    type Error = Violations;

    fn try_from(pb: v1::ControllerRevision) -> Result<Self, Violations> {
        let mut found = Violations::new();
        read_fields! { pb, found;
            named = metadata => named(pb.metadata, of_metadata),
            number = revision,
            media_type = media_type => MediaType::of_wire(pb.media_type),
            version = data_version,
            // The marks contain what `current`, `update` and `in_use` say, and the ties.
            marks = marks,
        }
        let (named, metadata) = named;
        let mut owners = named.owners.into_iter();
        Ok(Self {
            key: named.key,
            metadata,
            labels: named.labels,
            annotations: named.annotations,
            controller: owners.find(|owner| owner.controller),
            number,
            data: RevisionData::from_stored(media_type, pb.data).in_version(version),
            marks,
        })
    }
}

/// Reads the data that a caller wants to store, from its two fields; without a media type it is
/// JSON.
pub(crate) fn wanted_data(media_type: String, bytes: Bytes) -> Result<RevisionData, Violations> {
    let media_type: Option<MediaType> = Wire::of_wire(media_type)?;
    Ok(RevisionData::new(
        media_type.unwrap_or(MediaType::JSON),
        bytes,
    )?)
}
