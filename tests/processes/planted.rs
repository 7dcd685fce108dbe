//! Forges a replica's state: its checkpoint differs from its log although nothing on the disk is damaged, as if memory
//! had failed between applying an entry and writing a checkpoint.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use synod_machine::{LogEntry, State};
use synod_model::stored::{from_bytes, put_blob, to_bytes};
use synod_store::checkpoint::CheckpointHeader;
use synod_store::identity::Claim;
use synod_store::payload::{CheckpointMeta, LogPayload};
use synod_store::{CheckpointStore, DataDirectory, Disk, Log, LogConfig, RealDisk};

use crate::cluster::NAME;

/// Writes a checkpoint into the data directory of a stopped replica: the state after its log, with each entry first
/// changed by `change`. All of its checksums and its digest are valid.
pub(crate) fn plant(folder: &Path, replica: u64, mut change: impl FnMut(&mut LogEntry)) {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let claim = Claim {
        cluster_name: NAME.to_owned(),
        replica_id: replica,
        directory_id: [0; 16],
    };
    let directory =
        DataDirectory::open(Arc::clone(&disk), folder, &claim).expect("it is the replica's");
    let config = LogConfig::new(directory.identity().directory_id);
    let (log, _) =
        Log::open(Arc::clone(&disk), &directory.wal_path(), config).expect("the log is whole");
    let committed = log.committed().expect("something is committed");
    let mut state = State::new();
    let mut replica_set = None;
    let records = log
        .entries(0..committed.index + 1, usize::MAX)
        .expect("the log can be read");
    assert_eq!(
        records.last().map(|record| record.id),
        Some(committed),
        "nothing was purged yet"
    );
    for record in records {
        match from_bytes(&record.payload).expect("it is an entry") {
            LogPayload::Blank => {}
            LogPayload::ReplicaSet(set) => replica_set = Some((record.id, set)),
            LogPayload::Commands(commands) => {
                let mut entry = from_bytes::<LogEntry>(&commands).expect("they are commands");
                change(&mut entry);
                state.apply(&entry);
            }
        }
    }
    let (decided, set) = replica_set.expect("the first entry is the replica set");
    let meta = CheckpointMeta {
        last: Some(committed),
        decided: Some(decided),
        replica_set: set,
    };
    let cluster_id = *state.cluster().expect("the cluster is formed").as_bytes();
    let header = CheckpointHeader {
        cluster_id,
        last: committed,
        meta: to_bytes(&meta),
    };
    let opened = CheckpointStore::open(disk, &directory.checkpoints_path(), Some(cluster_id));
    let (checkpoints, _) = opened.expect("there are none yet");
    let mut writer = checkpoints
        .begin(header)
        .expect("a checkpoint can be begun");
    let mut chunk = Vec::new();
    for row in state.rows() {
        put_blob(&mut chunk, &to_bytes(&row));
    }
    writer
        .write_chunk(&chunk)
        .expect("the chunk can be written");
    let file = writer.finish().expect("the checkpoint can be finished");
    assert!(fs::metadata(file.path).is_ok_and(|file| file.len() > 0));
}
