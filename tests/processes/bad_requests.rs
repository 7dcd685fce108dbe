//! Requests that break a rule: every replica must refuse each with its kind, its fields and their rules, and store
//! nothing.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};

use synod_client::ErrorKind;
use synod_proto::v1;
use tonic::Status;

use crate::agreement::agree;
use crate::cluster::{Cluster, IDS};
use crate::requests::{Wire, refusal, timely};

/// A join that breaks no rule.
pub(crate) fn legal_join(id: &str) -> v1::MembershipJoinRequest {
    v1::MembershipJoinRequest {
        id: id.to_owned(),
        instance: "instance".to_owned(),
        ttl_ms: Some(600_000),
        ..v1::MembershipJoinRequest::default()
    }
}

/// An entry that breaks no rule.
pub(crate) fn legal_entry(resource: &str) -> v1::ReportEntry {
    v1::ReportEntry {
        resource: Some(v1::GroupResource {
            group: "example.com".to_owned(),
            resource: resource.to_owned(),
        }),
        kind: "Thing".to_owned(),
        decodable_versions: vec!["v1".to_owned(), "v2".to_owned()],
        served_versions: vec!["v1".to_owned()],
        stance: Some(v1::report_entry::Stance::EncodingVersion("v1".to_owned())),
        serve_until_ms: None,
        stored: v1::StoredIn::Outside.into(),
        equivalents: Vec::new(),
    }
}

/// The next statement number, shared by all members in these tests, since it must grow.
static SAID: AtomicU64 = AtomicU64::new(1);

/// A report of these entries, beside the entries that the member has already reported.
pub(crate) fn report_of(
    member: &v1::MemberEpoch,
    entries: Vec<v1::ReportEntry>,
) -> v1::StorageVersionsReportRequest {
    v1::StorageVersionsReportRequest {
        member: Some(member.clone()),
        number: SAID.fetch_add(1, Ordering::Relaxed),
        entries,
        ..v1::StorageVersionsReportRequest::default()
    }
}

/// Joins a member without a session, and returns the epoch that it speaks under.
pub(crate) async fn speaker(cluster: &Cluster, id: &str) -> v1::MemberEpoch {
    let join = v1::MembershipJoinRequest {
        instance: format!("first-{id}"),
        ..legal_join(id)
    };
    let wire = Wire::to(&cluster.endpoint(1));
    let joined = wire.membership().join(timely(join)).await;
    v1::MemberEpoch {
        member: id.to_owned(),
        epoch: joined.expect("a member is let in").into_inner().epoch,
        cluster_id: String::new(),
    }
}

/// The faults that a refusal must name: the fields, each with a part of its rule.
type Faults = &'static [(&'static str, &'static str)];

/// Checks that a call was refused for exactly these fields, each with its rule.
pub(crate) fn check_faults<T: Debug>(answer: Result<T, Status>, faults: &[(&str, &str)]) {
    let refused = refusal(answer);
    assert_eq!(refused.kind, ErrorKind::InvalidArgument, "{refused:?}");
    let named: BTreeSet<&str> = refused
        .violations
        .iter()
        .map(|violation| violation.field.as_str())
        .collect();
    assert_eq!(
        named,
        faults.iter().map(|(field, _)| *field).collect(),
        "{refused:?}"
    );
    for (field, rule) in faults {
        let mut of_field = refused.violations.iter().filter(|v| v.field == *field);
        assert!(
            of_field.any(|v| v.rule.contains(rule)),
            "{field}: {rule}: {refused:?}"
        );
    }
}

/// Joins, each of which breaks some rules.
fn illegal_joins() -> Vec<(v1::MembershipJoinRequest, Faults)> {
    let with = |change: &dyn Fn(&mut v1::MembershipJoinRequest)| {
        let mut join = legal_join("server");
        change(&mut join);
        join
    };
    let label = |join: &mut v1::MembershipJoinRequest, key: &str, value: &str| {
        join.labels.insert(key.to_owned(), value.to_owned());
    };
    vec![
        (
            with(&|join| join.id.clear()),
            &[("id", "a lowercase RFC 1123 subdomain must consist of")],
        ),
        (
            with(&|join| join.id = "Upper_Case".to_owned()),
            &[(
                "id",
                "Invalid value: \"Upper_Case\": a lowercase RFC 1123 subdomain",
            )],
        ),
        (
            with(&|join| join.instance.clear()),
            &[("instance", "must be 1 to 64 characters")],
        ),
        (
            with(&|join| join.instance = "a b".to_owned()),
            &[("instance", "must be 1 to 64 characters of letters")],
        ),
        (
            with(&|join| join.version = "v1\u{1b}[2J".to_owned()),
            &[("version", "must not contain control characters")],
        ),
        (
            with(&|join| join.endpoint = "a\nb".to_owned()),
            &[("endpoint", "must not contain control characters")],
        ),
        (
            with(&|join| join.lost_epoch = Some(0)),
            &[("lostEpoch", "")],
        ),
        (
            with(&|join| label(join, "-", "")),
            &[("labels", "name part must consist of")],
        ),
        (
            with(&|join| label(join, "zone", "no spaces")),
            &[("labels[zone]", "a valid label must be an empty string or")],
        ),
        (
            with(&|join| {
                join.request_id = Some(v1::RequestId::default());
                join.id = "-".to_owned();
                join.instance = " ".to_owned();
                join.ttl_ms = Some(1);
            }),
            &[
                ("requestId.session", ""),
                ("requestId.sequence", "must be at least 1"),
                ("requestId.lowestUnanswered", "must be at least 1"),
                ("id", "RFC 1123"),
                ("instance", "must be 1 to 64 characters"),
                ("ttlMs", "must be between 1000 and 86400000 milliseconds"),
            ],
        ),
    ]
}

/// A legal entry with something changed.
fn with(change: &dyn Fn(&mut v1::ReportEntry)) -> v1::ReportEntry {
    let mut entry = legal_entry("things");
    change(&mut entry);
    entry
}

/// Entries, each of which breaks a rule about names.
fn misnamed_entries() -> Vec<(v1::ReportEntry, Faults)> {
    let resource = |group: &str, resource: &str| {
        Some(v1::GroupResource {
            group: group.to_owned(),
            resource: resource.to_owned(),
        })
    };
    vec![
        (
            with(&|entry| entry.resource = None),
            &[("entries[0].resource.resource", "Required value")],
        ),
        (
            with(&|entry| entry.resource = resource("apps", "Things")),
            &[("entries[0].resource.resource", "DNS-1035 label")],
        ),
        (
            with(&|entry| entry.resource = resource("core", "things")),
            &[(
                "entries[0].resource.group",
                "the core group is written as the empty string",
            )],
        ),
        (
            with(&|entry| entry.resource = resource("-", "1")),
            &[
                ("entries[0].resource.group", "RFC 1123 subdomain"),
                ("entries[0].resource.resource", "DNS-1035 label"),
            ],
        ),
        (
            with(&|entry| entry.kind = "My-Kind".to_owned()),
            &[(
                "entries[0].kind",
                "must be a letter followed by letters and digits",
            )],
        ),
    ]
}

/// Entries, each of which breaks a rule about versions.
fn misversioned_entries() -> Vec<(v1::ReportEntry, Faults)> {
    let encodes = |version: &str| {
        Some(v1::report_entry::Stance::EncodingVersion(
            version.to_owned(),
        ))
    };
    let prefers = |version: &str| {
        Some(v1::report_entry::Stance::PreferredVersion(
            version.to_owned(),
        ))
    };
    vec![
        (
            with(&|entry| entry.decodable_versions[1] = "V1/".to_owned()),
            &[(
                "entries[0].decodableVersions[1]",
                "version part: must be non-empty",
            )],
        ),
        (
            with(&|entry| entry.decodable_versions[1] = "a/b/c".to_owned()),
            &[(
                "entries[0].decodableVersions[1]",
                "with an optional DNS subdomain prefix",
            )],
        ),
        (
            with(&|entry| entry.stance = None),
            &[(
                "entries[0]",
                "must have an encodingVersion or a preferredVersion",
            )],
        ),
        (
            with(&|entry| entry.stance = encodes("v3")),
            &[(
                "entries[0].decodableVersions",
                "must include encodingVersion v3",
            )],
        ),
        (
            with(&|entry| entry.stance = prefers("v3")),
            &[(
                "entries[0].decodableVersions",
                "must include preferredVersion v3",
            )],
        ),
        (
            with(&|entry| entry.served_versions = vec!["v3".to_owned()]),
            &[(
                "entries[0].servedVersions[0]",
                "must be included in decodableVersions : [v1 v2]",
            )],
        ),
    ]
}

// Guarantee: M-13, TM-21
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_breaks_a_rule_is_refused_by_its_fields_and_stores_nothing() {
    let cluster = Cluster::start().await;
    let member = speaker(&cluster, "speaker").await;
    let before = agree(&cluster).await;
    for id in IDS {
        let wire = Wire::to(&cluster.endpoint(id));
        for (request, faults) in illegal_joins() {
            check_faults(wire.membership().join(timely(request)).await, faults);
        }
        for (entry, faults) in [misnamed_entries(), misversioned_entries()].concat() {
            let request = report_of(&member, vec![entry]);
            check_faults(
                wire.storage_versions().report(timely(request)).await,
                faults,
            );
        }
        let twice = report_of(&member, vec![legal_entry("things"), legal_entry("things")]);
        check_faults(
            wire.storage_versions().report(timely(twice)).await,
            &[(
                "entries[1].resource",
                "Duplicate value: \"things.example.com\"",
            )],
        );
        check_speakers(&wire).await;
        check_others(&wire).await;
    }
    assert_eq!(agree(&cluster).await, before);
    cluster.finish().await;
}

/// Checks that every request of a member is refused unless it says which member speaks.
async fn check_speakers(wire: &Wire) {
    let bad = |member: &str, epoch, cluster_id: &str| {
        Some(v1::MemberEpoch {
            member: member.to_owned(),
            epoch,
            cluster_id: cluster_id.to_owned(),
        })
    };
    let speakers: [(_, Faults); 3] = [
        (
            None,
            &[("member", "must say who speaks, and under which epoch")],
        ),
        (
            bad("-", 0, ""),
            &[("member.member", "RFC 1123"), ("member.epoch", "")],
        ),
        (bad("some", 1, "x"), &[("member.clusterId", "")]),
    ];
    for (member, faults) in speakers {
        let report = v1::StorageVersionsReportRequest {
            member: member.clone(),
            number: 1,
            ..v1::StorageVersionsReportRequest::default()
        };
        check_faults(wire.storage_versions().report(timely(report)).await, faults);
        let ready = v1::MembershipReadyRequest {
            member: member.clone(),
            ..v1::MembershipReadyRequest::default()
        };
        check_faults(wire.membership().ready(timely(ready)).await, faults);
        let leave = v1::MembershipLeaveRequest {
            member: member.clone(),
            ..v1::MembershipLeaveRequest::default()
        };
        check_faults(wire.membership().leave(timely(leave)).await, faults);
        let adopt = v1::StorageVersionsAdoptRequest {
            member,
            ..v1::StorageVersionsAdoptRequest::default()
        };
        let mut all = faults.to_vec();
        all.push(("number", "must be at least 1"));
        all.push(("resource", "must name a resource"));
        all.push((
            "selectedRevision",
            "must be the selected revision that is adopted",
        ));
        check_faults(wire.storage_versions().adopt(timely(adopt)).await, &all);
    }
}

/// Checks requests about sessions, settings, lists, reads and watches.
async fn check_others(wire: &Wire) {
    let outcome = v1::SessionsGetOutcomeRequest {
        session: 0,
        sequence: 0,
        cluster_id: "x".to_owned(),
    };
    check_faults(
        wire.sessions().get_outcome(timely(outcome)).await,
        &[
            ("session", ""),
            ("sequence", "must be at least 1"),
            ("clusterId", ""),
        ],
    );
    let close = v1::SessionsCloseRequest::default();
    check_faults(
        wire.sessions().close(timely(close)).await,
        &[("session", "")],
    );
    let read = v1::ReadOptions {
        at_revision: Some(0),
        max_staleness_ms: Some(0),
        ..v1::ReadOptions::default()
    };
    let settings = v1::ClusterGetSettingsRequest { read: Some(read) };
    check_faults(
        wire.cluster().get_settings(timely(settings)).await,
        &[
            (
                "read.atRevision",
                "must stand without minRevision and maxStalenessMs",
            ),
            (
                "read.maxStalenessMs",
                "must be between 1 and 600000 milliseconds",
            ),
        ],
    );
    let page = v1::MembershipListRequest {
        page_size: Some(0),
        continue_token: "not a token".to_owned(),
        ..v1::MembershipListRequest::default()
    };
    check_faults(
        wire.membership().list(timely(page)).await,
        &[
            ("pageSize", "must be at least 1"),
            ("continueToken", "must be a token that this list has given"),
        ],
    );
    let watch = v1::WatchRequest {
        from_revision: Some(0),
        bookmark_interval_ms: Some(0),
        ..v1::WatchRequest::default()
    };
    check_faults(
        wire.watch().watch(timely(watch)).await,
        &[
            ("fromRevision", "must be at least 1"),
            (
                "bookmarkIntervalMs",
                "must be between 1000 and 30000 milliseconds",
            ),
        ],
    );
}
