use std::collections::BTreeMap;

use synod_model::{Labels, Metadata, Revision, Uid, Violations, WallTime};

use crate::v1;

impl v1::Metadata {
    /// The metadata of the object with this name and these labels.
    #[must_use]
    pub fn of(name: impl Into<String>, labels: &Labels, metadata: &Metadata) -> Self {
        Self {
            name: name.into(),
            uid: metadata.uid.to_string(),
            resource_version: metadata.resource_version.get(),
            create_revision: metadata.create_revision.get(),
            generation: metadata.generation,
            creation_time_ms: metadata.created.as_millis(),
            labels: labels_to_wire(labels),
            ..Self::default()
        }
    }
}

/// Identity and revisions: name and labels are the object's own.
impl TryFrom<&v1::Metadata> for Metadata {
    type Error = Violations;

    fn try_from(pb: &v1::Metadata) -> Result<Self, Violations> {
        let uid = Uid::parse(&pb.uid).map_err(|fault| fault.at("uid"))?;
        Ok(Self {
            uid,
            resource_version: Revision::new(pb.resource_version),
            create_revision: Revision::new(pb.create_revision),
            generation: pb.generation,
            created: WallTime::from_millis(pb.creation_time_ms),
        })
    }
}

pub(crate) fn labels_to_wire(labels: &Labels) -> BTreeMap<String, String> {
    labels
        .iter()
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}
