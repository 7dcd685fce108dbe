//! Tests of a checkpoint that is damaged when a follower needs it.

use std::fs;
use std::path::{Path, PathBuf};

use synod_store::checkpoint::CheckpointFile;

use super::three::Cluster;
use super::*;
use crate::peer::messages::CheckpointPart;

/// The number of entries between two checkpoints.
const EVERY: u64 = 20;

/// Flips a bit of a file at the offset that `at` chooses by the file's length.
fn flip(file: &Path, at: impl FnOnce(usize) -> usize) {
    let mut content = fs::read(file).unwrap();
    let place = at(content.len());
    content[place] ^= 0x10;
    fs::write(file, content).unwrap();
}

/// The files of checkpoints in a data directory whose names end with `ending`, the newest last.
fn checkpoints(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let names = fs::read_dir(directory.join("checkpoints")).unwrap();
    let paths = names.map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = paths
        .filter(|path| path.to_string_lossy().ends_with(ending))
        .collect();
    found.sort();
    found
}

/// A replica set in which one replica lacks entries that the others have purged, its id, and the last index.
async fn with_one_behind() -> (Cluster, ReplicaId, u64) {
    let mut cluster = Cluster::start(|config| {
        config.checkpoint_entries = EVERY;
        config.kept_entries = 5;
    })
    .await;
    let had = cluster.propose(join(0)).await.position.index;
    let behind = cluster.others(cluster.leader().await)[0];
    cluster.stop(behind).await;
    let mut last = 0;
    for number in 1..200 {
        last = cluster.propose(join(number)).await.position.index;
    }
    cluster.all_applied(last).await;
    for running in cluster.running.values() {
        let written = async {
            // The last checkpoint may still be being written; after it, none is due. Only then is the log purged, and while it
            // is not, whoever leads serves the replica from there.
            let has_purged = || {
                let status = running.consensus.status();
                status
                    .checkpoint
                    .is_some_and(|newest| newest.index + EVERY > last)
                    && status.purged.is_some_and(|purged| purged.index > had)
            };
            while !has_purged() {
                tokio::task::yield_now().await;
            }
        };
        within("checkpoint and a purged log", written).await;
    }
    (cluster, behind, last)
}

/// Damages the newest checkpoints of all replicas that may lead. The follower that needs one gets another one, and an
/// alarm tells of the damage.
async fn is_replaced(at: fn(usize) -> usize) {
    let (mut cluster, behind, last) = with_one_behind().await;
    let folder = |cluster: &Cluster, id: ReplicaId| cluster.directories[&id].path().to_owned();
    for (id, running) in &cluster.running {
        let newest = checkpoints(&folder(&cluster, *id), ".checkpoint").pop();
        flip(&newest.unwrap(), at);
        assert_eq!(running.consensus.damaged_checkpoint(), None);
    }
    cluster.restart(behind).await;
    // No writes are proposed: the leader writes a new checkpoint on its own.
    cluster.all_applied(last).await;
    let published = cluster.consensus(behind).published();
    assert!(published.generation > 0, "a checkpoint was installed");
    for running in cluster.running.values() {
        let ended = futures::poll!(Box::pin(running.consensus.fatal()));
        assert!(ended.is_pending(), "{ended:?}");
        let state = running.consensus.published().state.digest();
        assert_eq!(published.state.digest(), state);
    }
    let found = cluster.running.iter().find_map(|(id, running)| {
        let said = running.consensus.damaged_checkpoint()?;
        Some((*id, said))
    });
    let (found, said) = found.expect("an alarm says so");
    let aside = checkpoints(&folder(&cluster, found), ".damaged");
    assert_eq!(aside.len(), 1, "{aside:?}");
    assert!(said.contains(&aside[0].display().to_string()), "{said}");

    // The file is kept over a restart and never read again; its alarm ends when an operator removes it.
    cluster.stop(found).await;
    cluster.restart(found).await;
    assert!(cluster.consensus(found).damaged_checkpoint().is_some());
    cluster.propose(join(1_000)).await;
    fs::remove_file(&aside[0]).unwrap();
    let looked = async {
        while cluster.consensus(found).damaged_checkpoint().is_some() {
            tokio::time::timeout(Duration::from_millis(10), std::future::pending::<()>())
                .await
                .unwrap_err();
        }
    };
    within("end of the alarm", looked).await;
    cluster.stop_all().await;
}

// Guarantee: D-13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkpoint_with_a_flipped_bit_in_its_body_is_replaced_and_the_follower_served() {
    is_replaced(|length| length / 2).await;
}

// Guarantee: D-13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkpoint_with_a_flipped_bit_in_its_header_is_replaced_and_the_follower_served() {
    is_replaced(|_| 20).await;
}

// Guarantee: D-13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkpoint_that_claims_a_newer_format_is_replaced_and_the_follower_served() {
    is_replaced(|_| 13).await;
}

/// The messages by which a leader would send this checkpoint, with one bit of its rows flipped.
fn damaged_parts(leader: &Consensus, file: &Path) -> Vec<Result<CheckpointPart, InboundError>> {
    let newest = leader.shared.checkpoints.newest().unwrap();
    let (meta, data) = newest.unwrap();
    assert_eq!(data.file().unwrap().path, file);
    let vote = leader.shared.raft.metrics().borrow().vote;
    let offload = leader.shared.seams.offload;
    let parts = data.into_parts(&vote, &meta, leader.shared.checkpoints.clone(), offload);
    let parts = futures::executor::block_on(parts.collect::<Vec<_>>());
    parts
        .into_iter()
        .map(|mut part| {
            if let CheckpointPart::Data { data, .. } = &mut part {
                let mut bytes = data.to_vec();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 0x10;
                *data = bytes.into();
            }
            Ok(part)
        })
        .collect()
}

// Guarantee: D-13, TM-29
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_checkpoint_that_arrives_is_refused_told_and_written_anew_once() {
    let (mut cluster, behind, last) = with_one_behind().await;
    let leader = cluster.leader().await;
    let folder = cluster.directories[&leader].path();
    let newest = checkpoints(folder, ".checkpoint").pop().unwrap();
    let sender = cluster.consensus(leader).clone();
    let parts = damaged_parts(&sender, &newest);
    cluster.restart(behind).await;
    let receiver = cluster.consensus(behind).clone();
    let refused = receiver
        .on_install_checkpoint(leader, futures::stream::iter(parts))
        .await;
    assert_eq!(refused.unwrap_err(), InboundError::BadCheckpoint);
    let said = receiver.damaged_checkpoint();
    // The leader may have sent an undamaged one by now, which ends the alarm a moment before it is installed.
    if let Some(said) = said {
        assert!(said.contains("was refused"), "{said}");
    }
    cluster.all_applied(last).await;
    assert!(receiver.published().generation > 0);

    let sent = newest_file(&sender).await;
    let theirs = &sender.shared.checkpoints;
    theirs.was_refused(&sent, "its rows are not its state");
    let next = newest_file(&sender).await;
    assert_ne!(sent, next, "it was put aside");
    // That checkpoint may reach further; the next one cannot, since nothing is written.
    theirs.was_refused(&next, "its rows are not its state");
    let last = newest_file(&sender).await;
    theirs.was_refused(&last, "its rows are not its state");
    assert_eq!(newest_file(&sender).await, last, "it is put aside again");
    cluster.stop_all().await;
}

/// The newest checkpoint, once there is one that can be sent.
async fn newest_file(consensus: &Consensus) -> CheckpointFile {
    let written = async {
        loop {
            let newest = consensus.shared.checkpoints.newest().unwrap();
            if let Some(file) = newest.and_then(|(_, data)| data.file()) {
                return file;
            }
            tokio::task::yield_now().await;
        }
    };
    within("checkpoint", written).await
}
