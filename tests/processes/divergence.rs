//! A flipped value in one replica's state is found by comparing digests, and the majority decides who is right.

use std::sync::Arc;

use synod_client::{
    Alarm, AlarmKind, Client, Endpoint, Error, ErrorKind, ReadOptions, SettingsPatch, Verdict,
};
use synod_machine::{Command, LogEntry};

use crate::agreement::agree;
use crate::cluster::Cluster;
use crate::planted::plant;
use crate::replica_set::{command, is_led_by};
use crate::waiting::eventually;
use crate::writers::join;

/// More entries than there are from one digest to the next.
const ENTRIES: u32 = 300;

/// Writes this many entries, one after the other.
async fn write(client: &Client) {
    for number in 0..ENTRIES {
        let patch = SettingsPatch {
            members_max: Some(20_000 + number % 2),
            ..SettingsPatch::default()
        };
        client
            .update_settings(patch, None)
            .await
            .expect("the cluster serves");
    }
}

/// Changes the endpoint of every member in its join.
fn flip(entry: &mut LogEntry) {
    for envelope in &mut entry.commands {
        if let Command::Join(request) = Arc::make_mut(&mut envelope.command) {
            request.endpoint = Endpoint::parse("flipped").expect("it is an endpoint");
        }
    }
}

// Guarantee: D-12, TM-27
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_whose_state_has_a_flipped_value_is_found_by_the_digests_and_ends() {
    let Differing {
        mut cluster,
        leader,
        flipped,
        absent,
    } = Differing::start().await;
    let client = cluster.client().await;
    // With one replica against one, neither can be shown to be right, so the leader refuses writes.
    write_until_doubt(&cluster, leader).await;
    // It is known on the disk of both, so a restart takes no writes, either.
    for id in [leader, flipped] {
        knows(&cluster, id).await;
    }
    cluster.kill(leader).await;
    cluster.restart(leader).await;
    knows(&cluster, leader).await;
    for id in [leader, flipped] {
        is_refused_with_the_reason(&cluster, id).await;
    }
    // With two against one, the one ends, and the others write.
    cluster.launch(absent);
    let (status, said) = cluster.ended(flipped).await;
    assert!(!status.success(), "{said}");
    assert!(
        said.contains("state differs from the others'") && said.contains("check the hardware"),
        "{said}"
    );
    eventually("the majority to write again", async || {
        let patch = SettingsPatch {
            members_max: Some(30_000),
            ..SettingsPatch::default()
        };
        client
            .update_settings(patch, None)
            .await
            .map_err(|error| error.to_string())
    })
    .await;
    agree(&cluster).await;
    cluster.finish().await;
}

/// The leader keeps digests from before the other's start, which the other does not have, and no further entry comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_of_two_replicas_know_that_their_states_differ_while_nobody_writes() {
    let Differing {
        cluster,
        leader,
        flipped,
        ..
    } = Differing::start().await;
    for id in [leader, flipped] {
        knows(&cluster, id).await;
    }
    cluster.finish().await;
}

/// The third replica does not come back, so that no majority will say who is right. The operator finds out which host is faulty,
/// and does what the alarm says.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_who_finds_the_faulty_replica_ends_the_doubt_without_a_majority() {
    let Differing {
        mut cluster,
        leader: right,
        flipped: faulty,
        absent,
    } = Differing::start().await;
    for id in [right, faulty] {
        knows(&cluster, id).await;
    }
    let status = cluster.status(faulty).await.expect("it answers");
    for command in ["transfer-leader", "replace"] {
        let command = format!("synod cluster {command}");
        let said = |alarm: &Alarm| alarm.message.contains(&command);
        assert!(status.alarms.iter().any(said), "{:?}", status.alarms);
    }
    is_led_by(&cluster, right).await;
    is_refused_with_the_reason(&cluster, right).await;

    let peer = cluster.newcomer(4);
    cluster.launch(4);
    let replace = [
        "replace".to_owned(),
        faulty.to_string(),
        "4".to_owned(),
        peer,
    ];
    command(&cluster, &replace).await;
    let client = cluster.client_of(right).await;
    eventually("the two that agree to write again", async || {
        let patch = SettingsPatch {
            members_max: Some(30_000),
            ..SettingsPatch::default()
        };
        let written = client.update_settings(patch, None).await;
        written.map_err(|error| error.to_string())
    })
    .await;
    let (status, said) = cluster.ended(faulty).await;
    assert!(!status.success(), "{said}");
    assert!(said.contains("has left the replica set"), "{said}");
    cluster.restart(absent).await;
    agree(&cluster).await;
    cluster.finish().await;
}

/// Three replicas, of which two run: the leader, and one that was started on a state with a flipped value.
struct Differing {
    cluster: Cluster,
    leader: u64,
    flipped: u64,
    absent: u64,
}

impl Differing {
    async fn start() -> Self {
        let mut cluster = Cluster::start().await;
        join(&cluster.client().await, "some", "some", 60_000).await;
        // The log records what is committed with the next write, so write more.
        write(&cluster.client().await).await;
        agree(&cluster).await;
        let leader = cluster.leader().await;
        let mut others = cluster.awake().into_iter().filter(|id| *id != leader);
        let (flipped, absent) = (
            others.next().expect("there are three"),
            others.next().expect("there are three"),
        );
        drop(others);
        assert!(cluster.terminate(flipped).await.success());
        plant(cluster.data_dir(flipped), flipped, flip);
        cluster.terminate(absent).await;
        cluster.restart(flipped).await;
        Self {
            cluster,
            leader,
            flipped,
            absent,
        }
    }
}

/// Waits until a replica knows that the states differ.
async fn knows(cluster: &Cluster, id: u64) {
    eventually("a replica to know that the states differ", async || {
        let alarms = cluster.status(id).await?.alarms;
        let mut kinds = alarms.iter().map(|alarm| alarm.kind);
        let knows = kinds.any(|kind| kind == AlarmKind::DigestMismatch);
        knows.then_some(()).ok_or_else(|| format!("{alarms:?}"))
    })
    .await;
}

/// Whether a write was refused, and not executed, because states differ.
fn is_doubt(error: &Error) -> bool {
    error.kind() == ErrorKind::Unavailable && error.message().contains("differ")
}

/// Checks that a write is refused for the doubt, whether the replica that is asked leads or not.
async fn is_refused_with_the_reason(cluster: &Cluster, id: u64) {
    let client = cluster.client_of(id).await;
    eventually("a refusal with the reason", async || {
        let patch = SettingsPatch {
            members_max: Some(30_001),
            ..SettingsPatch::default()
        };
        let written = client.update_settings(patch, None).await;
        let refused = written.expect_err("the states differ");
        assert_eq!(refused.execution(), Verdict::NotExecuted, "{refused}");
        // For a moment nobody leads.
        is_doubt(&refused)
            .then_some(())
            .ok_or_else(|| refused.to_string())
    })
    .await;
}

/// Writes until the leader refuses because its state and the other replica's differ. Other failures do not count: an
/// election, or a write in flight when the difference was found, which may have been executed.
async fn write_until_doubt(cluster: &Cluster, asked: u64) {
    let client = cluster.client_of(asked).await;
    let mut number = 0;
    eventually("the leader to refuse writes", async || {
        for _ in 0..50 {
            number += 1;
            let patch = SettingsPatch {
                members_max: Some(40_000 + number % 2),
                ..SettingsPatch::default()
            };
            match client.update_settings(patch, None).await {
                Ok(_) => {}
                Err(error) if is_doubt(&error) => return Ok(()),
                Err(error) => return Err(error.to_string()),
            }
        }
        Err(format!("{number} changes were taken"))
    })
    .await;
    let leader = cluster.leader().await;
    let status = cluster.status(leader).await.expect("it answers");
    let alarm = status
        .alarms
        .iter()
        .find(|alarm| alarm.kind == AlarmKind::DigestMismatch);
    assert!(alarm.is_some(), "{:?}", status.alarms);
    // Reads are still answered.
    let read = client.settings(ReadOptions::linearizable()).await;
    assert_eq!(read.expect("reads are answered").header.replica_id, asked);
}
