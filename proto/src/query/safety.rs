use std::collections::BTreeSet;

use synod_model::{ApiVersion, GroupResource, Kind, Violation, Violations};

use super::Consistency;
use super::consistency::consistency;
use crate::fields::{list, required, sound};
use crate::limits::BINARY_RESOURCES_MAX;
use crate::v1;

/// Asks whether a binary may join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckBinary {
    /// What it decodes; no resource twice.
    pub resources: Vec<BinaryResource>,
    /// How to read.
    pub read: Consistency,
}

/// What a binary decodes of one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinaryResource {
    /// The resource.
    pub resource: GroupResource,
    /// The kind that it stores, if the caller says so.
    pub kind: Option<Kind>,
    /// The versions.
    pub decodable: BTreeSet<ApiVersion>,
}

impl From<&CheckBinary> for v1::StorageVersionsCheckBinaryRequest {
    fn from(check: &CheckBinary) -> Self {
        let resources = check.resources.iter().map(|binary| v1::BinaryResource {
            resource: Some((&binary.resource).into()),
            kind: binary.kind.as_ref().map(ToString::to_string),
            decodable_versions: binary.decodable.iter().map(ToString::to_string).collect(),
        });
        Self {
            resources: resources.collect(),
            read: Some(check.read.into()),
        }
    }
}

impl TryFrom<v1::StorageVersionsCheckBinaryRequest> for CheckBinary {
    type Error = Violations;

    fn try_from(pb: v1::StorageVersionsCheckBinaryRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let many = pb.resources.len();
        if many == 0 {
            let rule = "must name what the binary decodes";
            found.push(Violation::required(rule).at("resources"));
        }
        if many > BINARY_RESOURCES_MAX {
            found.push(Violation::too_many(many, BINARY_RESOURCES_MAX).at("resources"));
            return Err(found);
        }
        let resources = found.parsed("resources", list(pb.resources, BinaryResource::try_from));
        let read = consistency(pb.read, &mut found);
        let resources: Vec<BinaryResource> = resources.unwrap_or_default();
        let mut seen = BTreeSet::new();
        for (i, binary) in resources.iter().enumerate() {
            if !seen.insert(&binary.resource) {
                let twice = Violation::duplicate(binary.resource.qualified());
                found.push(twice.at(&format!("resources[{i}].resource")));
            }
        }
        sound(Self { resources, read }, found)
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
        let decodable = found.parsed("decodableVersions", versions);
        let (Some(resource), Some(kind), Some(decodable)) = (resource, kind, decodable) else {
            return Err(found);
        };
        Ok(Self {
            resource,
            kind,
            decodable,
        })
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
