//! Founds a cluster of one replica with a state.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rand::RngExt as _;
use synod_machine::{Command, Envelope, LogEntry, Restore, State};
use synod_model::stored::to_bytes;
use synod_model::{ClusterId, Refusal, Revision, WallTime};
use synod_store::checkpoint::{CHUNK_BYTES_TARGET, CheckpointHeader, RowChunks};
use synod_store::identity::{Claim, Founding, IdentityError};
use synod_store::payload::{CheckpointMeta, ReplicaSet};
use synod_store::{CheckpointStore, Disk, LogId, Vote};

use crate::consensus::{DirectoryId, ReplicaAddress, ReplicaId};
use crate::seams::random;

/// Where and as what a cluster is founded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Founder {
    /// The data directory, which must not exist or be empty.
    pub data_dir: PathBuf,
    /// The name of the cluster.
    pub cluster_name: String,
    /// The replica that the directory will be of.
    pub replica: ReplicaId,
    /// Where other replicas will reach it, as `host:port`.
    pub peer: String,
    /// The wall-clock time, which the state shows as that of the restore.
    pub wall: WallTime,
}

/// A cluster that was founded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Founded {
    /// Its id, which no cluster had before.
    pub cluster: ClusterId,
    /// The revision that it begins at.
    pub revision: Revision,
    /// The id of the data directory of its only replica.
    pub directory: DirectoryId,
}

/// The reason why a cluster was not founded. The directory is as it was, or is refused by replicas until it is founded again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FoundError {
    /// The rule of a restore refuses the state.
    #[error("the state cannot be restored: {}", .0.message)]
    Refused(Refusal),
    /// The directory cannot be used.
    #[error(transparent)]
    Directory(#[from] IdentityError),
    /// The state is damaged, or the disk failed.
    #[error("the data directory could not be written: {0}")]
    Storage(#[from] io::Error),
}

/// The term of the first entries. The replica has voted in it, so the first election is for the next one.
const TERM: u64 = 1;

impl Founder {
    /// Founds a cluster of one replica that begins with this state, as a restore leaves it. When this returns, the directory
    /// is durably whole.
    ///
    /// # Errors
    ///
    /// See [`FoundError`].
    pub fn found(&self, disk: &Arc<dyn Disk>, state: State) -> Result<Founded, FoundError> {
        let directory = DirectoryId::from_bytes(random::rng().random());
        let replica = (self.replica.get(), *directory.as_bytes());
        // The directory's id is random, so no cluster before had this one.
        let cluster = ClusterId::derive(&self.cluster_name, &[replica]);
        let state = restored(state, cluster, self.wall)?;
        state.check_memory().map_err(io::Error::other)?;
        let claim = Claim {
            cluster_name: self.cluster_name.clone(),
            replica_id: self.replica.get(),
            directory_id: *directory.as_bytes(),
        };
        let founding = Founding::begin(Arc::clone(disk), &self.data_dir, &claim)?;
        self.write(disk, &founding, directory, &state)?;
        let vote = Vote {
            term: TERM,
            leader: self.replica.get(),
            committed: false,
        };
        founding
            .finish(*cluster.as_bytes(), vote)
            .map_err(io::Error::from)?;
        Ok(Founded {
            cluster,
            revision: state.revision(),
            directory,
        })
    }

    /// Writes the state as a checkpoint, behind the entry that makes this replica the whole set and the one that restores.
    fn write(
        &self,
        disk: &Arc<dyn Disk>,
        founding: &Founding,
        directory: DirectoryId,
        state: &State,
    ) -> io::Result<()> {
        let entry = |index| LogId {
            term: TERM,
            leader: self.replica.get(),
            index,
        };
        let address = ReplicaAddress {
            peer: self.peer.clone(),
            directory,
        };
        let (decided, last) = (entry(0), entry(1));
        let meta = CheckpointMeta {
            last: Some(last),
            decided: Some(decided),
            replica_set: ReplicaSet {
                configs: vec![BTreeSet::from([self.replica])],
                replicas: BTreeMap::from([(self.replica, address)]),
            },
        };
        let cluster = state.cluster().map(|cluster| *cluster.as_bytes());
        let path = founding.checkpoints_path();
        let (store, _) = CheckpointStore::open(Arc::clone(disk), &path, cluster)?;
        let mut writer = store.begin(CheckpointHeader {
            cluster_id: cluster.ok_or_else(|| io::Error::other("the state has no cluster"))?,
            last,
            meta: to_bytes(&meta),
        })?;
        for chunk in RowChunks::new(state.rows(), CHUNK_BYTES_TARGET) {
            writer.write_chunk(&chunk)?;
        }
        writer.finish()?;
        Ok(())
    }
}

/// The state as another cluster continues it.
fn restored(mut state: State, cluster: ClusterId, wall: WallTime) -> Result<State, FoundError> {
    let outcomes = state
        .apply(&LogEntry {
            log_time: state.log_time(),
            lift_deadlines: true,
            wall,
            commands: vec![Envelope {
                actor: None,
                request: None,
                command: Arc::new(Command::Restore(Restore { cluster })),
            }],
        })
        .outcomes;
    for outcome in outcomes {
        outcome.result.map_err(FoundError::Refused)?;
    }
    Ok(state)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use synod_machine::Initialize;
    use synod_model::{LogTime, Settings};
    use synod_store::checkpoint::read_state;
    use synod_store::{DataDirectory, SimDisk};

    use super::*;

    fn state() -> State {
        let mut state = State::new();
        state.apply(&LogEntry {
            log_time: LogTime::from_millis(5),
            lift_deadlines: false,
            wall: WallTime::from_millis(1),
            commands: vec![Envelope {
                actor: None,
                request: None,
                command: Arc::new(Command::Initialize(Initialize {
                    cluster: ClusterId::from_bytes([7; 16]),
                    settings: Settings::default(),
                })),
            }],
        });
        state
    }

    fn founder() -> Founder {
        Founder {
            data_dir: "/data".into(),
            cluster_name: "prod".to_owned(),
            replica: ReplicaId::new(4),
            peer: "10.0.0.4:4610".to_owned(),
            wall: WallTime::from_millis(2),
        }
    }

    #[test]
    fn the_directory_is_that_of_the_only_replica_of_another_cluster_with_the_restored_state() {
        let disk = SimDisk::new();
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let before = state();
        let founded = founder().found(&shared, before.clone()).unwrap();
        disk.crash(1);
        assert_eq!(founded.revision, before.revision().restored().unwrap());
        let claim = Claim {
            cluster_name: "prod".to_owned(),
            replica_id: 4,
            directory_id: [0; 16],
        };
        let directory =
            DataDirectory::open(Arc::clone(&shared), Path::new("/data"), &claim).unwrap();
        let identity = directory.identity();
        assert_eq!(identity.directory_id, *founded.directory.as_bytes());
        assert_eq!(identity.cluster_id, Some(*founded.cluster.as_bytes()));
        let path = directory.checkpoints_path();
        let (_, loaded) = CheckpointStore::open(shared, &path, identity.cluster_id).unwrap();
        let state = read_state(&mut loaded.reader.unwrap()).unwrap();
        assert_eq!(state.cluster(), Some(&founded.cluster));
        assert_ne!(state.cluster(), before.cluster());
    }

    #[test]
    fn two_foundings_of_one_state_make_two_clusters() {
        let founded = || {
            let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
            founder().found(&disk, state()).unwrap()
        };
        let (one, other) = (founded(), founded());
        assert_ne!(one.cluster, other.cluster);
        assert_ne!(one.directory, other.directory);
    }

    #[test]
    fn a_state_without_a_cluster_is_refused_before_anything_is_written() {
        let disk = SimDisk::new();
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let refused = founder().found(&shared, State::new()).unwrap_err();
        assert!(matches!(refused, FoundError::Refused(_)), "{refused}");
        assert!(disk.files().is_empty());
    }
}
