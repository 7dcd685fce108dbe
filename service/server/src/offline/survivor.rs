//! What one data directory of a lost cluster still holds. Its files stay as they are, byte for byte.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use synod_machine::{LogEntry, State};
use synod_model::WallTime;
use synod_model::stored::from_bytes;
use synod_store::checkpoint::read_state;
use synod_store::identity::IdentityError;
use synod_store::payload::{CheckpointMeta, LogPayload, ReplicaSet};
use synod_store::peers::{PeersError, PeersFile};
use synod_store::{
    CheckpointStore, DataDirectory, Disk, DoubtFile, FrozenDisk, Identity, Log, LogConfig, LogId,
    LogRecord,
};

use crate::consensus::ReplicaId;

/// What is said of a directory whose replica knew that the states differ.
const DIFFERED: &str = "the state of its replica differed from that of another one, and no majority said which is right: this may be \
                        the faulty one";

/// The most bytes of entries that are read at a time.
const READ_BYTES: usize = 8 << 20;

/// What one data directory of a lost cluster still holds, and what is known to be missing in it.
#[derive(Debug)]
pub struct Survivor {
    /// Whose directory it is.
    pub identity: Identity,
    /// The state: that of the newest good checkpoint, with all entries of the log behind it.
    pub state: State,
    /// The last entry that the directory holds, which the state includes.
    pub last: LogId,
    /// The last entry that the directory knows to be committed. Entries after it may have been acknowledged or not, and are
    /// in the state all the same.
    pub committed: Option<LogId>,
    /// The entry up to which the checkpoint reached; `None` if the whole log was there.
    pub checkpoint: Option<LogId>,
    /// The wall-clock time of the last entry with commands, by the leader that wrote it; `None` if the log had none behind the
    /// checkpoint.
    pub last_written: Option<WallTime>,
    /// The last replica set; `None` if the directory knew none.
    pub replica_set: Option<ReplicaSet>,
    /// Replicas that had entries which this directory lacks.
    pub ahead: Vec<Unheard>,
    /// What was found to be damaged, as sentences for people.
    pub damage: Vec<String>,
    /// Holds the lock: no replica starts on the directory before this is dropped.
    _directory: DataDirectory,
}

/// What this directory remembers of a replica that had come further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unheard {
    /// The replica.
    pub replica: ReplicaId,
    /// A committed entry that it had on its disk.
    pub held: LogId,
}

/// The reason why a data directory cannot be read. Its files are as they were.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SurvivorError {
    /// It is none, is in use, or is damaged.
    #[error(transparent)]
    Directory(#[from] IdentityError),
    /// The log or the checkpoints cannot be read, or the disk failed.
    #[error("the data directory cannot be read: {0}")]
    Storage(#[from] io::Error),
    /// It never belonged to a cluster.
    #[error("{} belongs to no cluster: its replica waited to be let into one", directory.display())]
    Unformed {
        /// The data directory.
        directory: PathBuf,
    },
}

impl Survivor {
    /// Locks a data directory and reads all of it. Nothing in it is changed.
    ///
    /// # Errors
    ///
    /// See [`SurvivorError`].
    pub fn read(disk: Arc<dyn Disk>, path: &Path) -> Result<Self, SurvivorError> {
        // The log repairs its end and a directory is tidied while they are opened: in memory, here.
        let disk: Arc<dyn Disk> = Arc::new(FrozenDisk::new(disk));
        let claim = Identity::read(&*disk, path)?.claim();
        let directory = DataDirectory::open(Arc::clone(&disk), path, &claim)?;
        let identity = directory.identity().clone();
        let config = LogConfig::new(identity.directory_id);
        let opened = Log::open(Arc::clone(&disk), &directory.wal_path(), config);
        let (log, recovery) = opened.map_err(io::Error::from)?;
        let checkpoints = directory.checkpoints_path();
        let opened = CheckpointStore::open(Arc::clone(&disk), &checkpoints, identity.cluster_id);
        let (store, loaded) = opened.map_err(io::Error::from)?;
        store
            .check_covers(recovery.purged)
            .map_err(io::Error::from)?;
        let mut damage: Vec<String> = loaded.skipped.iter().map(ToString::to_string).collect();
        if let Some(cut) = &recovery.cut {
            damage.push(cut_off(cut));
        } else if recovery.must_catch_up {
            damage.push(
                "the end of its log was cut off before an earlier start, and it had not caught up since: it may lack \
                 entries that it had acknowledged"
                    .to_owned(),
            );
        }
        let mut replay = Replay::begin(loaded.reader)?;
        let checkpoint = replay.last;
        replay.run(&log)?;
        let (Some(last), Some(_)) = (replay.last, replay.state.cluster()) else {
            return Err(SurvivorError::Unformed {
                directory: path.to_owned(),
            });
        };
        if DoubtFile::new(Arc::clone(&disk), path)
            .is_raised()
            .map_err(io::Error::from)?
        {
            damage.push(DIFFERED.to_owned());
        }
        let ahead = ahead(&disk, path, &identity, last, &mut damage)?;
        Ok(Self {
            identity,
            state: replay.state,
            last,
            committed: recovery.committed.max(checkpoint),
            checkpoint,
            last_written: replay.last_written,
            replica_set: replay.replica_set,
            ahead,
            damage,
            _directory: directory,
        })
    }

    /// How many entries at the end of the log are not known to be committed.
    #[must_use]
    pub fn uncommitted(&self) -> u64 {
        let known = self.committed.map_or(0, |committed| committed.index + 1);
        (self.last.index + 1).saturating_sub(known)
    }
}

/// A state that the entries of a log are applied to.
struct Replay {
    state: State,
    last: Option<LogId>,
    last_written: Option<WallTime>,
    replica_set: Option<ReplicaSet>,
}

impl Replay {
    fn begin(checkpoint: Option<synod_store::CheckpointReader>) -> io::Result<Self> {
        let Some(mut reader) = checkpoint else {
            return Ok(Self {
                state: State::new(),
                last: None,
                last_written: None,
                replica_set: None,
            });
        };
        let header = reader.header().clone();
        let meta: CheckpointMeta = from_bytes(&header.meta).map_err(io::Error::other)?;
        Ok(Self {
            state: read_state(&mut reader)?,
            last: Some(header.last),
            last_written: None,
            replica_set: Some(meta.replica_set),
        })
    }

    /// Applies every entry of the log behind the state.
    fn run(&mut self, log: &Log) -> io::Result<()> {
        loop {
            let next = self.last.map_or(0, |last| last.index + 1);
            let records = log.entries(next..u64::MAX, READ_BYTES)?;
            if records.is_empty() {
                return Ok(());
            }
            for record in records {
                self.apply(record)?;
            }
        }
    }

    fn apply(&mut self, LogRecord { id, payload }: LogRecord) -> io::Result<()> {
        let unreadable = |fault| {
            let text = format!(
                "the log entry at {id} cannot be read: {fault}; run the newer release that wrote it"
            );
            io::Error::new(io::ErrorKind::InvalidData, text)
        };
        match from_bytes(&payload).map_err(unreadable)? {
            LogPayload::Blank => {}
            LogPayload::Commands(commands) => {
                let entry: LogEntry = from_bytes(&commands).map_err(unreadable)?;
                self.last_written = Some(entry.wall);
                self.state.apply(&entry);
            }
            LogPayload::ReplicaSet(set) => self.replica_set = Some(set),
        }
        self.last = Some(id);
        Ok(())
    }
}

/// The replicas of which this directory remembers that they had entries which it lacks.
fn ahead(
    disk: &Arc<dyn Disk>,
    path: &Path,
    identity: &Identity,
    last: LogId,
    damage: &mut Vec<String>,
) -> io::Result<Vec<Unheard>> {
    let peers = match PeersFile::new(Arc::clone(disk), path).read() {
        Ok(peers) => peers,
        Err(damaged @ PeersError::Damaged { .. }) => {
            damage.push(damaged.to_string());
            return Ok(Vec::new());
        }
        Err(other) => return Err(other.into()),
    };
    let others = peers
        .iter()
        .filter(|(directory, _)| **directory != identity.directory_id);
    let ahead = others.filter(|(_, remembered)| remembered.held > last);
    Ok(ahead
        .map(|(_, remembered)| Unheard {
            replica: ReplicaId::new(remembered.replica),
            held: remembered.held,
        })
        .collect())
}

fn cut_off(cut: &synod_store::wal::TailCut) -> String {
    let place = format!("{} at offset {}", cut.file.display(), cut.offset);
    if cut.complete_looking {
        format!(
            "its log ends in damage, in {place}: entries that it had acknowledged may be missing"
        )
    } else {
        format!("its log ends in a write that was not completed, in {place}: nobody was told of it")
    }
}

#[cfg(test)]
mod tests;
