//! The changing requests on leases and candidates, and their renewals.

use synod_model::{
    AcquireLease, ClusterId, DeleteLease, FencingToken, HolderIdentity, LeaseKey,
    PutLeaseCandidate, Refusal, ReleaseLease, RenewLease, RenewLeaseCandidate, Strategy, Ttl,
    Violation, Violations, WithdrawLeaseCandidate,
};

use super::{Change, check_token_cluster, cluster_of, requests};
use crate::wire::{Wire, required, sound};
use crate::{messages, read_fields, v1};

requests! {
    v1::LeasesAcquireRequest = AcquireLease, epoch if_member;
    v1::LeasesReleaseRequest = ReleaseLease;
    v1::LeasesDeleteRequest = DeleteLease;
    v1::LeasesPutCandidateRequest = PutLeaseCandidate;
    v1::LeasesWithdrawCandidateRequest = WithdrawLeaseCandidate;
}

messages! {
    v1::LeasesAcquireRequest = AcquireLease {
        key = lease,
        holder = holder,
        ttl = ttl_ms or Ttl::DEFAULT,
        wait = wait_ms,
        if_member = if_member,
        ; ..Default::default()
    }
    v1::LeasesReleaseRequest = ReleaseLease {
        key = lease,
        holder = holder,
        token = token,
        ; ..Default::default()
    }
    v1::LeasesDeleteRequest = DeleteLease {
        key = lease,
        preconditions = preconditions,
        ; ..Default::default()
    }
    v1::LeasesPutCandidateRequest = PutLeaseCandidate {
        (key, identity) = candidate,
        binary_version = binary_version,
        emulation_version = emulation_version,
        strategy = strategy by oldest_unless_said,
        ttl = ttl_ms or Ttl::DEFAULT,
        ; ..Default::default()
    } => check
    v1::LeasesWithdrawCandidateRequest = WithdrawLeaseCandidate {
        (key, identity) = candidate,
        ; ..Default::default()
    }
}

/// A strategy; an empty text is `OldestEmulationVersion`.
mod oldest_unless_said {
    use super::*;

    pub(super) fn write(strategy: &Strategy) -> String {
        strategy.to_wire()
    }

    pub(super) fn read(pb: String) -> Result<Strategy, Violations> {
        let said: Option<Strategy> = Wire::of_wire(pb)?;
        Ok(said.unwrap_or(Strategy::OldestEmulationVersion))
    }
}

/// A lease and the identity of a candidate for it.
impl Wire<v1::LeaseContender> for (LeaseKey, HolderIdentity) {
    fn to_wire(&self) -> v1::LeaseContender {
        v1::LeaseContender {
            lease: self.0.to_wire(),
            identity: self.1.to_wire(),
        }
    }

    fn of_wire(pb: v1::LeaseContender) -> Result<Self, Violations> {
        let mut found = Violations::new();
        read_fields! { pb, found; lease = lease, identity = identity }
        Ok((lease, identity))
    }
}

impl Wire<Option<v1::LeaseContender>> for (LeaseKey, HolderIdentity) {
    fn to_wire(&self) -> Option<v1::LeaseContender> {
        Some(self.to_wire())
    }

    fn of_wire(pb: Option<v1::LeaseContender>) -> Result<Self, Violations> {
        Self::of_wire(required(pb, "must say who stands, and for which lease")?)
    }
}

/// A lease and its fencing token. The cluster that gave the token is converted separately.
impl Wire<v1::LeaseToken> for (LeaseKey, FencingToken) {
    fn to_wire(&self) -> v1::LeaseToken {
        v1::LeaseToken {
            lease: self.0.to_wire(),
            token: self.1.to_wire(),
            cluster_id: String::new(),
        }
    }

    fn of_wire(pb: v1::LeaseToken) -> Result<Self, Violations> {
        let mut found = Violations::new();
        read_fields! { pb, found; lease = lease, token = token }
        Ok((lease, token))
    }
}

/// One renewal of a stream: a lease's or a candidate's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseRenewal {
    /// A lease.
    Lease {
        /// The typed request.
        renew: RenewLease,
        /// The cluster that gave the token. `None`: the caller does not say, so it is not checked.
        cluster: Option<ClusterId>,
    },
    /// A candidate.
    Candidate(RenewLeaseCandidate),
}

impl LeaseRenewal {
    /// Checks that this cluster gave the token.
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
            LeaseRenewal::Lease { renew, cluster } => What::Lease(v1::LeaseToken {
                cluster_id: cluster.to_wire(),
                ..(renew.key.clone(), renew.token).to_wire()
            }),
            LeaseRenewal::Candidate(renew) => {
                What::Candidate((renew.key.clone(), renew.identity.clone()).to_wire())
            }
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
                let cluster = cluster_of("lease", Some(&pb.cluster_id), &mut found);
                let held = found.parsed("lease", Wire::of_wire(pb));
                held.map(|(key, token)| Self::Lease {
                    renew: RenewLease { key, token },
                    cluster,
                })
            }
            Some(What::Candidate(pb)) => {
                let stood = found.parsed("candidate", Wire::of_wire(pb));
                stood.map(|(key, identity)| Self::Candidate(RenewLeaseCandidate { key, identity }))
            }
        };
        match renewal {
            Some(renewal) => sound(renewal, found),
            None => Err(found),
        }
    }
}
