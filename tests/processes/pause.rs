//! A replica that is paused by SIGSTOP, and then goes on.

use std::time::Duration;

use synod_proto::v1;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::cluster::Cluster;
use crate::durability::{check, gap, watch_each};
use crate::history::{Asked, Call, Register, Setting, Told};
use crate::keeper::Keeper;
use crate::requests::{Wire, revision, timely};
use crate::waiting::{rounds, within};
use crate::writers::Writers;
use synod_client::Revision;

/// The TTL of the member that renews: longer than an election, and shorter than the sum of the pauses.
const TTL: Duration = Duration::from_secs(3);

/// Reads that wait for the paused replica.
const READS: usize = 16;

// Guarantee: R-03, M-01
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_was_paused_answers_nothing_stale_and_expires_nobody_early() {
    let mut cluster = Cluster::start().await;
    let watchers = watch_each(&cluster).await;
    let mut keeper = Keeper::start(cluster.client().await, "kept", TTL).await;
    let mut writers = Writers::start(&cluster).await;
    let mut reads = Vec::new();
    for round in 0..rounds(3) {
        writers.acknowledge(30).await;
        let leader = cluster.leader().await;
        let wire = Wire::to(&cluster.endpoint(leader));
        // Connects before the pause.
        read(&wire).await;
        let paused = Instant::now();
        cluster.pause(leader);
        let next = cluster.leader().await;
        writers.acknowledge(60).await;
        keeper.acknowledge(8).await;
        // These requests wait in the paused replica's sockets.
        let mut waiting: JoinSet<Call> = (0..READS)
            .map(|_| (wire.clone(), leader))
            .map(read_of)
            .collect();
        writers.acknowledge(10).await;
        cluster.resume(leader);
        while let Some(read) = within(
            "the reads of a replica that was paused",
            waiting.join_next(),
        )
        .await
        {
            reads.push(read.expect("a read ends"));
        }
        println!(
            "round {round}: replica {leader} was paused, {next} leads, {}",
            gap(&writers.calls(), paused)
        );
        keeper.acknowledge(2).await;
    }
    let answered = reads
        .iter()
        .filter(|call| matches!(call.told, Told::Seen { .. }))
        .count();
    println!(
        "{answered} of {} reads were answered by the replica that was paused",
        reads.len()
    );
    writers.add(reads);
    keeper.check().await;
    check(cluster, writers, watchers).await;
}

async fn read_of((wire, _): (Wire, u64)) -> Call {
    let began = Instant::now();
    let told = read(&wire).await;
    Call {
        began,
        ended: Instant::now(),
        asked: Asked::Read(Register::Settings),
        told,
    }
}

/// A linearizable read of the settings.
async fn read(wire: &Wire) -> Told {
    let request = timely(v1::ClusterGetSettingsRequest { read: None });
    match wire.cluster().get_settings(request).await {
        Ok(answer) => {
            let v1::ClusterGetSettingsResponse { header, settings } = answer.into_inner();
            let settings = settings.expect("every answer has settings");
            let since = Revision::new(settings.resource_version);
            Told::Seen {
                at: revision(header.as_ref()),
                setting: Setting {
                    since,
                    value: settings.members_max,
                },
            }
        }
        Err(status) => Told::NotExecuted(synod_proto::status::from_status(&status).kind),
    }
}
