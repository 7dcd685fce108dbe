//! The background tasks beside Raft, and what is closed when Raft ends.

use std::future::{Future, pending};
use std::sync::Arc;
use std::time::Duration;

use openraft::Raft;
use synod_store::DataDirectory;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::catch_up;
use super::checkpoints::Checkpoints;
use super::comparison;
use super::deposing::depose_the_dead;
use super::facade::ConsensusParts;
use super::fatal::{Alarm, Fatal};
use super::leadership::{self, Leadership};
use super::published::Publisher;
use super::remembering;
use super::replica_set;
use super::state_machine::StateMachine;
use super::ticking::tick_when_needed;
use super::types::TypeConfig;
use crate::seams::{Flusher, watch};

/// How long to wait before a missing checkpoint is requested again.
const ASKED_AGAIN: Duration = Duration::from_millis(100);

/// How often the length of the log is checked.
const LOOK: Duration = Duration::from_secs(1);

/// The parts that must outlive Raft's task.
pub(super) struct Upkeep {
    pub(super) directory: DataDirectory,
    pub(super) flusher: Flusher,
    pub(super) leadership: watch::Sender<Leadership>,
    pub(super) checkpoint_due: Arc<Notify>,
}

impl Upkeep {
    /// Runs the tasks until Raft's task ends; then the log is sealed and the data directory closed.
    pub(super) async fn run(self, shared: Arc<ConsensusParts>) {
        let Self {
            mut directory,
            flusher,
            leadership,
            checkpoint_due,
        } = self;
        let ConsensusParts { raft, alarm, .. } = &*shared;
        // In a task of its own, since others wait for the disk. It ends where this is dropped.
        let mut ticking = JoinSet::new();
        ticking.spawn(tick_when_needed(Arc::clone(&shared)));
        tokio::select! {
            biased;
            () = leadership::follow(raft, shared.me.replica, leadership, &shared.acknowledgements, alarm) => {}
            () = then_for_ever(open_ballot(&shared)) => {}
            () = then_for_ever(record_cluster(&mut directory, &shared.publisher, alarm)) => {}
            () = checkpoint_when_due(raft, checkpoint_due, &shared.checkpoints) => {}
            () = keep_short(&shared) => {}
            () = comparison::repeat(&shared) => {}
            () = remembering::keep(&shared) => {}
            () = depose_the_dead(&shared) => {}
            () = send_to_who_is_back(&shared) => {}
            () = replica_set::finish_changes(&shared) => {}
            () = replica_set::forget_who_left(&shared) => {}
        }
        // Dropping joins the writer's threads, which waits for the disk.
        shared
            .seams
            .offload
            .run(move || drop((flusher, directory)))
            .await;
    }
}

async fn then_for_ever(first: impl Future<Output = ()>) {
    first.await;
    pending().await
}

async fn open_ballot(shared: &ConsensusParts) {
    let opened = catch_up::open_ballot(shared).await;
    if let Err(error) = opened {
        shared.alarm.raise(Fatal::Storage(error.to_string()));
    }
}

/// Writes the cluster's id into the data directory once it is known. From then on, opening the directory for another
/// cluster of the same name fails.
async fn record_cluster(directory: &mut DataDirectory, publisher: &Publisher, alarm: &Alarm) {
    let mut progress = publisher.subscribe();
    let cluster = loop {
        if let Some(cluster) = publisher.latest().state.cluster() {
            break *cluster;
        }
        if progress.changed().await.is_err() {
            return;
        }
    };
    if let Err(error) = directory.record_cluster(*cluster.as_bytes()) {
        alarm.raise(Fatal::Storage(error.to_string()));
    }
}

/// Requests a checkpoint whenever enough bytes have been applied; openraft counts entries only.
///
/// openraft ignores a request while a checkpoint is being written, so the request is repeated as long as a damaged
/// checkpoint has not been replaced.
async fn checkpoint_when_due(
    raft: &Raft<TypeConfig, StateMachine>,
    due: Arc<Notify>,
    checkpoints: &Checkpoints,
) {
    loop {
        due.notified().await;
        loop {
            if raft.trigger().snapshot().await.is_err() {
                return;
            }
            tokio::time::sleep(ASKED_AGAIN).await;
            if !checkpoints.store.awaits_another() {
                break;
            }
        }
    }
}

/// Has entries sent at once to whoever is back. openraft's pauses between its tries grow to a second while a replica is
/// away, and would let it wait for the next one. A checkpoint is tried at openraft's own pace all the same.
async fn send_to_who_is_back(shared: &ConsensusParts) {
    loop {
        let back = shared.back.take().await;
        if shared.raft.trigger().reset_backoff(back).await.is_err() {
            return;
        }
    }
}

/// Purges entries covered by checkpoints when the log takes too many bytes: openraft counts entries only, and one entry
/// may be as large as a batch.
async fn keep_short(shared: &ConsensusParts) {
    loop {
        tokio::time::sleep(LOOK).await;
        let segments = u64::try_from(shared.storage.log.status().segments).unwrap_or(u64::MAX);
        if segments.saturating_mul(shared.config.segment_bytes) <= shared.config.log_bytes {
            continue;
        }
        let Some(bound) = shared.checkpoints.purge_bound() else {
            continue;
        };
        if shared.raft.trigger().purge_log(bound.index).await.is_err() {
            return;
        }
    }
}
