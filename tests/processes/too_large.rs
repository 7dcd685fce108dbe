//! Requests that are too large are always refused as such, and store nothing.

use synod_client::ErrorKind;
use synod_model::Refusal;
use synod_model::limits::{REPORT_BYTES_MAX, REQUEST_BYTES_MAX};
use synod_proto::v1;

use crate::agreement::agree;
use crate::bad_requests::{legal_entry, legal_join, report_of, speaker};
use crate::cluster::{Cluster, IDS};
use crate::requests::{Wire, kind, refusal, timely};

// Guarantee: M-14
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_is_too_large_is_refused_as_such_and_stores_nothing() {
    let cluster = Cluster::start().await;
    let member = speaker(&cluster, "speaker").await;
    let before = agree(&cluster).await;
    for id in IDS {
        let wire = Wire::to(&cluster.endpoint(id));
        let join = v1::MembershipJoinRequest {
            endpoint: "e".repeat(REQUEST_BYTES_MAX),
            ..legal_join("large")
        };
        assert_eq!(
            kind(wire.membership().join(timely(join)).await),
            ErrorKind::TooLarge,
            "replica {id}"
        );
        let long = v1::ReportEntry {
            kind: "k".repeat(REPORT_BYTES_MAX),
            ..legal_entry("things")
        };
        let refused = refused_report(&wire, &member, vec![long]).await;
        assert_eq!(refused.kind, ErrorKind::TooLarge, "replica {id}: {refused}");
        // One resource more than the setting allows, in a message of legal size.
        let many = (0..10_001).map(|n| legal_entry(&format!("r{n}"))).collect();
        let refused = refused_report(&wire, &member, many).await;
        assert_eq!(refused.kind, ErrorKind::TooLarge, "replica {id}: {refused}");
        assert_eq!(
            rules(&refused),
            ["entries: Too many: 10001: must have at most 10000 items"]
        );
        // More than any setting could allow.
        let many = (0..100_001).map(|n| legal_entry(&format!("r{n}")));
        let small = many.map(|entry| v1::ReportEntry {
            resource: entry.resource.map(|resource| v1::GroupResource {
                group: String::new(),
                ..resource
            }),
            ..entry
        });
        let refused = refused_report(&wire, &member, small.collect()).await;
        assert_eq!(
            rules(&refused),
            ["entries: Too many: 100001: must have at most 100000 items"]
        );
    }
    assert_eq!(agree(&cluster).await, before);
    cluster.finish().await;
}

// Guarantee: M-14
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_that_is_too_large_is_told_so_also_while_no_quorum_answers() {
    let mut cluster = Cluster::start().await;
    let member = speaker(&cluster, "speaker").await;
    agree(&cluster).await;
    for id in [2, 3] {
        cluster.kill(id).await;
    }
    let wire = Wire::to(&cluster.endpoint(1));
    let read = timely(v1::ClusterGetSettingsRequest { read: None });
    let refused = refusal(wire.cluster().get_settings(read).await);
    assert_eq!(refused.kind, ErrorKind::Unavailable, "{refused}");
    let many = (0..10_001).map(|n| legal_entry(&format!("r{n}"))).collect();
    let refused = refused_report(&wire, &member, many).await;
    assert_eq!(refused.kind, ErrorKind::TooLarge, "{refused}");
    cluster.finish().await;
}

/// The broken rules that a refusal names, with their fields.
fn rules(refused: &Refusal) -> Vec<String> {
    refused.violations.iter().map(ToString::to_string).collect()
}

async fn refused_report(
    wire: &Wire,
    member: &v1::MemberEpoch,
    entries: Vec<v1::ReportEntry>,
) -> Refusal {
    let request = timely(report_of(member, entries));
    refusal(wire.storage_versions().report(request).await)
}
