//! `synod storage-versions check` over all that is known.

use synod_client::{MemberId, ResourceScope, RosterRule, SetRoster};

use crate::cluster::{Cluster, Server, landed, named};
use crate::program::Printed;

const WIDGETS: &str = "widgets.example.com";

const CHECK: [&str; 3] = ["storage-versions", "check", "--assume-complete"];

/// The words of a check that is to end with 8.
#[track_caller]
fn obstacles(printed: Printed) -> String {
    assert_eq!(printed.code, 8, "{}{}", printed.out, printed.err);
    printed.out
}

// Guarantee: V-08
#[tokio::test]
async fn issue_033_a_check_says_yes_only_when_every_member_has_spoken() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let out = obstacles(cluster.ask(&CHECK).await);
    assert!(out.contains("nothing is known"), "{out}");
    let lenient = [&CHECK[..], &["--allow-none"]].concat();
    assert_eq!(cluster.ask(&lenient).await.code, 0);

    let server = Server::join(&client, "server-a").await;
    let silent = "server-a has joined and has not reported";
    let out = obstacles(cluster.ask(&lenient).await);
    assert!(out.contains(silent), "{out}");
    let mut waiting = cluster.begin(&[&CHECK[..], &["--wait", "60s"]].concat());
    server.encodes(WIDGETS, "v1").await;
    assert_eq!(waiting.ended().await.code(), Some(0));

    let set = SetRoster {
        scope: ResourceScope::parse("example.io.gadgets").unwrap(),
        rule: RosterRule {
            members: [MemberId::parse("server-a").unwrap()].into(),
            ..RosterRule::default()
        },
        if_revision: None,
    };
    client.rosters().set(set).await.unwrap();
    let out = obstacles(cluster.ask(&CHECK).await);
    let unknown = "a roster asks for gadgets.example.io, and no such resource is known";
    assert!(out.contains(unknown), "{out}");
    let asked = [&CHECK[..], &[WIDGETS]].concat();
    assert_eq!(cluster.ask(&asked).await.code, 0);
}

#[tokio::test]
async fn what_is_left_over_is_printed_and_counts_for_nothing() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let first = Server::join(&client, "server-a").await;
    let second = Server::join(&client, "server-b").await;
    first.encodes("pods", "v1").await;
    second.encodes(WIDGETS, "v1").await;
    second.leaves_drained().await;
    landed(&client, &named(WIDGETS)).await;
    let printed = cluster.ask(&CHECK).await;
    assert_eq!(printed.code, 0, "{}{}", printed.out, printed.err);
    let (agreed, left_over) = printed.out.split_once("LEFTOVER").unwrap();
    assert!(
        agreed.contains("pods") && !agreed.contains(WIDGETS),
        "{agreed}"
    );
    assert!(left_over.contains(WIDGETS), "{left_over}");
    // Asked for by name, it is not agreed on.
    let asked = [&CHECK[..], &[WIDGETS]].concat();
    let out = obstacles(cluster.ask(&asked).await);
    assert!(out.contains("no member reports it"), "{out}");
}
