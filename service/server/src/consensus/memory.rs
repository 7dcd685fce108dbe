//! Remembers, for each data directory, how far its log had come, and whether it went back in time.
//!
//! A log that held a committed entry never ends before it again, in the order of terms, leaders and indexes, unless its
//! disk lost it. A replaced replica has a new directory, of which nothing is remembered.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use synod_store::peers::{Peers, PeersError, PeersFile, Remembered};

use super::record::to_store_id;
use super::types::{LogId, log_id_of};
use super::{DirectoryId, ReplicaId};
use crate::peer::LogEnd;
use crate::peer::messages::RememberedLog;

/// What this replica remembers about the logs of all replicas. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    file: PeersFile,
    known: Arc<Mutex<Known>>,
}

#[derive(Debug, Default)]
struct Known {
    peers: Peers,
    changed: bool,
}

impl Known {
    /// Merges what was learned of a directory: the latest entry that it held, and whether any replica saw it go back.
    fn learn(&mut self, directory: DirectoryId, learned: Remembered) {
        let before = self.peers.get(directory.as_bytes()).copied();
        let now = before.map_or(learned, |before| Remembered {
            held: before.held.max(learned.held),
            went_back: before.went_back || learned.went_back,
            ..learned
        });
        if before != Some(now) {
            self.peers.insert(*directory.as_bytes(), now);
            self.changed = true;
        }
    }
}

impl Memory {
    /// Reads the file. If it is damaged, starts with nothing remembered.
    ///
    /// # Errors
    ///
    /// When a newer build wrote it, or the disk fails.
    pub(super) fn open(file: PeersFile) -> io::Result<Self> {
        let peers = match file.read() {
            Ok(peers) => peers,
            Err(damaged @ PeersError::Damaged { .. }) => {
                tracing::error!(%damaged, "forgot how far the other replicas had come");
                Peers::new()
            }
            Err(other) => return Err(other.into()),
        };
        let known = Known {
            peers,
            changed: false,
        };
        Ok(Self {
            file,
            known: Arc::new(Mutex::new(known)),
        })
    }

    /// What is remembered of this directory now, to be compared with the answer to a question that is sent now.
    pub(crate) fn of(&self, directory: DirectoryId) -> Option<Remembered> {
        self.lock().peers.get(directory.as_bytes()).copied()
    }

    /// Whether the log of this directory, which ends at `end` by an answer, reaches what was remembered when the
    /// question was sent (`asked`). A directory that once fell short is refused for good.
    pub(crate) fn accepts(
        &self,
        directory: DirectoryId,
        asked: Option<Remembered>,
        end: LogEnd,
    ) -> bool {
        let mut known = self.lock();
        let Some(remembered) = known.peers.get_mut(directory.as_bytes()) else {
            return true;
        };
        if remembered.went_back {
            return false;
        }
        let Some(asked) = asked.filter(|asked| is_before(end, asked)) else {
            return true;
        };
        tracing::error!(replica = asked.replica, %directory, ?end, held = %asked.held, "a data directory went back in time: it is refused");
        remembered.went_back = true;
        known.changed = true;
        false
    }

    /// Remembers which committed entries the replicas hold, and forgets directories that are no longer in the set.
    pub(super) fn note(
        &self,
        set: &BTreeMap<ReplicaId, DirectoryId>,
        held: &BTreeMap<ReplicaId, LogId>,
    ) {
        let mut known = self.lock();
        let before = known.peers.len();
        known
            .peers
            .retain(|directory, _| set.values().any(|known| known.as_bytes() == directory));
        known.changed |= known.peers.len() != before;
        for (replica, directory) in set {
            let Some(held) = held.get(replica).map(to_store_id) else {
                continue;
            };
            let learned = Remembered {
                replica: replica.get(),
                held,
                went_back: false,
            };
            known.learn(*directory, learned);
        }
    }

    /// Takes over what another replica remembers, except about this replica's own directory.
    pub(super) fn told(&self, me: DirectoryId, remembered: &[RememberedLog]) {
        let mut known = self.lock();
        for theirs in remembered.iter().filter(|theirs| theirs.directory != me) {
            let learned = Remembered {
                replica: theirs.replica.get(),
                held: theirs.held,
                went_back: theirs.went_back,
            };
            known.learn(theirs.directory, learned);
        }
    }

    /// The whole memory, as it is sent to other replicas.
    pub(super) fn to_tell(&self) -> Vec<RememberedLog> {
        let known = self.lock();
        let peers = known.peers.iter();
        let told = peers.map(|(directory, peer)| RememberedLog {
            directory: DirectoryId::from_bytes(*directory),
            replica: ReplicaId::new(peer.replica),
            held: peer.held,
            went_back: peer.went_back,
        });
        told.collect()
    }

    /// Writes the memory to disk if it changed. After a failure it counts as changed, so the next call tries again.
    pub(super) fn save(&self) -> io::Result<()> {
        let mut known = self.lock();
        if !std::mem::take(&mut known.changed) {
            return Ok(());
        }
        let peers = known.peers.clone();
        drop(known);
        let saved = self.file.save(&peers);
        if saved.is_err() {
            self.lock().changed = true;
        }
        Ok(saved?)
    }

    /// The replicas whose data directories went back in time.
    pub(super) fn went_back(&self) -> Vec<Remembered> {
        let known = self.lock();
        let peers = known.peers.values();
        peers.filter(|peer| peer.went_back).copied().collect()
    }

    /// The index up to which a replica is known to have held committed entries, as written to disk.
    #[cfg(test)]
    pub(super) fn written(&self, replica: ReplicaId) -> Option<u64> {
        let written = self.file.read().ok()?;
        let mut written = written.values();
        let peer = written.find(|peer| peer.replica == replica.get())?;
        Some(peer.held.index)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a log ends before the entry that it is remembered to have held.
pub(super) fn is_before(end: LogEnd, remembered: &Remembered) -> bool {
    let end = match end {
        // What was cut off is no sign of a directory that went back: the replica says so itself.
        LogEnd::Unsaid | LogEnd::Cut { .. } => return false,
        LogEnd::Empty => None,
        LogEnd::At(position) => Some(to_store_id(&log_id_of(&position))),
    };
    end < Some(remembered.held)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use synod_store::{Disk as _, SimDisk};

    use super::*;
    use crate::consensus::Term;
    use crate::consensus::types::leader_id;

    #[test]
    fn what_a_disk_refused_is_written_down_when_it_takes_it() {
        let disk = SimDisk::new();
        let folder = Path::new("/data");
        disk.create_directory(folder).unwrap();
        let file = PeersFile::new(Arc::new(disk.clone()), folder);
        let memory = Memory::open(file).unwrap();
        let two = ReplicaId::new(2);
        let set = BTreeMap::from([(two, DirectoryId::from_bytes([7; 16]))]);
        let held = LogId {
            leader_id: leader_id(Term::new(1), two),
            index: 9,
        };
        memory.note(&set, &BTreeMap::from([(two, held)]));
        disk.set_capacity(Some(0));
        assert!(memory.save().is_err());
        disk.set_capacity(None);
        memory.save().unwrap();
        assert_eq!(memory.written(two), Some(9));
    }
}
