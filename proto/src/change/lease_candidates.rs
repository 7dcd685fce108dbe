use synod_model::{
    PutLeaseCandidate, SemanticVersion, Strategy, Ttl, Violations, WithdrawLeaseCandidate,
};

use super::renew_lease::parse_contender;
use super::{Change, key};
use crate::fields::sound;
use crate::v1;

impl From<&Change<PutLeaseCandidate>> for v1::LeasesPutCandidateRequest {
    fn from(change: &Change<PutLeaseCandidate>) -> Self {
        let put = &change.body;
        let emulation = put.emulation_version.as_ref();
        Self {
            request_id: change.wire_key(),
            candidate: Some(v1::LeaseContender {
                lease: Some((&put.key).into()),
                identity: put.identity.to_string(),
            }),
            binary_version: put.binary_version.to_string(),
            emulation_version: emulation.map(ToString::to_string).unwrap_or_default(),
            strategy: put.strategy.to_string(),
            ttl_ms: Some(put.ttl.as_millis()),
        }
    }
}

impl TryFrom<v1::LeasesPutCandidateRequest> for Change<PutLeaseCandidate> {
    type Error = Violations;

    fn try_from(pb: v1::LeasesPutCandidateRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let id = key(pb.request_id, &mut found);
        let contender = found.parsed("candidate", parse_contender(pb.candidate));
        let binary = found.parsed("binaryVersion", SemanticVersion::parse(&pb.binary_version));
        let given = Some(pb.emulation_version.as_str()).filter(|text| !text.is_empty());
        let emulation = given.map(SemanticVersion::parse).transpose();
        let emulation = found.parsed("emulationVersion", emulation);
        let strategy = match pb.strategy.as_str() {
            "" => Ok(Strategy::OldestEmulationVersion),
            text => Strategy::parse(text),
        };
        let strategy = found.parsed("strategy", strategy);
        let ttl = pb.ttl_ms.map_or(Ok(Ttl::DEFAULT), Ttl::from_millis);
        let ttl = found.parsed("ttlMs", ttl);
        let (
            Some((key, identity)),
            Some(binary_version),
            Some(emulation_version),
            Some(strategy),
            Some(ttl),
        ) = (contender, binary, emulation, strategy, ttl)
        else {
            return Err(found);
        };
        let body = PutLeaseCandidate {
            key,
            identity,
            binary_version,
            emulation_version,
            strategy,
            ttl,
        };
        found.extend_at("", body.check());
        let change = Self {
            key: id.id,
            session_cluster: id.cluster,
            ..Self::new(body)
        };
        sound(change, found)
    }
}

impl From<&Change<WithdrawLeaseCandidate>> for v1::LeasesWithdrawCandidateRequest {
    fn from(change: &Change<WithdrawLeaseCandidate>) -> Self {
        let withdraw = &change.body;
        Self {
            request_id: change.wire_key(),
            candidate: Some(v1::LeaseContender {
                lease: Some((&withdraw.key).into()),
                identity: withdraw.identity.to_string(),
            }),
        }
    }
}

impl TryFrom<v1::LeasesWithdrawCandidateRequest> for Change<WithdrawLeaseCandidate> {
    type Error = Violations;

    fn try_from(pb: v1::LeasesWithdrawCandidateRequest) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let id = key(pb.request_id, &mut found);
        let contender = found.parsed("candidate", parse_contender(pb.candidate));
        let Some((key, identity)) = contender else {
            return Err(found);
        };
        let body = WithdrawLeaseCandidate { key, identity };
        let change = Self {
            key: id.id,
            session_cluster: id.cluster,
            ..Self::new(body)
        };
        sound(change, found)
    }
}
