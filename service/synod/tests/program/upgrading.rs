//! `synod upgrade status`: one sentence, then who stands in the way, the worst first, each with a command that helps.

use serde_json::Value;
use synod_client::{
    FailureClass, FailureReason, ListMigrations, MemberId, Migration, MigrationFailure,
    ReadOptions, ResourceScope, RosterRule, SetRoster, WorkerName,
};

use crate::cluster::{Cluster, Server, claimed, named};
use crate::program::{Printed, eventually};

const WIDGETS: &str = "widgets.example.com";

const STATUS: [&str; 2] = ["upgrade", "status"];

/// The words of a status that ends with 8.
#[track_caller]
fn obstructed(printed: Printed) -> String {
    assert_eq!(printed.code, 8, "{}{}", printed.out, printed.err);
    printed.out
}

/// The reasons of the obstacles, in their order.
fn reasons(answer: &Value) -> Vec<&str> {
    let obstacles = answer["obstacles"].as_array().unwrap().iter();
    let reasons = obstacles.map(|it| it["reason"].as_str().unwrap());
    reasons
        .map(|reason| reason.strip_prefix("UPGRADE_REASON_").unwrap())
        .collect()
}

impl Cluster {
    async fn upgrade_status(&self) -> Value {
        let printed = self.ask(&["upgrade", "status", "-o", "json"]).await;
        serde_json::from_str(&printed.out).unwrap()
    }
}

// Guarantee: V-09
#[tokio::test]
async fn an_upgrade_goes_on_once_nobody_stands_in_the_way_and_what_is_assumed_is_vouched_for() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let out = obstructed(cluster.ask(&STATUS).await);
    let sentence = "the upgrade may not go on: nothing is known";
    assert!(out.starts_with(sentence), "{out}");

    let first = Server::join(&client, "server-a").await;
    let second = Server::join(&client, "server-b").await;
    first.encodes(WIDGETS, "example.com/v1").await;
    second.encodes(WIDGETS, "example.com/v2").await;
    Server::join(&client, "server-c").await;
    let out = obstructed(cluster.ask(&STATUS).await);
    let sentence = "the upgrade may not go on: widgets.example.com: server-a encodes example.com/v1; server-b encodes \
                    example.com/v2 (";
    assert!(out.starts_with(sentence), "{out}");
    let (differ, silent) = out.split_once("silent").unwrap();
    assert!(differ.contains("synod storage-versions get widgets.example.com"));
    assert!(silent.contains("synod members get server-c"), "{out}");
    let answer = cluster.upgrade_status().await;
    assert_eq!(reasons(&answer)[..2], ["DISAGREEMENT", "SILENT"]);
    // The leader is found from any replica, so it is known which members are about to expire.
    assert_eq!(answer["expiringKnown"], true);
    let evict = ["members", "evict", "server-c", "--stopped"];
    assert_eq!(cluster.ask(&evict).await.code, 0);

    second.encodes(WIDGETS, "example.com/v1").await;
    let answer = cluster.upgrade_status().await;
    assert!(reasons(&answer).contains(&"MIGRATION_PENDING"), "{answer}");
    let waiting = [&STATUS[..], &["--wait", "60s", "--assume-complete"]].concat();
    let mut waiting = cluster.begin(&waiting);
    let client = cluster.client().await;
    let worker = WorkerName::parse("worker").unwrap();
    let open = async || {
        let migrations = client.migrations(ListMigrations::new());
        let migrations = migrations.all().await.unwrap().items;
        let mut open = migrations.into_iter().filter(Migration::is_open);
        open.next().ok_or_else(|| "no migration is open".to_owned())
    };
    let migration = eventually("a migration", open).await;
    let claim = claimed(&client, &migration.id, &worker).await;
    let answer = cluster.upgrade_status().await;
    let running = &answer["obstacles"][0];
    assert_eq!(running["reason"], "UPGRADE_REASON_MIGRATION_RUNNING");
    assert_eq!(running["worker"], "worker");
    let failure = MigrationFailure {
        class: FailureClass::Forbidden,
        reason: FailureReason::parse("the store said no").unwrap(),
    };
    client.fail_migration(&claim, failure, None).await.unwrap();
    let answer = cluster.upgrade_status().await;
    let failed = &answer["obstacles"][0];
    assert_eq!(failed["reason"], "UPGRADE_REASON_MIGRATION_FAILED");
    let command = failed["command"].as_str().unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    assert_eq!(words[..2], ["migrations", "retry"]);
    assert_eq!(cluster.ask(&words).await.code, 0);
    let claim = claimed(&client, &migration.id, &worker).await;
    client.complete_migration(&claim).await.unwrap();
    assert_eq!(waiting.ended().await.code(), Some(0));

    // Nothing stands in the way, and nobody has vouched for what is assumed.
    let out = obstructed(cluster.ask(&STATUS).await);
    assert!(out.starts_with("the upgrade may go on under "), "{out}");
    assert!(out.contains("--assume-complete"), "{out}");
    let vouched = cluster
        .ask(&["upgrade", "status", "--assume-complete"])
        .await;
    assert_eq!(vouched.code, 0, "{}", vouched.out);
}

#[tokio::test]
async fn a_switched_off_feature_and_a_roster_stand_in_the_way_of_an_upgrade() {
    let cluster = Cluster::start().await;
    let client = cluster.client().await;
    let server = Server::join(&client, "server-a").await;
    server.encodes("pods", "v1").await;
    let set = SetRoster {
        scope: ResourceScope::parse("*").unwrap(),
        rule: RosterRule {
            members: ["server-a", "server-b"]
                .map(|id| MemberId::parse(id).unwrap())
                .into(),
            ..RosterRule::default()
        },
        if_revision: None,
    };
    client.rosters().set(set).await.unwrap();
    let off = ["settings", "set", "votes=off"];
    assert_eq!(cluster.ask(&off).await.code, 0);
    let out = obstructed(cluster.ask(&STATUS).await);
    assert!(
        out.starts_with("the upgrade may not go on: votes are switched off"),
        "{out}"
    );
    let answer = cluster.upgrade_status().await;
    assert_eq!(reasons(&answer)[..2], ["ALARM", "ROSTER"]);
    let [alarm, roster] = [0, 1].map(|place| &answer["obstacles"][place]);
    assert_eq!(alarm["alarm"]["kind"], "ALARM_KIND_SWITCHED_OFF");
    assert_eq!(roster["command"], "synod rosters get '*'");
    assert_eq!(roster["members"][0], "server-b");
    let resource = named("pods");
    let view = client.storage_version(&resource, ReadOptions::linearizable());
    let reasons = view.await.unwrap().reasons;
    assert_eq!(reasons.len(), 1);
    let printed = cluster.ask(&["storage-versions", "get", "pods"]).await;
    assert!(printed.out.contains(&reasons[0].message), "{}", printed.out);
}
