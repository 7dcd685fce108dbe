use std::path::Path;
use std::time::Duration;

use openraft::storage::{IOFlushed, RaftLogStorage as _};
use synod_store::identity::Claim;
use synod_store::{DataDirectory, Disk, LogConfig, SimDisk};

use super::*;
use crate::consensus::types::{Payload, leader_id};
use crate::consensus::{ReplicaId, Term};
use crate::seams::Flushing;

/// The data directory of a replica that may start, and its parts.
fn open(disk: &SimDisk) -> (DataDirectory, Log, VoteFile) {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let path = Path::new("/data");
    let claim = Claim {
        cluster_name: "test".to_owned(),
        replica_id: 1,
        directory_id: [7; 16],
    };
    let directory = DataDirectory::open(Arc::clone(&disk), path, &claim).unwrap();
    let config = LogConfig::new(directory.identity().directory_id);
    let (log, _) = Log::open(Arc::clone(&disk), &directory.wal_path(), config).unwrap();
    let vote = VoteFile::open(disk, path).unwrap();
    (directory, log, vote)
}

fn entry(index: u64) -> Entry {
    Entry {
        log_id: LogId {
            leader_id: leader_id(Term::new(1), ReplicaId::new(1)),
            index,
        },
        payload: openraft::EntryPayload::Normal(Payload("entry".into())),
    }
}

/// openraft answers a request for a vote, and takes an append for flushed, once a later vote is saved (`docs/internals/openraft.md`).
#[tokio::test(start_paused = true)]
async fn a_vote_is_saved_after_every_append_before_it() {
    for seed in 0..5 {
        let disk = SimDisk::new();
        let (directory, log, vote) = open(&disk);
        let any_disk: Arc<dyn Disk> = Arc::new(disk.clone());
        let (checkpoints, _) =
            Checkpoints::load(&any_disk, &directory.checkpoints_path(), None).unwrap();
        let alarm = Alarm::new();
        let mut storage = LogStorage::new(log.clone(), vote, &checkpoints, &alarm, Offload::Inline);
        let slow = Duration::from_millis(50);
        let flushing = Flushing::Task {
            shortest: slow,
            longest: slow,
        };
        let flusher = flushing.start(log, Arc::clone(&storage.enqueued)).unwrap();
        let entries = (0..3).map(entry);
        storage.append(entries, IOFlushed::noop()).await.unwrap();
        let given = Vote {
            leader_id: leader_id(Term::new(2), ReplicaId::new(3)),
            committed: false,
        };
        storage.save_vote(&given).await.unwrap();
        drop((flusher, storage, directory));
        disk.crash(seed);
        let (_directory, log, vote) = open(&disk);
        assert_eq!(vote.read().as_ref().map(vote_of_store), Some(given));
        let last = log.last_log_id().map(|last| last.index);
        assert_eq!(
            last,
            Some(2),
            "seed {seed}: an entry from before the vote is lost"
        );
    }
}
