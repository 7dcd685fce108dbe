//! Every limit of a request: one below and the limit itself are accepted, one more is refused with its field and rule,
//! and stores nothing.

use std::collections::BTreeMap;

use synod_client::{ErrorKind, ListMembers, SettingsPatch};
use synod_model::limits::{
    BINARY_VERSION_BYTES_MAX, ENDPOINT_BYTES_MAX, INSTANCE_ID_BYTES_MAX, LABEL_BYTES_MAX,
    LABELS_MAX, SUBDOMAIN_BYTES_MAX, TTL_MS_MAX, TTL_MS_MIN, VERSIONS_PER_ENTRY_MAX,
};
use synod_proto::v1;

use crate::agreement::agree;
use crate::bad_requests::{check_faults, legal_entry, legal_join, report_of, speaker};
use crate::cluster::{Cluster, IDS};
use crate::requests::{Wire, key, refusal, timely};

/// A part of a request with a limit.
struct Limit<R> {
    max: usize,
    /// The field that a refusal names.
    field: String,
    /// A part of the rule that a refusal names.
    rule: String,
    /// Makes a request in which it has this size.
    request: Box<dyn Fn(usize) -> R>,
}

fn limit<R>(
    max: usize,
    field: impl Into<String>,
    rule: impl Into<String>,
    request: impl Fn(usize) -> R + 'static,
) -> Limit<R> {
    Limit {
        max,
        field: field.into(),
        rule: rule.into(),
        request: Box::new(request),
    }
}

/// A DNS subdomain of this length.
fn subdomain(length: usize) -> String {
    let labels = vec!["n".repeat(LABEL_BYTES_MAX); length / (LABEL_BYTES_MAX + 1)];
    let rest = "n".repeat(length % (LABEL_BYTES_MAX + 1));
    let name = [labels, vec![rest]].concat().join(".");
    assert_eq!(name.len(), length);
    name
}

/// The limits of a join. Each request is of a member of its own.
fn of_joins() -> Vec<Limit<v1::MembershipJoinRequest>> {
    let join = |name: &str, change: fn(&mut v1::MembershipJoinRequest, usize)| {
        let join = legal_join(name);
        move |length| {
            let mut join = join.clone();
            change(&mut join, length);
            join
        }
    };
    let longer = |max: usize| format!("must be no more than {max} characters");
    vec![
        limit(
            SUBDOMAIN_BYTES_MAX,
            "id",
            longer(SUBDOMAIN_BYTES_MAX),
            |length| legal_join(&subdomain(length)),
        ),
        limit(
            INSTANCE_ID_BYTES_MAX,
            "instance",
            "must be 1 to 64 characters",
            join("instance", |join, length| {
                join.instance = "i".repeat(length)
            }),
        ),
        limit(
            TTL_MS_MAX as usize,
            "ttlMs",
            "must be between 1000 and 86400000 milliseconds",
            join("ttl", |join, length| join.ttl_ms = Some(length as u64)),
        ),
        limit(
            BINARY_VERSION_BYTES_MAX,
            "version",
            "Too long: may not be more than 128 bytes",
            join("version", |join, length| join.version = "v".repeat(length)),
        ),
        limit(
            ENDPOINT_BYTES_MAX,
            "endpoint",
            "Too long: may not be more than 512 bytes",
            join("endpoint", |join, length| {
                join.endpoint = "e".repeat(length)
            }),
        ),
    ]
}

/// The limits of a join's labels.
fn of_labels() -> Vec<Limit<v1::MembershipJoinRequest>> {
    let labels = |pair: fn(usize) -> (String, String)| {
        move |length| v1::MembershipJoinRequest {
            labels: BTreeMap::from([pair(length)]),
            ..legal_join("one-label")
        }
    };
    let longer = |max: usize| format!("must be no more than {max} characters");
    vec![
        limit(
            LABELS_MAX,
            "labels",
            "Too many: 65: must have at most 64 items",
            |count| v1::MembershipJoinRequest {
                labels: (0..count)
                    .map(|n| (format!("l{n}"), String::new()))
                    .collect(),
                ..legal_join("labels")
            },
        ),
        limit(
            LABEL_BYTES_MAX,
            "labels",
            "name part must be no more than 63 characters",
            labels(|length| ("k".repeat(length), String::new())),
        ),
        limit(
            SUBDOMAIN_BYTES_MAX,
            "labels",
            format!("prefix part {}", longer(SUBDOMAIN_BYTES_MAX)),
            labels(|length| (format!("{}/k", subdomain(length)), String::new())),
        ),
        limit(
            LABEL_BYTES_MAX,
            "labels[k]",
            longer(LABEL_BYTES_MAX),
            labels(|length| ("k".to_owned(), "v".repeat(length))),
        ),
    ]
}

/// The limits of a report's entry. Each request is of a resource of its own.
fn of_entries() -> Vec<Limit<v1::ReportEntry>> {
    let longer = |max: usize| format!("must be no more than {max} characters");
    let named = |group: String, resource: String| v1::ReportEntry {
        resource: Some(v1::GroupResource { group, resource }),
        ..legal_entry("named")
    };
    let decodes = |name: &str, version: fn(usize) -> String| {
        let entry = legal_entry(name);
        move |length| {
            let mut entry = entry.clone();
            entry.decodable_versions[1] = version(length);
            entry
        }
    };
    let numbered = |count: usize| (1..=count).map(|n| format!("v{n}")).collect::<Vec<_>>();
    vec![
        limit(
            SUBDOMAIN_BYTES_MAX,
            "entries[0].resource.group",
            longer(SUBDOMAIN_BYTES_MAX),
            move |length| named(subdomain(length), "r".to_owned()),
        ),
        limit(
            LABEL_BYTES_MAX,
            "entries[0].resource.resource",
            longer(LABEL_BYTES_MAX),
            move |length| named("g".to_owned(), "r".repeat(length)),
        ),
        limit(
            LABEL_BYTES_MAX,
            "entries[0].kind",
            "no more than 63 characters",
            |length| v1::ReportEntry {
                kind: "K".repeat(length),
                ..legal_entry("kinds")
            },
        ),
        limit(
            LABEL_BYTES_MAX,
            "entries[0].decodableVersions[1]",
            format!("version part: {}", longer(LABEL_BYTES_MAX)),
            decodes("versions", |length| "v".repeat(length)),
        ),
        limit(
            SUBDOMAIN_BYTES_MAX,
            "entries[0].decodableVersions[1]",
            format!("group part: {}", longer(SUBDOMAIN_BYTES_MAX)),
            decodes("groups", |length| format!("{}/v1", subdomain(length))),
        ),
        limit(
            VERSIONS_PER_ENTRY_MAX,
            "entries[0].decodableVersions",
            "Too many: 65: must have at most 64 items",
            move |count| v1::ReportEntry {
                decodable_versions: numbered(count),
                ..legal_entry("decodable")
            },
        ),
        limit(
            VERSIONS_PER_ENTRY_MAX,
            "entries[0].servedVersions",
            "Too many: 65: must have at most 64 items",
            move |count| v1::ReportEntry {
                decodable_versions: numbered(VERSIONS_PER_ENTRY_MAX),
                served_versions: vec!["v1".to_owned(); count],
                ..legal_entry("served")
            },
        ),
    ]
}

// Guarantee: M-13, TM-22
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_at_a_limit_is_taken_and_one_more_is_refused_by_the_field_and_the_rule() {
    let cluster = Cluster::start().await;
    let member = speaker(&cluster, "speaker").await;
    let wires = IDS.map(|id| Wire::to(&cluster.endpoint(id)));
    let before = agree(&cluster).await;
    for wire in &wires {
        for limit in of_joins().into_iter().chain(of_labels()) {
            let join = (limit.request)(limit.max + 1);
            let answer = wire.membership().join(timely(join)).await;
            check_faults(answer, &[(&limit.field, &limit.rule)]);
        }
        for limit in of_entries() {
            let report = report_of(&member, vec![(limit.request)(limit.max + 1)]);
            let answer = wire.storage_versions().report(timely(report)).await;
            check_faults(answer, &[(&limit.field, &limit.rule)]);
        }
        let brief = v1::MembershipJoinRequest {
            ttl_ms: Some(TTL_MS_MIN - 1),
            ..legal_join("brief")
        };
        let rule = "Invalid value: 999: must be between 1000 and 86400000 milliseconds";
        let answer = wire.membership().join(timely(brief)).await;
        check_faults(answer, &[("ttlMs", rule)]);
    }
    assert_eq!(agree(&cluster).await, before);
    for (number, limit) in of_joins().into_iter().chain(of_labels()).enumerate() {
        for length in [limit.max - 1, limit.max] {
            let join = (limit.request)(length);
            let answer = wires[number % IDS.len()]
                .membership()
                .join(timely(join))
                .await;
            answer.unwrap_or_else(|status| panic!("{}, {length}: {status}", limit.field));
        }
    }
    for (number, limit) in of_entries().into_iter().enumerate() {
        for length in [limit.max - 1, limit.max] {
            let report = timely(report_of(&member, vec![(limit.request)(length)]));
            let answer = wires[number % IDS.len()]
                .storage_versions()
                .report(report)
                .await;
            answer.unwrap_or_else(|status| panic!("{}, {length}: {status}", limit.field));
        }
    }
    for ttl_ms in [TTL_MS_MIN, TTL_MS_MIN + 1] {
        let brief = v1::MembershipJoinRequest {
            ttl_ms: Some(ttl_ms),
            ..legal_join("brief")
        };
        wires[0]
            .membership()
            .join(timely(brief))
            .await
            .expect("it is long enough");
    }
    agree(&cluster).await;
    cluster.finish().await;
}

// Guarantee: M-13, TM-22
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_many_members_sessions_and_entries_are_taken_as_the_settings_say_and_no_more() {
    let cluster = Cluster::start().await;
    let wires = IDS.map(|id| Wire::to(&cluster.endpoint(id)));
    // The test's own client has one session already, which counts; there are no members yet.
    let client = cluster.client().await;
    let patch = SettingsPatch {
        members_max: Some(2),
        sessions_max: Some(2),
        report_entries_max: Some(3),
        session_outcomes: Some(2),
        ..SettingsPatch::default()
    };
    client
        .update_settings(patch, None)
        .await
        .expect("the cluster serves");

    let mut joined = Vec::new();
    for id in ["first", "second"] {
        let join = timely(legal_join(id));
        let answer = wires[0].membership().join(join).await;
        joined.push(answer.expect("there is room").into_inner());
    }
    let member = v1::MemberEpoch {
        member: "first".to_owned(),
        epoch: joined[0].epoch,
        cluster_id: String::new(),
    };
    for entries in [2, 3] {
        let entries = (0..entries)
            .map(|n| legal_entry(&format!("r{n}")))
            .collect();
        let report = timely(report_of(&member, entries));
        let answer = wires[1].storage_versions().report(report).await;
        answer.expect("they are not too many");
    }
    let session = wires[2].open_session().await.session;
    let before = agree(&cluster).await;
    for wire in &wires {
        let refused = refusal(wire.membership().join(timely(legal_join("third"))).await);
        assert_eq!(refused.kind, ErrorKind::Quota, "{refused}");
        assert!(refused.message.contains("there are 2 members"), "{refused}");
        let opened = wire
            .sessions()
            .open(timely(v1::SessionsOpenRequest {}))
            .await;
        let refused = refusal(opened);
        assert_eq!(refused.kind, ErrorKind::Quota, "{refused}");
        assert!(refused.message.contains("2 sessions are open"), "{refused}");
        // Beside the entries that are reported already, and in one report.
        let four = (0..4).map(|n| legal_entry(&format!("r{n}"))).collect();
        for entries in [vec![legal_entry("r3")], four] {
            let report = timely(report_of(&member, entries));
            let refused = refusal(wire.storage_versions().report(report).await);
            assert_eq!(refused.kind, ErrorKind::TooLarge, "{refused}");
            assert!(
                refused.message.contains("would report 4 resources"),
                "{refused}"
            );
        }
    }
    assert_eq!(agree(&cluster).await, before);
    check_outcomes(&wires[0], &member, session).await;
    let members = client.members(ListMembers::new()).all().await;
    assert_eq!(members.expect("it serves").items.len(), 2);
    cluster.finish().await;
}

/// A session keeps two outcomes: the third request is refused until the first one's answer is acknowledged.
async fn check_outcomes(wire: &Wire, member: &v1::MemberEpoch, session: u64) {
    let ready = |sequence, lowest_unanswered| {
        let request_id = v1::RequestId {
            lowest_unanswered,
            ..key(session, sequence)
        };
        timely(v1::MembershipReadyRequest {
            request_id: Some(request_id),
            member: Some(member.clone()),
        })
    };
    for sequence in [1, 2] {
        let answer = wire.membership().ready(ready(sequence, 1)).await;
        answer.expect("there is room for its outcome");
    }
    let refused = refusal(wire.membership().ready(ready(3, 1)).await);
    assert_eq!(refused.kind, ErrorKind::Overloaded, "{refused}");
    let answer = wire.membership().ready(ready(3, 2)).await;
    answer.expect("the first outcome is not kept any more");
}
