use synod_model::{
    Epoch, FencingToken, Hold, HolderIdentity, Labels, Lease, LeaseCandidate, LeaseKey, MemberId,
    Metadata, Revision, SemanticVersion, Strategy, Ticket, Ttl, Violations, WallTime,
};

use crate::fields::{required, sound};
use crate::v1;

impl From<&LeaseKey> for v1::LeaseKey {
    fn from(key: &LeaseKey) -> Self {
        Self {
            namespace: key.namespace().to_owned(),
            name: key.name().to_owned(),
        }
    }
}

impl TryFrom<v1::LeaseKey> for LeaseKey {
    type Error = Violations;

    fn try_from(pb: v1::LeaseKey) -> Result<Self, Violations> {
        Self::new(&pb.namespace, &pb.name)
    }
}

impl From<&Lease> for v1::Lease {
    fn from(lease: &Lease) -> Self {
        let preferred = lease.preferred.as_ref();
        Self {
            metadata: Some(v1::Metadata {
                namespace: lease.key.namespace().to_owned(),
                ..v1::Metadata::of(lease.key.name(), &Labels::default(), &lease.metadata)
            }),
            hold: lease.hold.as_ref().map(Into::into),
            transitions: lease.transitions,
            preferred_holder: preferred.map(ToString::to_string).unwrap_or_default(),
        }
    }
}

impl From<&Hold> for v1::LeaseHold {
    fn from(hold: &Hold) -> Self {
        Self {
            holder: hold.holder.to_string(),
            token: hold.token.get(),
            ticket: hold.ticket.map(Ticket::get),
            ttl_ms: hold.ttl.as_millis(),
            member: hold.member.as_ref().map(|(member, epoch)| v1::MemberEpoch {
                member: member.to_string(),
                epoch: epoch.get(),
                cluster_id: String::new(),
            }),
            acquired_ms: hold.acquired.as_millis(),
        }
    }
}

impl TryFrom<v1::Lease> for Lease {
    type Error = Violations;

    fn try_from(pb: v1::Lease) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let named = found.parsed("metadata", named(pb.metadata));
        let hold = found.parsed("hold", pb.hold.map(Hold::try_from).transpose());
        let preferred = Some(pb.preferred_holder.as_str()).filter(|text| !text.is_empty());
        let preferred = preferred.map(HolderIdentity::parse).transpose();
        let preferred = found.parsed("preferredHolder", preferred);
        let (Some((key, metadata)), Some(hold), Some(preferred)) = (named, hold, preferred) else {
            return Err(found);
        };
        Ok(Self {
            key,
            hold,
            transitions: pb.transitions,
            preferred,
            metadata,
        })
    }
}

fn named(pb: Option<v1::Metadata>) -> Result<(LeaseKey, Metadata), Violations> {
    let pb = required(pb, "a lease has metadata")?;
    let mut found = Violations::new();
    let key = found.parsed("", LeaseKey::new(&pb.namespace, &pb.name));
    let metadata = found.parsed("", Metadata::try_from(&pb));
    match (key, metadata) {
        (Some(key), Some(metadata)) => Ok((key, metadata)),
        _ => Err(found),
    }
}

impl TryFrom<v1::LeaseHold> for Hold {
    type Error = Violations;

    fn try_from(pb: v1::LeaseHold) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let holder = found.parsed("holder", HolderIdentity::parse(&pb.holder));
        let ttl = found.parsed("ttlMs", Ttl::from_millis(pb.ttl_ms));
        let member = pb.member.map(|pb| {
            let epoch = Epoch::new(Revision::new(pb.epoch));
            MemberId::parse(&pb.member).map(|member| (member, epoch))
        });
        let member = found.parsed("member.member", member.transpose());
        let (Some(holder), Some(ttl), Some(member)) = (holder, ttl, member) else {
            return Err(found);
        };
        let hold = Self {
            holder,
            token: FencingToken::new(Revision::new(pb.token)),
            ticket: pb.ticket.map(|ticket| Ticket::new(Revision::new(ticket))),
            ttl,
            member,
            acquired: WallTime::from_millis(pb.acquired_ms),
        };
        sound(hold, found)
    }
}

impl From<&LeaseCandidate> for v1::LeaseCandidate {
    fn from(candidate: &LeaseCandidate) -> Self {
        let identity = candidate.identity.as_str();
        let emulation = candidate.emulation_version.as_ref();
        Self {
            metadata: Some(v1::Metadata {
                namespace: candidate.lease.namespace().to_owned(),
                ..v1::Metadata::of(identity, &Labels::default(), &candidate.metadata)
            }),
            lease: Some((&candidate.lease).into()),
            binary_version: candidate.binary_version.to_string(),
            emulation_version: emulation.map(ToString::to_string).unwrap_or_default(),
            strategy: candidate.strategy.to_string(),
            ttl_ms: candidate.ttl.as_millis(),
        }
    }
}

impl TryFrom<v1::LeaseCandidate> for LeaseCandidate {
    type Error = Violations;

    fn try_from(pb: v1::LeaseCandidate) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let (lease, metadata) = (
            required(pb.lease, "a candidate stands for a lease").map_err(Violations::from),
            required(pb.metadata, "a candidate has metadata").map_err(Violations::from),
        );
        let lease = found.parsed("lease", lease.and_then(LeaseKey::try_from));
        let metadata = found.parsed(
            "metadata",
            metadata.and_then(|pb| {
                let identity = HolderIdentity::parse(&pb.name).map_err(|fault| fault.at("name"))?;
                Ok((identity, Metadata::try_from(&pb)?))
            }),
        );
        let binary = found.parsed("binaryVersion", SemanticVersion::parse(&pb.binary_version));
        let emulation = Some(pb.emulation_version.as_str()).filter(|text| !text.is_empty());
        let emulation = emulation.map(SemanticVersion::parse).transpose();
        let emulation = found.parsed("emulationVersion", emulation);
        let strategy = found.parsed("strategy", Strategy::parse(&pb.strategy));
        let ttl = found.parsed("ttlMs", Ttl::from_millis(pb.ttl_ms));
        let (
            Some(lease),
            Some((identity, metadata)),
            Some(binary_version),
            Some(emulation_version),
            Some(strategy),
            Some(ttl),
        ) = (lease, metadata, binary, emulation, strategy, ttl)
        else {
            return Err(found);
        };
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
