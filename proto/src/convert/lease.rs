use synod_model::{
    Epoch, Hold, HolderIdentity, Labels, Lease, LeaseCandidate, LeaseKey, MemberId, Violations,
};

use super::metadata::named;
use crate::wire::{Wire, required};
use crate::{messages, read_fields, v1};

messages! {
    v1::LeaseHold = Hold {
        holder = holder,
        token = token,
        ticket = ticket,
        ttl = ttl_ms,
        member = member,
        acquired = acquired_ms,
    }
}

impl From<&Lease> for v1::Lease {
    fn from(lease: &Lease) -> Self {
        let metadata = v1::Metadata::of(lease.key.name(), &Labels::default(), &lease.metadata);
        Self {
            metadata: Some(v1::Metadata {
                namespace: lease.key.namespace().to_owned(),
                ..metadata
            }),
            hold: lease.hold.to_wire(),
            transitions: lease.transitions,
            preferred_holder: lease.preferred.to_wire(),
        }
    }
}

impl TryFrom<v1::Lease> for Lease {
    type Error = Violations;

    fn try_from(pb: v1::Lease) -> Result<Self, Violations> {
        let mut found = Violations::new();
        read_fields! { pb, found;
            named = metadata => named(pb.metadata, |pb| LeaseKey::new(&pb.namespace, &pb.name)),
            hold = hold,
            preferred = preferred_holder,
        }
        let (key, metadata) = named;
        Ok(Self {
            key,
            hold,
            transitions: pb.transitions,
            preferred,
            metadata,
        })
    }
}

/// A member and its epoch. The cluster that gave the epoch is converted separately.
impl Wire<v1::MemberEpoch> for (MemberId, Epoch) {
    fn to_wire(&self) -> v1::MemberEpoch {
        let (member, epoch) = self;
        v1::MemberEpoch {
            member: member.to_wire(),
            epoch: epoch.to_wire(),
            cluster_id: String::new(),
        }
    }

    fn of_wire(pb: v1::MemberEpoch) -> Result<Self, Violations> {
        let mut found = Violations::new();
        read_fields! { pb, found; member = member, epoch = epoch }
        Ok((member, epoch))
    }
}

impl Wire<Option<v1::MemberEpoch>> for (MemberId, Epoch) {
    fn to_wire(&self) -> Option<v1::MemberEpoch> {
        Some(self.to_wire())
    }

    fn of_wire(pb: Option<v1::MemberEpoch>) -> Result<Self, Violations> {
        Self::of_wire(required(pb, "must say who speaks, and under which epoch")?)
    }
}

impl From<&LeaseCandidate> for v1::LeaseCandidate {
    fn from(candidate: &LeaseCandidate) -> Self {
        let identity = candidate.identity.as_str();
        let metadata = v1::Metadata::of(identity, &Labels::default(), &candidate.metadata);
        Self {
            metadata: Some(v1::Metadata {
                namespace: candidate.lease.namespace().to_owned(),
                ..metadata
            }),
            lease: candidate.lease.to_wire(),
            binary_version: candidate.binary_version.to_wire(),
            emulation_version: candidate.emulation_version.to_wire(),
            strategy: candidate.strategy.to_wire(),
            ttl_ms: candidate.ttl.to_wire(),
        }
    }
}

impl TryFrom<v1::LeaseCandidate> for LeaseCandidate {
    type Error = Violations;

    fn try_from(pb: v1::LeaseCandidate) -> Result<Self, Violations> {
        let identity = |pb: &v1::Metadata| {
            HolderIdentity::parse(&pb.name).map_err(|fault| Violations::from(fault.at("name")))
        };
        let mut found = Violations::new();
        read_fields! { pb, found;
            lease = lease,
            named = metadata => named(pb.metadata, identity),
            binary_version = binary_version,
            emulation_version = emulation_version,
            strategy = strategy,
            ttl = ttl_ms,
        }
        let (identity, metadata) = named;
        Ok(Self {
            lease,
            identity,
            binary_version,
            emulation_version,
            strategy,
            ttl,
            metadata,
        })
    }
}
