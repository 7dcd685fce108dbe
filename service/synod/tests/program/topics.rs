//! Keys and features on the command line.

use std::collections::BTreeSet;

use synod_client::{
    ApiVersion, Client, JoinOptions, Kind, MemberId, Membership, ReportEntry, Stance, StoredIn,
    Topic, VersionSet, WallTime,
};

use crate::cluster::Cluster;
use crate::program::Printed;

fn well(printed: Printed) -> String {
    assert_eq!(printed.code, 0, "{}{}", printed.out, printed.err);
    printed.out
}

/// A server that reads these values of a topic, and prefers the last.
async fn reads(client: &Client, id: &str, topic: &str, values: &[&str]) -> Membership {
    let member = MemberId::parse(id).unwrap();
    let membership = client.join(JoinOptions::new(member)).await.unwrap();
    let values: Vec<ApiVersion> = values
        .iter()
        .map(|value| ApiVersion::parse(value).unwrap())
        .collect();
    let entry = ReportEntry {
        resource: Topic::parse(topic).unwrap().resource().clone(),
        kind: Kind::parse("Secret").unwrap(),
        decodable: values.iter().cloned().collect(),
        served: VersionSet::default(),
        stance: Stance::Voting {
            preferred: values.last().unwrap().clone(),
        },
        serve_until: None,
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    };
    membership.report(vec![entry]).await.unwrap();
    membership
}

/// A server that would have a version withdrawn, but not before a date.
async fn serves_until(client: &Client, id: &str, topic: &str, date: WallTime) -> Membership {
    let membership = reads(client, id, topic, &["served", "withdrawn"]).await;
    let value = |text: &str| ApiVersion::parse(text).unwrap();
    let entry = ReportEntry {
        resource: Topic::parse(topic).unwrap().resource().clone(),
        kind: Kind::parse("Widget").unwrap(),
        decodable: [value("served"), value("withdrawn")].into_iter().collect(),
        served: VersionSet::default(),
        stance: Stance::Voting {
            preferred: value("served"),
        },
        serve_until: Some(date),
        stored: StoredIn::Outside,
        equivalents: BTreeSet::new(),
    };
    membership.report_change(entry).await.unwrap();
    membership
}

#[tokio::test]
async fn a_version_is_shown_with_its_date_and_with_what_its_withdrawal_waits_for() {
    const BETA: &str = "served/v1beta1.widgets.example.io";
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let past = WallTime::from_millis(1_500_000_000_000);
    let _a = serves_until(&client, "a", BETA, past).await;

    let named = ["topics", "list", "--kind", "served", "-o", "name"];
    assert_eq!(well(cluster.ask(&named).await), format!("{BETA}\n"));
    let got = well(cluster.ask(&["topics", "get", BETA]).await);
    for said in ["2017-07-14T02:40:00.000Z", "waits for a to prefer it"] {
        assert!(got.contains(said), "{said} in {got}");
    }
    let check = ["topics", "check", BETA, "served", "--assume-complete"];
    assert_eq!(cluster.ask(&check).await.code, 8);

    let withdraws = reads(&client, "a", BETA, &["served", "withdrawn"]).await;
    let gate = withdraws.gate();
    let topic = Topic::parse(BETA).unwrap();
    let permit = gate.permit(topic.resource()).await.unwrap();
    assert_eq!(permit.encoding().as_str(), "withdrawn");
    permit.done();
    let got = well(cluster.ask(&["topics", "get", BETA]).await);
    // The process that has reported before may still run.
    assert!(
        got.contains("selected; who is gone may serve it for"),
        "{got}"
    );
}

#[tokio::test]
async fn topics_are_listed_shown_and_checked_by_their_names() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let _keys = reads(&client, "a", "keys/secrets", &["aescbc/k1"]).await;
    let _locks = reads(&client, "b", "features/locks", &["v1", "v2"]).await;

    let listed = well(cluster.ask(&["topics", "list", "-o", "name"]).await);
    assert_eq!(listed, "features/locks\nkeys/secrets\n");
    let keys = ["topics", "list", "--kind", "keys", "-o", "name"];
    assert_eq!(well(cluster.ask(&keys).await), "keys/secrets\n");
    let got = well(cluster.ask(&["topics", "get", "keys/secrets"]).await);
    for said in ["keys/secrets", "aescbc/k1", "a=aescbc/k1", "Unknown"] {
        assert!(got.contains(said), "{said} in {got}");
    }
    let history = well(cluster.ask(&["topics", "history", "features/locks"]).await);
    assert!(history.contains("v2"), "{history}");

    let check = ["topics", "check", "keys/secrets", "aescbc/k1"];
    let needed = cluster.ask(&check).await;
    assert_eq!(needed.code, 8, "{}", needed.err);
    assert!(
        needed.out.contains("a votes for aescbc/k1"),
        "{}",
        needed.out
    );
    assert!(needed.out.contains("keys/secrets"), "{}", needed.out);
    assert!(!needed.out.contains("keys.synod"), "{}", needed.out);
    // Where a resource is named, a topic can be.
    let drop = ["check-drop", "keys/secrets", "aescbc/k1"];
    assert_eq!(cluster.ask(&drop).await.out, needed.out);
    let agreed = [
        "storage-versions",
        "check",
        "--assume-complete",
        "keys/secrets",
        "features/locks",
    ];
    well(cluster.ask(&agreed).await);
    // The migration of the key began by itself, and rewrites everything.
    let migrations = well(cluster.ask(&["migrations", "list", "-o", "wide"]).await);
    assert!(migrations.contains("secrets.keys.synod"), "{migrations}");
    assert!(!migrations.contains("features.synod"), "{migrations}");
}

#[tokio::test]
async fn what_is_no_topic_is_told_the_forms() {
    let printed = crate::program::run(&["topics", "get", "key/secrets"]).await;
    assert_eq!(printed.code, 2, "{}", printed.err);
    assert!(printed.err.contains("`keys/<name>`"), "{}", printed.err);
}

#[tokio::test]
async fn a_key_is_no_work_for_a_worker_of_an_api_server() {
    let printed = crate::program::run(&["migrate", "pods", "keys/secrets"]).await;
    assert_eq!(printed.code, 2, "{}", printed.err);
    let told = "RESOURCE: Invalid value: \"keys/secrets\": must be an encoding";
    assert!(printed.err.contains(told), "{}", printed.err);
}
