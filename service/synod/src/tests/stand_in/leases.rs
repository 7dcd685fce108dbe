//! Leases, as a replica of the fixture answers them.

use synod_proto::v1;

use super::{DAY, HOUR, MINUTE, NOW_MS, header, metadata};

/// One that another waits for, one that a candidate should have, and one that is free.
pub(super) fn leases() -> v1::LeasesListResponse {
    v1::LeasesListResponse {
        header: Some(header()),
        items: vec![waited_for(), preferred(), free()],
        continue_token: String::new(),
    }
}

/// The first of them.
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
