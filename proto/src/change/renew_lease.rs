use synod_model::{
    ClusterId, FencingToken, HolderIdentity, LeaseKey, Refusal, RenewLease, RenewLeaseCandidate,
    Revision, Violation, Violations,
};

use super::acquire_lease::lease_key;
use super::{check_token_cluster, named};
use crate::fields::{cluster, required, sound};
use crate::v1;

/// One renewal of a stream: a lease's or a candidate's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseRenewal {
    /// A lease.
    Lease {
        /// What is asked.
        renew: RenewLease,
        /// The cluster that gave the token. `None`: the caller does not say, so it is not checked.
        cluster: Option<ClusterId>,
    },
    /// A candidate.
    Candidate(RenewLeaseCandidate),
}

impl LeaseRenewal {
    /// Whether the token was given by this cluster.
    ///
    /// # Errors
    ///
    /// `STALE_EPOCH`: under another cluster a token means something else.
    pub fn check_cluster(&self, present: ClusterId) -> Result<(), Refusal> {
        match self {
            Self::Lease { cluster, .. } => check_token_cluster(*cluster, present),
            Self::Candidate(_) => Ok(()),
        }
    }
}

impl v1::LeasesRenewRequest {
    /// The renewal as it is sent, with the number that its answer will carry.
    #[must_use]
    pub fn of(renewal: &LeaseRenewal, correlation: u64) -> Self {
        use v1::leases_renew_request::What;
        let what = match renewal {
            LeaseRenewal::Lease { renew, cluster } => {
                What::Lease(wire_lease_token(&renew.key, renew.token, *cluster))
            }
            LeaseRenewal::Candidate(renew) => What::Candidate(v1::LeaseContender {
                lease: Some((&renew.key).into()),
                identity: renew.identity.to_string(),
            }),
        };
        Self {
            what: Some(what),
            correlation,
        }
    }
}

/// The renewal without its `correlation`, which the answer carries even if this fails.
impl TryFrom<v1::LeasesRenewRequest> for LeaseRenewal {
    type Error = Violations;

    fn try_from(pb: v1::LeasesRenewRequest) -> Result<Self, Violations> {
        use v1::leases_renew_request::What;
        let mut found = Violations::new();
        let renewal = match pb.what {
            None => {
                let rule = "must say which lease or candidate is renewed";
                found.push(Violation::required(rule).at("what"));
                None
            }
            Some(What::Lease(pb)) => {
                let token = found.parsed("lease", parse_lease_token(pb));
                token.map(|(key, token, cluster)| Self::Lease {
                    renew: RenewLease { key, token },
                    cluster,
                })
            }
            Some(What::Candidate(pb)) => {
                let contender = found.parsed("candidate", parse_contender(Some(pb)));
                contender
                    .map(|(key, identity)| Self::Candidate(RenewLeaseCandidate { key, identity }))
            }
        };
        match renewal {
            Some(renewal) => sound(renewal, found),
            None => Err(found),
        }
    }
}

/// The proof of a lease, as it is sent.
pub(super) fn wire_lease_token(
    lease: &LeaseKey,
    token: FencingToken,
    cluster: Option<ClusterId>,
) -> v1::LeaseToken {
    v1::LeaseToken {
        lease: Some(lease.into()),
        token: token.get(),
        cluster_id: named(cluster),
    }
}

/// Reads the proof of a lease, and which cluster gave it if that is said.
pub(super) fn parse_lease_token(
    pb: v1::LeaseToken,
) -> Result<(LeaseKey, FencingToken, Option<ClusterId>), Violations> {
    let mut found = Violations::new();
    let key = lease_key(pb.lease, &mut found);
    let token = FencingToken::new(Revision::new(pb.token));
    found.parsed("token", token.check());
    let cluster = found.parsed("clusterId", cluster(&pb.cluster_id)).flatten();
    match key {
        Some(key) => sound((key, token, cluster), found),
        None => Err(found),
    }
}

/// Reads who stands for which lease.
pub(super) fn parse_contender(
    pb: Option<v1::LeaseContender>,
) -> Result<(LeaseKey, HolderIdentity), Violations> {
    let pb = required(pb, "must say who stands, and for which lease")?;
    let mut found = Violations::new();
    let key = lease_key(pb.lease, &mut found);
    let identity = found.parsed("identity", HolderIdentity::parse(&pb.identity));
    match (key, identity) {
        (Some(key), Some(identity)) => sound((key, identity), found),
        _ => Err(found),
    }
}
