use synod_model::{Labels, Member, MemberId, Phase, Violations};

use super::metadata::named;
use crate::wire::Wire;
use crate::{read_fields, v1, wire_enums};

wire_enums! {
    v1::MemberPhase = Phase { Joining = Joining, Ready = Ready }
}

impl From<&Member> for v1::Member {
    fn from(member: &Member) -> Self {
        let metadata = v1::Metadata::of(member.id.as_str(), &member.labels, &member.metadata);
        Self {
            metadata: Some(metadata),
            instance: member.instance.to_wire(),
            epoch: member.epoch.to_wire(),
            ttl_ms: member.ttl.to_wire(),
            version: member.version.to_wire(),
            endpoint: member.endpoint.to_wire(),
            phase: member.phase.to_wire(),
            reported: member.reported,
            gated: member.gated,
        }
    }
}

impl TryFrom<v1::Member> for Member {
    type Error = Violations;

    fn try_from(pb: v1::Member) -> Result<Self, Violations> {
        let mut found = Violations::new();
        read_fields! { pb, found;
            named = metadata => named(pb.metadata, id_and_labels),
            instance = instance,
            epoch = epoch,
            ttl = ttl_ms,
            version = version,
            endpoint = endpoint,
            phase = phase,
        }
        let ((id, labels), metadata) = named;
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
            gated: pb.gated,
        })
    }
}

fn id_and_labels(pb: &v1::Metadata) -> Result<(MemberId, Labels), Violations> {
    let mut found = Violations::new();
    read_fields! { pb, found;
        id = name => MemberId::parse(&pb.name),
        labels = labels => Labels::parse(&pb.labels),
    }
    Ok((id, labels))
}
