//! Judgements of what was found, without a cluster.

use std::time::Duration;

use synod_client::{
    Alarm, AlarmKind, ClusterId, ClusterStatus, ErrorKind, Header, LogTime, ReplicaRole,
    ReplicaStatus, ReplicaVitals, Revision, WallTime,
};
use synod_tls::{ShownCertificate, Validities, Validity};

use super::super::found::{Answered, EndpointFound, Found, Shown, Unanswered};
use super::{Finding, Verdict, judge};

const NOW_MS: u64 = 1_764_000_000_000;
const DAY: i64 = 86_400;

fn now_seconds() -> i64 {
    i64::try_from(NOW_MS / 1_000).unwrap()
}

/// What a healthy cluster of three looks like from a client with certificates.
fn healthy() -> Found {
    Found {
        now: WallTime::from_millis(NOW_MS),
        own: Some(Ok(Validities {
            certificate: Some(for_days(300)),
            trusted_ca: Some(for_days(3_000)),
        })),
        endpoints: [1, 2, 3].map(endpoint).into(),
    }
}

fn for_days(days: i64) -> Validity {
    Validity {
        from: now_seconds() - 60 * DAY,
        until: now_seconds() + days * DAY,
    }
}

fn endpoint(id: u64) -> EndpointFound {
    let millis = Duration::from_millis;
    EndpointFound {
        endpoint: format!("10.0.0.{id}:4600"),
        connected: Ok(millis(1)),
        shown: Some(Shown {
            certificate: Some(ShownCertificate {
                subject: "CN=server".to_owned(),
                issuer: "CN=server CA".to_owned(),
                names: vec![format!("10.0.0.{id}")],
                validity: for_days(300),
            }),
            agreed: Ok(()),
        }),
        answer: Some(Ok(Answered {
            status: status(id),
            asked: WallTime::from_millis(NOW_MS),
            round_trip: millis(4),
        })),
        read: Some(Ok(millis(3))),
        readiness: Some(Ok("[+]quorum ok\nreadyz check passed\n".to_owned())),
    }
}

fn status(id: u64) -> ClusterStatus {
    ClusterStatus {
        header: Header {
            cluster: ClusterId::from_bytes([7; 16]),
            replica_id: id,
            revision: Revision::new(90),
            raft_term: 3,
            age: None,
        },
        cluster_name: "prod".to_owned(),
        version: "0.1.0".to_owned(),
        machine_version: 1,
        leader_id: Some(2),
        replicas: [1, 2, 3].map(replica).into(),
        log_time: LogTime::from_millis(1_000),
        applied_index: 5_000,
        digest: "aa".to_owned(),
        digest_index: 5_000,
        oldest_revision: Revision::new(1),
        oldest_upgrade_revision: Revision::new(1),
        alarms: Vec::new(),
        vitals: Some(vitals()),
    }
}

fn replica(id: u64) -> ReplicaStatus {
    ReplicaStatus {
        replica_id: id,
        peer_address: format!("10.0.0.{id}:4610"),
        client_address: format!("10.0.0.{id}:4600"),
        directory_id: format!("{id:032x}"),
        role: ReplicaRole::Voter,
        version: "0.1.0".to_owned(),
        machine_version: 1,
        applied_index: None,
        matched_index: Some(5_000),
    }
}

fn vitals() -> ReplicaVitals {
    ReplicaVitals {
        wall_time: WallTime::from_millis(NOW_MS + 2),
        log_flushes: 128,
        log_flush_us_median: 400,
        log_flush_us_max: 2_000,
        state_bytes: 10,
        state_quota_bytes: 1_000,
        members: 3,
        members_max: 500,
        sessions: 4,
        sessions_max: 1_000,
        storage_versions: 9,
        disagreements: 0,
    }
}

/// Changes what the replica of this id said.
fn said(found: &mut Found, id: usize, change: impl FnOnce(&mut ClusterStatus)) {
    match &mut found.endpoints[id - 1].answer {
        Some(Ok(answered)) => change(&mut answered.status),
        _ => panic!("it answered"),
    }
}

/// The replica of this id is not reached.
fn down(found: &mut Found, id: usize) {
    let endpoint = &mut found.endpoints[id - 1];
    *endpoint = EndpointFound {
        endpoint: endpoint.endpoint.clone(),
        connected: Err("Connection refused".to_owned()),
        shown: None,
        answer: None,
        read: None,
        readiness: None,
    };
}

/// What is not as it should be, as `verdict check place`.
fn bad(found: &Found) -> Vec<String> {
    let findings = judge(found).into_iter();
    let bad = findings.filter(|finding| finding.verdict != Verdict::Ok);
    bad.map(|it| format!("{} {} {}", it.verdict.as_str(), it.check, it.place))
        .collect()
}

fn finding(found: &Found, check: &str, place: &str) -> Finding {
    let mut findings = judge(found).into_iter();
    findings
        .find(|finding| finding.check == check && finding.place == place)
        .unwrap_or_else(|| panic!("nothing was said of {check} {place}"))
}

// Guarantee: F-03
#[test]
fn a_healthy_cluster_has_no_finding_that_is_not_ok_and_everything_was_looked_at() {
    let findings = judge(&healthy());
    assert_eq!(bad(&healthy()), [""; 0]);
    for check in [
        "client-certificate",
        "trusted-ca",
        "reachable",
        "certificate",
        "answers",
        "reads",
        "ready",
        "cluster",
        "quorum",
        "leader",
        "follows",
        "digest",
        "version",
        "machine-version",
        "alarm",
        "clock",
        "disk",
        "bounds",
    ] {
        assert!(findings.iter().any(|it| it.check == check), "no {check}");
    }
}

#[test]
fn what_is_not_ok_says_what_to_do() {
    let mut found = healthy();
    down(&mut found, 1);
    down(&mut found, 3);
    said(&mut found, 2, |status| {
        status.leader_id = None;
        status.replicas[0].matched_index = None;
        status.vitals = None;
    });
    for finding in judge(&found) {
        if finding.verdict != Verdict::Ok {
            assert!(!finding.advice.is_empty(), "{finding:?}");
        }
    }
}

#[test]
fn one_replica_of_three_that_is_down_is_a_fault_of_its_own_and_a_warning_for_the_quorum() {
    let mut found = healthy();
    down(&mut found, 3);
    said(&mut found, 2, |status| {
        status.replicas[2].matched_index = Some(900)
    });
    let expected = [
        "fault reachable 10.0.0.3:4600",
        "warning quorum cluster",
        "warning follows replica 3",
    ];
    assert_eq!(bad(&found), expected);
    let lag = finding(&found, "follows", "replica 3").what;
    assert!(lag.contains("4100 behind"), "{lag}");
}

#[test]
fn without_a_quorum_nobody_knows_a_leader_and_no_read_is_answered() {
    let mut found = healthy();
    down(&mut found, 2);
    down(&mut found, 3);
    said(&mut found, 1, |status| {
        status.leader_id = None;
        for replica in &mut status.replicas {
            replica.matched_index = None;
        }
        status.alarms = vec![Alarm {
            kind: AlarmKind::NoQuorum,
            replica_id: None,
            message: "no leader".to_owned(),
        }];
    });
    found.endpoints[0].read = Some(Err(Unanswered {
        kind: ErrorKind::Unavailable,
        message: "no leader is known".to_owned(),
    }));
    let bad = bad(&found);
    for expected in [
        "fault reads 10.0.0.1:4600",
        "fault quorum cluster",
        "fault leader cluster",
        "fault follows replica 2",
        "fault alarm cluster",
    ] {
        assert!(bad.iter().any(|it| it == expected), "{expected}: {bad:?}");
    }
}

#[test]
fn a_leader_that_is_named_and_does_not_answer_is_a_warning() {
    let mut found = healthy();
    down(&mut found, 2);
    let told = finding(&found, "leader", "cluster");
    assert_eq!(told.verdict, Verdict::Warning);
    assert_eq!(
        told.what,
        "replica 2, says 1, 3, and that one does not answer"
    );
}

#[test]
fn nobody_who_answers_is_a_fault_and_nothing_else_is_said_of_the_cluster() {
    let mut found = healthy();
    for id in 1..=3 {
        down(&mut found, id);
    }
    let bad = bad(&found);
    assert_eq!(bad.len(), 4, "{bad:?}");
    assert_eq!(bad[3], "fault quorum cluster");
}

#[test]
fn replicas_that_name_different_leaders_are_told_apart() {
    let mut found = healthy();
    said(&mut found, 3, |status| status.leader_id = Some(1));
    let told = finding(&found, "leader", "cluster");
    assert_eq!(told.verdict, Verdict::Fault);
    assert_eq!(told.what, "replica 1 by 3; replica 2 by 1, 2");
}

#[test]
fn certificates_that_expire_or_are_of_others_are_told_with_what_they_say() {
    let mut found = healthy();
    let shown = |found: &mut Found, id: usize, days: i64, agreed: Result<(), String>| {
        let endpoint = &mut found.endpoints[id - 1];
        let shown = endpoint.shown.as_mut().unwrap();
        shown.certificate.as_mut().unwrap().validity = for_days(days);
        if agreed.is_err() {
            endpoint.answer = Some(Err(Unanswered {
                kind: ErrorKind::Unavailable,
                message: "transport error".to_owned(),
            }));
            (endpoint.read, endpoint.readiness) = (None, None);
        }
        shown.agreed = agreed;
    };
    shown(&mut found, 1, 3, Ok(()));
    shown(&mut found, 2, -2, Err("certificate expired".to_owned()));
    shown(&mut found, 3, 300, Err("UnknownIssuer".to_owned()));
    let of = |id: u64| finding(&found, "certificate", &format!("10.0.0.{id}:4600"));
    let [soon, expired, foreign] = [1, 2, 3].map(of);
    assert_eq!(soon.verdict, Verdict::Warning);
    assert!(soon.what.contains("expires in 3d"), "{}", soon.what);
    assert_eq!(expired.verdict, Verdict::Fault);
    assert!(expired.what.contains("expired 2d ago"), "{}", expired.what);
    assert_eq!(foreign.verdict, Verdict::Fault);
    assert!(foreign.what.contains("CN=server CA"), "{}", foreign.what);
    assert!(foreign.advice.contains("--cacert"), "{}", foreign.advice);
    // Why a call failed is told once.
    let answers = judge(&found).into_iter().filter(|it| it.check == "answers");
    assert_eq!(answers.count(), 1);
}

#[test]
fn files_of_this_client_that_expire_or_cannot_be_used_are_told() {
    let mut found = healthy();
    found.own = Some(Ok(Validities {
        certificate: Some(for_days(-1)),
        trusted_ca: Some(for_days(2)),
    }));
    let expected = [
        "fault client-certificate client",
        "warning trusted-ca client",
    ];
    assert_eq!(bad(&found), expected);
    found.own = Some(Err("the CA bundle ca.pem cannot be read".to_owned()));
    assert_eq!(bad(&found), ["fault client-certificate client"]);
}

#[test]
fn clocks_are_apart_only_by_what_the_time_of_the_call_does_not_explain() {
    let mut found = healthy();
    let mut told = |milliseconds: i64| {
        said(&mut found, 1, |status| {
            let vitals = status.vitals.as_mut().unwrap();
            vitals.wall_time = WallTime::from_millis(NOW_MS.saturating_add_signed(milliseconds));
        });
        finding(&found, "clock", "replica 1")
    };
    // The call took 4 ms.
    assert_eq!(told(1_004).verdict, Verdict::Ok);
    let ahead = told(1_005);
    assert_eq!(ahead.verdict, Verdict::Warning);
    assert!(ahead.what.contains("1001 ms ahead of"), "{}", ahead.what);
    let behind = told(-5_000);
    assert!(behind.what.contains("5000 ms behind"), "{}", behind.what);
}

#[test]
fn slow_disks_slow_reads_and_bounds_that_are_near_are_warnings() {
    let mut found = healthy();
    said(&mut found, 1, |status| {
        let vitals = status.vitals.as_mut().unwrap();
        vitals.log_flush_us_median = 10_001;
        vitals.members = 400;
    });
    said(&mut found, 2, |status| {
        status.vitals.as_mut().unwrap().log_flush_us_max = 200_001;
    });
    found.endpoints[2].read = Some(Ok(Duration::from_millis(251)));
    let expected = [
        "warning reads 10.0.0.3:4600",
        "warning disk replica 1",
        "warning bounds replica 1",
        "warning disk replica 2",
    ];
    assert_eq!(bad(&found), expected);
    let bounds = finding(&found, "bounds", "replica 1").what;
    assert_eq!(bounds, "400 of members_max=500");
}

#[test]
fn digests_count_only_at_one_log_index() {
    let mut found = healthy();
    said(&mut found, 3, |status| {
        status.digest = "bb".to_owned();
        status.digest_index = 5_001;
    });
    assert_eq!(finding(&found, "digest", "cluster").verdict, Verdict::Ok);
    said(&mut found, 3, |status| status.digest_index = 5_000);
    assert_eq!(finding(&found, "digest", "cluster").verdict, Verdict::Fault);
}

#[test]
fn learners_and_other_versions_are_warnings() {
    let mut found = healthy();
    said(&mut found, 2, |status| {
        status.replicas[2].role = ReplicaRole::Learner;
        status.replicas[0].version = "0.2.0".to_owned();
        status.replicas[0].machine_version = 2;
    });
    let expected = [
        "warning follows replica 3",
        "warning version cluster",
        "warning machine-version cluster",
    ];
    assert_eq!(bad(&found), expected);
}

#[test]
fn an_alarm_is_told_once_and_is_a_fault_if_something_is_refused_over_it() {
    let mut found = healthy();
    for id in 1..=3 {
        said(&mut found, id, |status| {
            let alarm = |kind, replica_id| Alarm {
                kind,
                replica_id,
                message: "look at it".to_owned(),
            };
            status.alarms = vec![
                alarm(AlarmKind::DiskFull, Some(2)),
                alarm(AlarmKind::Audit, Some(1)),
            ];
        });
    }
    assert_eq!(
        bad(&found),
        ["fault alarm replica 2", "warning alarm replica 1"]
    );
}

#[test]
fn endpoints_of_two_clusters_are_a_fault() {
    let mut found = healthy();
    said(&mut found, 3, |status| {
        status.cluster_name = "test".to_owned()
    });
    assert_eq!(
        finding(&found, "cluster", "cluster").verdict,
        Verdict::Fault
    );
}
