use std::collections::BTreeSet;

use synod_model::{
    ApiVersion, Binary, BinaryResource, GroupResource, Kind, ResourceScope, Stance, Violation,
    Violations,
};

use super::Consistency;
use super::consistency::consistency;
use crate::fields::{list, required, sound};
use crate::limits::BINARY_RESOURCES_MAX;
use crate::v1;
use crate::v1::binary_resource::Stance as WireStance;

/// Asks whether a binary may join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckBinary {
    /// The binary.
    pub binary: Binary,
    /// How to read.
    pub read: Consistency,
}

impl From<&CheckBinary> for v1::StorageVersionsCheckBinaryRequest {
    fn from(check: &CheckBinary) -> Self {
        let left = check.binary.left_to_others.iter();
        Self {
            resources: check.binary.resources.iter().map(Into::into).collect(),
            read: Some(check.read.into()),
            left_to_others: left.map(ToString::to_string).collect(),
        }
    }
}

impl TryFrom<v1::StorageVersionsCheckBinaryRequest> for CheckBinary {
    type Error = Violations;

    fn try_from(pb: v1::StorageVersionsCheckBinaryRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let many = pb.resources.len();
        if many > BINARY_RESOURCES_MAX {
            found.push(Violation::too_many(many, BINARY_RESOURCES_MAX).at("resources"));
            return Err(found);
        }
        let resources = found.parsed("resources", list(pb.resources, BinaryResource::try_from));
        let left = list(pb.left_to_others, |name| ResourceScope::parse(&name));
        let left_to_others = found.parsed("leftToOthers", left);
        let read = consistency(pb.read, &mut found);
        let (Some(resources), Some(left_to_others)) = (resources, left_to_others) else {
            return Err(found);
        };
        let binary = Binary {
            resources,
            left_to_others,
        };
        found.extend_at("", binary.check());
        sound(Self { binary, read }, found)
    }
}

impl From<&BinaryResource> for v1::BinaryResource {
    fn from(binary: &BinaryResource) -> Self {
        let stance = binary.stance.as_ref().map(|stance| match stance {
            Stance::Fixed { encoding } => WireStance::EncodingVersion(encoding.to_string()),
            Stance::Voting { preferred } => WireStance::PreferredVersion(preferred.to_string()),
        });
        Self {
            resource: Some((&binary.resource).into()),
            kind: binary.kind.as_ref().map(ToString::to_string),
            decodable_versions: binary.decodable.iter().map(ToString::to_string).collect(),
            stance,
        }
    }
}

impl TryFrom<v1::BinaryResource> for BinaryResource {
    type Error = Violations;

    fn try_from(pb: v1::BinaryResource) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let resource = required(pb.resource, "must name a resource")
            .map_err(Into::into)
            .and_then(GroupResource::try_from);
        let resource = found.parsed("resource", resource);
        let kind = pb.kind.as_deref().map(Kind::parse).transpose();
        let kind = found.parsed("kind", kind);
        let versions = list(pb.decodable_versions, |text| ApiVersion::parse(&text));
        let decodable: Option<BTreeSet<_>> = found.parsed("decodableVersions", versions);
        let stance = match pb.stance {
            None => Some(None),
            Some(WireStance::EncodingVersion(text)) => found
                .parsed("encodingVersion", ApiVersion::parse(&text))
                .map(|encoding| Some(Stance::Fixed { encoding })),
            Some(WireStance::PreferredVersion(text)) => found
                .parsed("preferredVersion", ApiVersion::parse(&text))
                .map(|preferred| Some(Stance::Voting { preferred })),
        };
        match (resource, kind, decodable, stance) {
            (Some(resource), Some(kind), Some(decodable), Some(stance)) => Ok(Self {
                resource,
                kind,
                decodable,
                stance,
            }),
            _ => Err(found),
        }
    }
}

/// Asks whether a version may be dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckDrop {
    /// Of which resource.
    pub resource: GroupResource,
    /// Which version.
    pub version: ApiVersion,
    /// How to read.
    pub read: Consistency,
}

impl From<&CheckDrop> for v1::StorageVersionsCheckDropRequest {
    fn from(check: &CheckDrop) -> Self {
        Self {
            resource: Some((&check.resource).into()),
            version: check.version.to_string(),
            read: Some(check.read.into()),
        }
    }
}

impl TryFrom<v1::StorageVersionsCheckDropRequest> for CheckDrop {
    type Error = Violations;

    fn try_from(pb: v1::StorageVersionsCheckDropRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let resource = required(pb.resource, "must name a resource")
            .map_err(Into::into)
            .and_then(GroupResource::try_from);
        let resource = found.parsed("resource", resource);
        let version = found.parsed("version", ApiVersion::parse(&pb.version));
        let read = consistency(pb.read, &mut found);
        let (Some(resource), Some(version)) = (resource, version) else {
            return Err(found);
        };
        sound(
            Self {
                resource,
                version,
                read,
            },
            found,
        )
    }
}
