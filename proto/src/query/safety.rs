use std::collections::BTreeSet;

use synod_model::{
    ApiVersion, Binary, BinaryResource, GroupResource, Stance, Violation, Violations,
};

use super::Consistency;
use crate::limits::{AGREEMENT_RESOURCES_MAX, BINARY_RESOURCES_MAX};
use crate::v1::binary_resource::Stance as Sent;
use crate::wire::{Wire, read, sound};
use crate::{messages, read_fields, v1};

/// Asks whether a binary may join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckBinary {
    /// The binary.
    pub binary: Binary,
    /// The consistency of the read.
    pub read: Consistency,
}

impl From<&CheckBinary> for v1::StorageVersionsCheckBinaryRequest {
    fn from(check: &CheckBinary) -> Self {
        Self {
            resources: check.binary.resources.to_wire(),
            read: check.read.to_wire(),
            left_to_others: check.binary.left_to_others.to_wire(),
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
        read_fields! { pb, found;
            resources = resources,
            left_to_others = left_to_others,
            read = read,
        }
        let binary = Binary {
            resources,
            left_to_others,
        };
        found.extend_at("", binary.check());
        sound(Self { binary, read }, found)
    }
}

impl Wire<v1::BinaryResource> for BinaryResource {
    fn to_wire(&self) -> v1::BinaryResource {
        let stance = self.stance.as_ref().map(|stance| match stance {
            Stance::Fixed { encoding } => Sent::EncodingVersion(encoding.to_wire()),
            Stance::Voting { preferred } => Sent::PreferredVersion(preferred.to_wire()),
        });
        v1::BinaryResource {
            resource: self.resource.to_wire(),
            kind: self.kind.to_wire(),
            decodable_versions: self.decodable.to_wire(),
            stance,
            new: self.new,
        }
    }

    fn of_wire(pb: v1::BinaryResource) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let resource = read(&mut found, "resource", Wire::of_wire(pb.resource));
        let kind = read(&mut found, "kind", Wire::of_wire(pb.kind));
        let decodable = Wire::of_wire(pb.decodable_versions);
        let decodable = read(&mut found, "decodable_versions", decodable);
        let stance = match pb.stance {
            None => Some(None),
            Some(Sent::EncodingVersion(text)) => found
                .parsed("encodingVersion", ApiVersion::parse(&text))
                .map(|encoding| Some(Stance::Fixed { encoding })),
            Some(Sent::PreferredVersion(text)) => found
                .parsed("preferredVersion", ApiVersion::parse(&text))
                .map(|preferred| Some(Stance::Voting { preferred })),
        };
        let (Some(resource), Some(kind), Some(decodable), Some(stance)) =
            (resource, kind, decodable, stance)
        else {
            return Err(found);
        };
        Ok(Self {
            resource,
            kind,
            decodable,
            stance,
            new: pb.new,
        })
    }
}

/// Asks whether a version may be dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckDrop {
    /// The resource.
    pub resource: GroupResource,
    /// The version to drop.
    pub version: ApiVersion,
    /// The consistency of the read.
    pub read: Consistency,
}

messages! {
    v1::StorageVersionsCheckDropRequest = CheckDrop {
        resource = resource,
        version = version,
        read = read,
    }
}

/// Asks whether the members agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckAgreement {
    /// The resources in question; empty: all that is known.
    pub resources: BTreeSet<GroupResource>,
    /// Whether it counts as agreement that nothing is known.
    pub allow_none: bool,
    /// The consistency of the read.
    pub read: Consistency,
}

messages! {
    v1::StorageVersionsCheckAgreementRequest = CheckAgreement {
        resources = resources,
        allow_none = allow_none,
        read = read,
    } => check
}

/// Asks whether an upgrade may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckUpgrade {
    /// The consistency of the read.
    pub read: Consistency,
}

messages! {
    v1::StorageVersionsCheckUpgradeRequest = CheckUpgrade {
        read = read,
    }
}

impl CheckAgreement {
    fn check(&self) -> Violations {
        let mut found = Violations::new();
        let many = self.resources.len();
        if many > AGREEMENT_RESOURCES_MAX {
            let fault = Violation::too_many(many, AGREEMENT_RESOURCES_MAX);
            found.push(fault.at("resources"));
        }
        found
    }
}
