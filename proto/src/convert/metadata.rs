use synod_model::{Labels, Metadata, Violations};

use crate::wire::{Wire, required};
use crate::{read_fields, v1};

impl v1::Metadata {
    /// The metadata of the object with this name and these labels.
    #[must_use]
    pub fn of(name: impl Into<String>, labels: &Labels, metadata: &Metadata) -> Self {
        Self {
            name: name.into(),
            labels: labels.to_wire(),
            ..metadata.to_wire()
        }
    }
}

/// Identity and revisions. The conversion of each object handles its name and labels.
impl Wire<v1::Metadata> for Metadata {
    fn to_wire(&self) -> v1::Metadata {
        v1::Metadata {
            uid: self.uid.to_wire(),
            resource_version: self.resource_version.to_wire(),
            create_revision: self.create_revision.to_wire(),
            generation: self.generation,
            creation_time_ms: self.created.to_wire(),
            ..v1::Metadata::default()
        }
    }

    fn of_wire(pb: v1::Metadata) -> Result<Self, Violations> {
        let mut found = Violations::new();
        read_fields! { pb, found;
            uid = uid,
            resource_version = resource_version,
            create_revision = create_revision,
            created = creation_time_ms,
        }
        Ok(Self {
            uid,
            resource_version,
            create_revision,
            generation: pb.generation,
            created,
        })
    }
}

impl Wire<Option<v1::Metadata>> for Metadata {
    fn to_wire(&self) -> Option<v1::Metadata> {
        Some(self.to_wire())
    }

    fn of_wire(pb: Option<v1::Metadata>) -> Result<Self, Violations> {
        Self::of_wire(required(pb, "an object has metadata")?)
    }
}

/// The metadata of an object that has a name and no labels.
impl Wire<Option<v1::Metadata>> for (String, Metadata) {
    fn to_wire(&self) -> Option<v1::Metadata> {
        let (name, metadata) = self;
        Some(v1::Metadata::of(name, &Labels::default(), metadata))
    }

    fn of_wire(pb: Option<v1::Metadata>) -> Result<Self, Violations> {
        named(pb, |pb| Ok(pb.name.clone()))
    }
}

/// Reads the metadata of an object: its identity, and what `names` reads of the rest.
pub(crate) fn named<T>(
    pb: Option<v1::Metadata>,
    names: impl FnOnce(&v1::Metadata) -> Result<T, Violations>,
) -> Result<(T, Metadata), Violations> {
    let pb = required(pb, "an object has metadata")?;
    let mut found = Violations::new();
    let name = found.parsed("", names(&pb));
    let metadata = found.parsed("", Metadata::of_wire(pb));
    name.zip(metadata).ok_or(found)
}
