use synod_model::{
    BinaryVersion, Endpoint, Epoch, InstanceId, Labels, Member, MemberId, Metadata, Phase,
    Revision, Ttl, Violation, Violations,
};

use crate::fields::required;
use crate::v1;

impl From<&Member> for v1::Member {
    fn from(member: &Member) -> Self {
        Self {
            metadata: Some(v1::Metadata::of(
                member.id.as_str(),
                &member.labels,
                &member.metadata,
            )),
            instance: member.instance.to_string(),
            epoch: member.epoch.get(),
            ttl_ms: member.ttl.as_millis(),
            version: member.version.to_string(),
            endpoint: member.endpoint.to_string(),
            phase: v1::MemberPhase::from(member.phase).into(),
            reported: member.reported,
        }
    }
}

impl TryFrom<v1::Member> for Member {
    type Error = Violations;

    fn try_from(pb: v1::Member) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let phase = found.parsed("phase", Phase::try_from(pb.phase()));
        let instance = found.parsed("instance", InstanceId::parse(&pb.instance));
        let ttl = found.parsed("ttlMs", Ttl::from_millis(pb.ttl_ms));
        let version = found.parsed("version", BinaryVersion::parse(&pb.version));
        let endpoint = found.parsed("endpoint", Endpoint::parse(&pb.endpoint));
        let named = found.parsed("metadata", named(pb.metadata));
        let (
            Some((id, labels, metadata)),
            Some(phase),
            Some(instance),
            Some(ttl),
            Some(version),
            Some(endpoint),
        ) = (named, phase, instance, ttl, version, endpoint)
        else {
            return Err(found);
        };
        let epoch = Epoch::new(Revision::new(pb.epoch));
        Ok(Self {
            id,
            instance,
            epoch,
            ttl,
            labels,
            version,
            endpoint,
            phase,
            metadata,
            reported: pb.reported,
        })
    }
}

fn named(pb: Option<v1::Metadata>) -> Result<(MemberId, Labels, Metadata), Violations> {
    let pb = required(pb, "a member has metadata")?;
    let mut found = Violations::new();
    let id = found.parsed("name", MemberId::parse(&pb.name));
    let labels = found.parsed("labels", Labels::parse(&pb.labels));
    let metadata = found.parsed("", Metadata::try_from(&pb));
    match (id, labels, metadata) {
        (Some(id), Some(labels), Some(metadata)) => Ok((id, labels, metadata)),
        _ => Err(found),
    }
}

impl From<Phase> for v1::MemberPhase {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Joining => Self::Joining,
            Phase::Ready => Self::Ready,
        }
    }
}

impl TryFrom<v1::MemberPhase> for Phase {
    type Error = Violation;

    fn try_from(pb: v1::MemberPhase) -> Result<Self, Violation> {
        match pb {
            v1::MemberPhase::Joining => Ok(Self::Joining),
            v1::MemberPhase::Ready => Ok(Self::Ready),
            v1::MemberPhase::Unspecified => Err(Violation::required("must be joining or ready")),
        }
    }
}
