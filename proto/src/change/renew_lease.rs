use synod_model::{
    ClusterId, ErrorKind, FencingToken, HolderIdentity, Refusal, RenewLease, RenewLeaseCandidate,
    Revision, Violation, Violations,
};

use super::acquire_lease::lease_key;
use super::named;
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
            Self::Lease {
                cluster: Some(cluster),
                renew,
            } if *cluster != present => {
                let message = format!(
                    "lease \"{}\": the token was given by cluster {cluster}, this is {present}: whoever acted under \
                     it must stop",
                    renew.key
                );
                Err(Refusal::new(ErrorKind::StaleEpoch, message))
            }
            Self::Lease { .. } | Self::Candidate(_) => Ok(()),
        }
    }
}

impl v1::LeasesRenewRequest {
    /// The renewal as it is sent, with the number that its answer will carry.
    #[must_use]
    pub fn of(renewal: &LeaseRenewal, correlation: u64) -> Self {
        use v1::leases_renew_request::What;
        let what = match renewal {
            LeaseRenewal::Lease { renew, cluster } => What::Lease(v1::LeaseToken {
                lease: Some((&renew.key).into()),
                token: renew.token.get(),
                cluster_id: named(*cluster),
            }),
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
            Some(What::Lease(pb)) => found.parsed("lease", parse_token(pb)),
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

fn parse_token(pb: v1::LeaseToken) -> Result<LeaseRenewal, Violations> {
    let mut found = Violations::new();
    let key = lease_key(pb.lease, &mut found);
    let token = FencingToken::new(Revision::new(pb.token));
    found.parsed("token", token.check());
    let cluster = found.parsed("clusterId", cluster(&pb.cluster_id)).flatten();
    let Some(key) = key else {
        return Err(found);
    };
    let renew = RenewLease { key, token };
    sound(LeaseRenewal::Lease { renew, cluster }, found)
}

/// Reads who stands for which lease.
pub(super) fn parse_contender(
    pb: Option<v1::LeaseContender>,
) -> Result<(synod_model::LeaseKey, HolderIdentity), Violations> {
    let pb = required(pb, "must say who stands, and for which lease")?;
    let mut found = Violations::new();
    let key = lease_key(pb.lease, &mut found);
    let identity = found.parsed("identity", HolderIdentity::parse(&pb.identity));
    match (key, identity) {
        (Some(key), Some(identity)) => sound((key, identity), found),
        _ => Err(found),
    }
}
