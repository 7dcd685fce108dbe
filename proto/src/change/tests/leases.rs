use proptest::option;
use proptest::prelude::*;
use prost::Message;
use synod_model::{
    AcquireLease, ErrorKind, PutLeaseCandidate, ReleaseLease, RenewLease, RenewLeaseCandidate,
    WithdrawLeaseCandidate,
};

use super::{carried, change, faults};
use crate::{Change, LeaseRenewal, samples, v1};

fn acquire() -> impl Strategy<Value = AcquireLease> {
    let wants = (samples::lease_key(), samples::holder(), samples::ttl());
    let under = (
        option::of(samples::ttl()),
        option::of((samples::member_id(), samples::epoch())),
    );
    (wants, under).prop_map(|((key, holder, ttl), (wait, if_member))| AcquireLease {
        key,
        holder,
        ttl,
        wait,
        if_member,
    })
}

fn release() -> impl Strategy<Value = ReleaseLease> {
    let token = option::of(samples::fencing_token());
    (samples::lease_key(), samples::holder(), token).prop_map(|(key, holder, token)| ReleaseLease {
        key,
        holder,
        token,
    })
}

fn put() -> impl Strategy<Value = PutLeaseCandidate> {
    let who = (samples::lease_key(), samples::holder(), samples::ttl());
    let versions = (samples::semantic_version(), samples::semantic_version());
    (who, versions, samples::strategy()).prop_map(
        |((key, identity, ttl), (one, other), strategy)| PutLeaseCandidate {
            key,
            identity,
            emulation_version: Some(one.clone().min(other.clone())),
            binary_version: one.max(other),
            strategy,
            ttl,
        },
    )
}

fn renewal() -> impl Strategy<Value = LeaseRenewal> {
    let lease = (
        samples::lease_key(),
        samples::fencing_token(),
        option::of(samples::cluster()),
    );
    prop_oneof![
        lease.prop_map(|(key, token, cluster)| LeaseRenewal::Lease {
            renew: RenewLease { key, token },
            cluster,
        }),
        (samples::lease_key(), samples::holder())
            .prop_map(|(key, identity)| RenewLeaseCandidate { key, identity })
            .prop_map(LeaseRenewal::Candidate),
    ]
}

proptest! {
    #[test]
    fn an_acquisition_is_carried_whole(change in change(acquire(), true)) {
        // A cluster is named with the epoch that it gave, or not at all.
        let epoch_cluster = change.epoch_cluster.filter(|_| change.body.if_member.is_some());
        let change = Change { epoch_cluster, ..change };
        prop_assert_eq!(carried::<_, v1::LeasesAcquireRequest>(&change).unwrap(), change);
    }

    #[test]
    fn a_release_is_carried_whole(change in change(release(), false)) {
        prop_assert_eq!(carried::<_, v1::LeasesReleaseRequest>(&change).unwrap(), change);
    }

    #[test]
    fn a_candidacy_is_carried_whole(change in change(put(), false)) {
        prop_assert_eq!(carried::<_, v1::LeasesPutCandidateRequest>(&change).unwrap(), change);
    }

    #[test]
    fn a_withdrawal_is_carried_whole(
        change in change(
            (samples::lease_key(), samples::holder())
                .prop_map(|(key, identity)| WithdrawLeaseCandidate { key, identity }),
            false,
        ),
    ) {
        prop_assert_eq!(carried::<_, v1::LeasesWithdrawCandidateRequest>(&change).unwrap(), change);
    }

    #[test]
    fn a_renewal_of_a_lease_or_candidate_is_carried_whole(renewal in renewal()) {
        let sent = v1::LeasesRenewRequest::of(&renewal, 7).encode_to_vec();
        let received = v1::LeasesRenewRequest::decode(sent.as_slice()).unwrap();
        prop_assert_eq!(LeaseRenewal::try_from(received).unwrap(), renewal);
    }

    #[test]
    fn a_token_of_another_cluster_is_refused(renewal in renewal(), present in samples::cluster()) {
        let foreign = match &renewal {
            LeaseRenewal::Lease { cluster: Some(cluster), .. } => *cluster != present,
            LeaseRenewal::Lease { cluster: None, .. } | LeaseRenewal::Candidate(_) => false,
        };
        let refused = renewal.check_cluster(present).map_err(|refusal| refusal.kind);
        prop_assert_eq!(refused, if foreign { Err(ErrorKind::StaleEpoch) } else { Ok(()) });
    }
}

#[test]
fn every_fault_of_a_request_about_leases_is_named() {
    let acquire = v1::LeasesAcquireRequest {
        lease: Some(v1::LeaseKey {
            namespace: "a.b".to_owned(),
            name: "-".to_owned(),
        }),
        ttl_ms: Some(999),
        wait_ms: Some(86_400_001),
        if_member: Some(v1::MemberEpoch::default()),
        ..v1::LeasesAcquireRequest::default()
    };
    assert_eq!(
        faults(Change::<AcquireLease>::try_from(acquire)),
        [
            "lease.namespace",
            "lease.name",
            "holder",
            "ttlMs",
            "waitMs",
            "ifMember.member",
            "ifMember.epoch"
        ]
    );
    let release = v1::LeasesReleaseRequest {
        token: Some(0),
        ..v1::LeasesReleaseRequest::default()
    };
    assert_eq!(
        faults(Change::<ReleaseLease>::try_from(release)),
        ["lease", "holder", "token"]
    );
    let put = v1::LeasesPutCandidateRequest {
        binary_version: "new".to_owned(),
        emulation_version: "old".to_owned(),
        strategy: "Newest".to_owned(),
        ttl_ms: Some(0),
        ..v1::LeasesPutCandidateRequest::default()
    };
    assert_eq!(
        faults(Change::<PutLeaseCandidate>::try_from(put)),
        [
            "candidate",
            "binaryVersion",
            "emulationVersion",
            "strategy",
            "ttlMs"
        ]
    );
    assert_eq!(
        faults(LeaseRenewal::try_from(v1::LeasesRenewRequest::default())),
        ["what"]
    );
}

#[test]
fn a_candidate_that_leaves_out_its_strategy_has_kubernetes_own() {
    let put = v1::LeasesPutCandidateRequest {
        candidate: Some(v1::LeaseContender {
            lease: Some(v1::LeaseKey {
                namespace: "kube-system".to_owned(),
                name: "scheduler".to_owned(),
            }),
            identity: "a".to_owned(),
        }),
        binary_version: "1.33.0".to_owned(),
        ..v1::LeasesPutCandidateRequest::default()
    };
    assert_eq!(
        faults(Change::<PutLeaseCandidate>::try_from(put.clone())),
        ["emulationVersion"]
    );
    let put = v1::LeasesPutCandidateRequest {
        emulation_version: "1.32.0".to_owned(),
        ..put
    };
    let change = Change::<PutLeaseCandidate>::try_from(put).unwrap();
    assert_eq!(change.body.strategy.as_str(), "OldestEmulationVersion");
}
