//! The leases of the fixture.

use synod_proto::v1;

use super::{DAY, HOUR, MINUTE, NOW_MS, event, events as message, header, histories, metadata};

/// A lease with a waiting holder, one that a candidate should have, and a free one.
pub(super) fn leases() -> v1::LeasesListResponse {
    v1::LeasesListResponse {
        header: Some(header()),
        items: vec![waited_for(), preferred(), free()],
        continue_token: String::new(),
        inconsistent: false,
    }
}

/// The first lease.
pub(super) fn lease() -> v1::LeasesGetResponse {
    let item = waited_for();
    v1::LeasesGetResponse {
        header: Some(header()),
        lease: item.lease,
        remaining_ms: item.remaining_ms,
        waiting: item.waiting,
        waiters: vec![v1::LeaseWaiter {
            holder: "host-c".to_owned(),
            ticket: 46,
        }],
    }
}

/// The candidate for the second lease, which does not hold it yet.
pub(super) fn candidates() -> v1::LeasesListCandidatesResponse {
    v1::LeasesListCandidatesResponse {
        header: Some(header()),
        items: vec![v1::LeaseCandidateItem {
            candidate: Some(candidate()),
            remaining_ms: Some(9_000),
        }],
        continue_token: String::new(),
        inconsistent: false,
    }
}

fn candidate() -> v1::LeaseCandidate {
    v1::LeaseCandidate {
        metadata: Some(named("kube-system", "scheduler-a", 42, MINUTE)),
        lease: Some(v1::LeaseKey {
            namespace: "kube-system".to_owned(),
            name: "scheduler".to_owned(),
        }),
        binary_version: "1.33.0".to_owned(),
        emulation_version: "1.32.0".to_owned(),
        strategy: "OldestEmulationVersion".to_owned(),
        ttl_ms: 15_000,
    }
}

/// A snapshot is taken, a lease is held, and a candidate is removed.
pub(super) fn events() -> v1::WatchResponse {
    let snapshot = v1::Event {
        namespace: "team-a".to_owned(),
        ..event(
            v1::EventType::Added,
            v1::ObjectKind::ControllerRevision,
            "web-5b7d4c",
            v1::event::Object::ControllerRevision(histories::newer()),
        )
    };
    let lease = waited_for().lease.unwrap();
    let lease = v1::Event {
        namespace: "default".to_owned(),
        ..event(
            v1::EventType::Modified,
            v1::ObjectKind::Lease,
            "backup",
            v1::event::Object::Lease(lease),
        )
    };
    let candidate = v1::Event {
        namespace: "kube-system".to_owned(),
        ..event(
            v1::EventType::Removed,
            v1::ObjectKind::LeaseCandidate,
            "scheduler-a",
            v1::event::Object::LeaseCandidate(candidate()),
        )
    };
    message(49, vec![snapshot, lease, candidate])
}

fn waited_for() -> v1::LeaseListItem {
    let hold = v1::LeaseHold {
        holder: "host-b".to_owned(),
        token: 45,
        ticket: Some(43),
        ttl_ms: 15_000,
        member: None,
        acquired_ms: NOW_MS - MINUTE,
    };
    v1::LeaseListItem {
        lease: Some(v1::Lease {
            metadata: Some(named("default", "backup", 12, HOUR)),
            hold: Some(hold),
            transitions: 3,
            preferred_holder: String::new(),
        }),
        remaining_ms: Some(11_200),
        waiting: Some(1),
    }
}

fn preferred() -> v1::LeaseListItem {
    let member = v1::MemberEpoch {
        member: "server-a".to_owned(),
        epoch: 7,
        cluster_id: header().cluster_id,
    };
    let hold = v1::LeaseHold {
        holder: "scheduler-b".to_owned(),
        token: 21,
        ticket: None,
        ttl_ms: 30_000,
        member: Some(member),
        acquired_ms: NOW_MS - HOUR,
    };
    v1::LeaseListItem {
        lease: Some(v1::Lease {
            metadata: Some(named("kube-system", "scheduler", 20, 3 * DAY)),
            hold: Some(hold),
            transitions: 0,
            preferred_holder: "scheduler-a".to_owned(),
        }),
        remaining_ms: Some(28_000),
        waiting: Some(0),
    }
}

fn free() -> v1::LeaseListItem {
    v1::LeaseListItem {
        lease: Some(v1::Lease {
            metadata: Some(named("ops", "upgrade", 30, MINUTE)),
            hold: None,
            transitions: 1,
            preferred_holder: String::new(),
        }),
        remaining_ms: None,
        waiting: Some(0),
    }
}

fn named(namespace: &str, name: &str, number: u64, age_ms: u64) -> v1::Metadata {
    v1::Metadata {
        namespace: namespace.to_owned(),
        ..metadata(name, number, age_ms)
    }
}
