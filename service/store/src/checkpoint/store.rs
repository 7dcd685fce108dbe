//! The checkpoints of a replica: which there are, which is loaded, which are removed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::{CheckpointError, CheckpointHeader, CheckpointReader, CheckpointWriter};
use crate::disk::Disk;
use crate::failure::IoFailure;
use crate::log_id::LogId;

/// How many checkpoints are kept.
const KEPT: usize = 2;

const SUFFIX: &str = ".checkpoint";
const TEMPORARY_SUFFIX: &str = ".tmp";

/// A complete checkpoint on disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckpointFile {
    /// The last entry whose effect is in it.
    pub last: LogId,
    /// The file.
    pub path: PathBuf,
}

/// The newest good checkpoint, and what is wrong with the others.
#[derive(Debug)]
pub struct Loaded {
    /// At its first chunk, with every checksum verified. `None` if there is no good checkpoint.
    pub reader: Option<CheckpointReader>,
    /// One error for each damaged file, newest first; worth a loud warning.
    pub skipped: Vec<CheckpointError>,
}

/// The checkpoint directory of a replica. Handles are cheap to clone.
#[derive(Clone, Debug)]
pub struct CheckpointStore {
    shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) disk: Arc<dyn Disk>,
    directory: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Newest first. Those found damaged are not among them.
    good: Vec<CheckpointFile>,
    /// Found damaged, to be removed once there are enough good ones.
    bad: Vec<PathBuf>,
    /// Makes the names of temporary files unique, since two may be in the making.
    writers: u64,
}

impl CheckpointStore {
    /// Opens the directory, which must exist, verifies every checkpoint in full and returns the newest
    /// good one.
    ///
    /// Left-overs of unfinished checkpoints are removed. Damaged ones stay until two good ones are
    /// newer. Before the state is used, [`CheckpointStore::check_covers`] must agree.
    ///
    /// # Errors
    /// [`CheckpointError::Newer`] and [`CheckpointError::OtherCluster`] where one of the files is that,
    /// with all files left as they are, and what the file system says. The replica must not start then.
    pub fn open(
        disk: Arc<dyn Disk>,
        directory: &Path,
        cluster_id: Option<[u8; 16]>,
    ) -> Result<(Self, Loaded), CheckpointError> {
        let names = disk
            .list(directory)
            .map_err(IoFailure::while_doing("list", directory))?;
        let mut survey = Survey::default();
        for name in names.iter().filter(|name| name.ends_with(SUFFIX)) {
            survey.examine(&*disk, directory.join(name), cluster_id)?;
        }
        let left_over = |name: &&String| name.ends_with(TEMPORARY_SUFFIX);
        for path in names
            .iter()
            .filter(left_over)
            .map(|name| directory.join(name))
        {
            disk.remove(&path)
                .map_err(IoFailure::while_doing("remove", &path))?;
        }
        let (state, loaded) = survey.finish();
        let shared = Shared {
            disk,
            directory: directory.to_owned(),
            state: Mutex::new(state),
        };
        Ok((
            Self {
                shared: Arc::new(shared),
            },
            loaded,
        ))
    }

    /// Checks that the newest good checkpoint reaches up to where the log begins.
    ///
    /// It does not when checkpoints were lost: the state between the two is gone from this replica.
    ///
    /// # Errors
    /// [`CheckpointError::Gap`]; the replica must not start then.
    pub fn check_covers(&self, purged: Option<LogId>) -> Result<(), CheckpointError> {
        let newest = self.shared.lock().good.first().map(|file| file.last);
        match purged {
            Some(purged) if newest.is_none_or(|newest| newest.index < purged.index) => {
                let directory = self.shared.directory.clone();
                Err(CheckpointError::Gap {
                    directory,
                    purged,
                    newest,
                })
            }
            _ => Ok(()),
        }
    }

    /// Begins a checkpoint, made here or received from a leader.
    ///
    /// # Errors
    /// [`CheckpointError::BadLength`] for metadata that is too long, and what the file system says.
    pub fn begin(&self, header: CheckpointHeader) -> Result<CheckpointWriter, CheckpointError> {
        let number = {
            let mut state = self.shared.lock();
            state.writers += 1;
            state.writers
        };
        let name = format!("{}.{number}{TEMPORARY_SUFFIX}", name_of(&header.last));
        let temporary = self.shared.directory.join(name);
        CheckpointWriter::begin(Arc::clone(&self.shared), temporary, header)
    }

    /// Returns the complete checkpoints that are not known to be damaged, newest first.
    #[must_use]
    pub fn list(&self) -> Vec<CheckpointFile> {
        self.shared.lock().good.clone()
    }

    /// Returns up to where the log may be purged: the older of the two newest good checkpoints.
    ///
    /// `None` as long as there are not two, since the log must be able to replace one that is damaged.
    #[must_use]
    pub fn purge_bound(&self) -> Option<LogId> {
        self.shared.lock().good.get(KEPT - 1).map(|file| file.last)
    }

    /// Opens the newest checkpoint to send it, or `None` if there is none. Only its header was verified;
    /// chunks are verified as they are read.
    ///
    /// # Errors
    /// As [`CheckpointReader::next_chunk`].
    pub fn read_newest(&self) -> Result<Option<CheckpointReader>, CheckpointError> {
        // The lock keeps the file from being superseded between the choice and the opening.
        let state = self.shared.lock();
        let Some(newest) = state.good.first() else {
            return Ok(None);
        };
        CheckpointReader::open(&*self.shared.disk, &newest.path).map(Some)
    }
}

impl Shared {
    /// Gives a complete, synced temporary file its name, durably, and removes what it supersedes.
    pub(super) fn adopt(
        &self,
        temporary: &Path,
        header: &CheckpointHeader,
    ) -> Result<CheckpointFile, CheckpointError> {
        let mut state = self.lock();
        let path = self.directory.join(name_of(&header.last));
        self.disk
            .rename(temporary, &path)
            .map_err(IoFailure::while_doing("rename into place", &path))?;
        self.sync_directory()?;
        let file = CheckpointFile {
            last: header.last,
            path,
        };
        state.good.retain(|other| other.path != file.path);
        state.bad.retain(|other| *other != file.path);
        state.good.push(file.clone());
        state
            .good
            .sort_by_key(|file| std::cmp::Reverse(file.last.index));
        self.remove_superseded(&mut state)?;
        Ok(file)
    }

    fn remove_superseded(&self, state: &mut State) -> Result<(), CheckpointError> {
        if state.good.len() < KEPT {
            return Ok(());
        }
        let old = state.good.drain(KEPT..).map(|file| file.path);
        let superseded: Vec<_> = old.chain(state.bad.drain(..)).collect();
        for path in &superseded {
            self.disk
                .remove(path)
                .map_err(IoFailure::while_doing("remove", path))?;
        }
        if superseded.is_empty() {
            Ok(())
        } else {
            self.sync_directory()
        }
    }

    fn sync_directory(&self) -> Result<(), CheckpointError> {
        let synced = self.disk.sync_directory(&self.directory);
        Ok(synced.map_err(IoFailure::while_doing("sync directory", &self.directory))?)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("nothing panics while it holds the list of checkpoints")
    }
}

/// What is found when the directory is opened.
#[derive(Default)]
struct Survey {
    good: Vec<CheckpointReader>,
    bad: Vec<(PathBuf, CheckpointError)>,
}

impl Survey {
    fn examine(
        &mut self,
        disk: &dyn Disk,
        path: PathBuf,
        cluster_id: Option<[u8; 16]>,
    ) -> Result<(), CheckpointError> {
        let verified = CheckpointReader::open(disk, &path).and_then(|mut reader| {
            reader.verify()?;
            Ok(reader)
        });
        match verified {
            Ok(reader) => {
                if cluster_id.is_some_and(|id| id != reader.header().cluster_id) {
                    return Err(CheckpointError::OtherCluster { file: path });
                }
                self.good.push(reader);
            }
            Err(damaged @ CheckpointError::Damaged { .. }) => self.bad.push((path, damaged)),
            Err(other) => return Err(other),
        }
        Ok(())
    }

    fn finish(mut self) -> (State, Loaded) {
        self.good
            .sort_by_key(|reader| std::cmp::Reverse(reader.header().last.index));
        // Names were listed in order, and sort as positions of the log do.
        self.bad.reverse();
        let (bad, skipped) = self.bad.into_iter().unzip();
        let file = |reader: &CheckpointReader| CheckpointFile {
            last: reader.header().last,
            path: reader.path().to_owned(),
        };
        let good = self.good.iter().map(file).collect();
        let reader = self.good.into_iter().next();
        (
            State {
                good,
                bad,
                writers: 0,
            },
            Loaded { reader, skipped },
        )
    }
}

/// The name of a checkpoint; names sort as positions of the log do.
fn name_of(last: &LogId) -> String {
    let LogId {
        term,
        leader,
        index,
    } = last;
    format!("{index:020}-{term:020}-{leader}{SUFFIX}")
}
