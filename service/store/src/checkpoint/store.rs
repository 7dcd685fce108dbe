//! The checkpoints of a replica: which exist, which is loaded, and which are removed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::directory::{
    ASIDE_SUFFIX, CheckpointDirectory, CheckpointFiles, KEPT, SUFFIX, TEMPORARY_SUFFIX, name_of,
};
use super::{
    CheckpointError, CheckpointFile, CheckpointHeader, CheckpointReader, CheckpointWriter,
};
use crate::disk::Disk;
use crate::failure::IoFailure;
use crate::log_id::LogId;

/// The newest good checkpoint, and the errors of the damaged ones.
#[derive(Debug)]
pub struct Loaded {
    /// Positioned at the first chunk, with every checksum verified. `None` if there is no good checkpoint.
    pub reader: Option<CheckpointReader>,
    /// One error for each damaged file, newest first. The caller should warn of each.
    pub skipped: Vec<CheckpointError>,
}

/// The checkpoint directory of a replica. Handles are cheap to clone.
#[derive(Clone, Debug)]
pub struct CheckpointStore {
    shared: Arc<CheckpointDirectory>,
}

impl CheckpointStore {
    /// Opens the directory, which must exist, verifies every checkpoint in full and returns the newest
    /// good one.
    ///
    /// Files of unfinished checkpoints are removed. Damaged ones stay until a new checkpoint makes two good ones, or
    /// [`Self::put_skipped_aside`] is called. Before the state is used, [`CheckpointStore::check_covers`] must succeed.
    ///
    /// # Errors
    /// [`CheckpointError::Newer`] and [`CheckpointError::OtherCluster`] if a file is that, with all files left as they
    /// are, and errors of the file system. The replica must not start then.
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
        let (mut state, begun, loaded) = survey.finish();
        state.aside = names
            .iter()
            .rfind(|name| name.ends_with(ASIDE_SUFFIX))
            .map(|name| directory.join(name));
        let shared = CheckpointDirectory::new(disk, directory, state, begun);
        Ok((
            Self {
                shared: Arc::new(shared),
            },
            loaded,
        ))
    }

    /// Checks that the newest good checkpoint reaches up to the beginning of the log.
    ///
    /// It does not when checkpoints were lost: this replica then lacks the state between the two.
    ///
    /// # Errors
    /// [`CheckpointError::Gap`]; the replica must not start then.
    pub fn check_covers(&self, purged: Option<LogId>) -> Result<(), CheckpointError> {
        let newest = self.shared.files().good.first().map(|file| file.last);
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
    /// [`CheckpointError::BadLength`] for metadata that is too long, and errors of the file system.
    pub fn begin(&self, header: CheckpointHeader) -> Result<CheckpointWriter, CheckpointError> {
        let number = self.shared.next_number();
        let name = format!("{}.{number}{TEMPORARY_SUFFIX}", name_of(&header.last));
        let temporary = self.shared.directory.join(name);
        CheckpointWriter::begin(Arc::clone(&self.shared), temporary, header, number)
    }

    /// Returns the complete checkpoints that are not known to be damaged, newest first.
    #[must_use]
    pub fn list(&self) -> Vec<CheckpointFile> {
        self.shared.files().good.clone()
    }

    /// Returns the position up to which the log may be purged: the older of the two newest good checkpoints.
    ///
    /// `None` while there are fewer than two, since the log must be able to replace a damaged one.
    #[must_use]
    pub fn purge_bound(&self) -> Option<LogId> {
        self.shared.files().good.get(KEPT - 1).map(|file| file.last)
    }

    /// Opens the newest checkpoint to send it. `None` if there is none, or if one was put aside and none has replaced
    /// it yet. Only its header was verified; chunks are verified as they are read.
    ///
    /// # Errors
    /// The reason why the checkpoint cannot be opened; the file is put aside then.
    pub fn read_newest(&self) -> Result<Option<CheckpointReader>, CheckpointError> {
        // The lock keeps the file from being superseded before it is opened.
        let mut state = self.shared.change();
        let Some(newest) = state.good.first().cloned() else {
            return Ok(None);
        };
        if state.awaited.is_some() {
            return Ok(None);
        }
        match CheckpointReader::open(&*self.shared.disk, &newest.path) {
            Ok(reader) => Ok(Some(reader.numbered(newest.number))),
            Err(error) => {
                self.shared.put_aside(&mut state, &newest)?;
                Err(error)
            }
        }
    }

    /// Renames a checkpoint that turned out damaged while it was read, and keeps it for inspection in place of an
    /// earlier one. It is never read again. Returns whether it was still among the good ones.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn put_aside(&self, damaged: &CheckpointFile) -> Result<bool, CheckpointError> {
        let mut state = self.shared.change();
        let found = state
            .good
            .iter()
            .find(|file| file.number == damaged.number)
            .cloned();
        match found {
            Some(file) => self.shared.put_aside(&mut state, &file).map(|()| true),
            None => Ok(false),
        }
    }

    /// Renames the newest of the checkpoints that were damaged when the directory was opened, and removes the others.
    /// Called once it is certain that they are not needed ([`CheckpointStore::check_covers`]).
    ///
    /// # Errors
    /// An error of the file system.
    pub fn put_skipped_aside(&self) -> Result<(), CheckpointError> {
        let mut state = self.shared.change();
        let skipped = std::mem::take(&mut state.bad);
        for path in skipped.iter().skip(1) {
            self.shared.remove(path)?;
        }
        match skipped.first() {
            Some(newest) => self.shared.rename_aside(&mut state, newest),
            None => Ok(()),
        }
    }

    /// Whether a checkpoint was put aside and none has replaced it yet.
    #[must_use]
    pub fn awaits_another(&self) -> bool {
        self.shared.files().awaited.is_some()
    }

    /// The path of a damaged checkpoint that was put aside, until it is removed.
    #[must_use]
    pub fn aside(&self) -> Option<PathBuf> {
        self.shared.files().aside.clone()
    }

    /// Checks whether the file that was put aside still exists: an operator removes it after inspection.
    ///
    /// # Errors
    /// An error of the file system.
    pub fn look_aside(&self) -> Result<(), CheckpointError> {
        let mut state = self.shared.change();
        if state.aside.is_none() {
            return Ok(());
        }
        let directory = &self.shared.directory;
        let names = self.shared.disk.list(directory);
        let names = names.map_err(IoFailure::while_doing("list", directory))?;
        if !names.iter().any(|name| name.ends_with(ASIDE_SUFFIX)) {
            state.aside = None;
        }
        Ok(())
    }
}

/// What was found when the directory was opened.
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

    /// The files, how many were numbered, and what was loaded.
    fn finish(mut self) -> (CheckpointFiles, u64, Loaded) {
        self.good
            .sort_by_key(|reader| std::cmp::Reverse(reader.header().last.index));
        // Names were listed in order, and sort as positions of the log do.
        self.bad.reverse();
        let (bad, skipped) = self.bad.into_iter().unzip();
        let file = |(number, reader): (u64, &CheckpointReader)| CheckpointFile {
            last: reader.header().last,
            path: reader.path().to_owned(),
            number,
        };
        let good: Vec<_> = (1..).zip(&self.good).map(file).collect();
        let numbered = good.len() as u64;
        let reader = self.good.into_iter().next();
        (
            CheckpointFiles {
                good,
                bad,
                aside: None,
                awaited: None,
            },
            numbered,
            Loaded { reader, skipped },
        )
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::disk::SimDisk;

    /// Status, metrics and health look at the checkpoints while one is renamed and synced, which a slow disk draws out.
    #[test]
    fn who_looks_waits_for_no_change() {
        let disk = SimDisk::new();
        disk.create_directory(Path::new("/data")).unwrap();
        let opened = CheckpointStore::open(Arc::new(disk), Path::new("/data"), None);
        let (store, _) = opened.unwrap();
        let mut change = store.shared.change();
        change.aside = Some(PathBuf::from("/data/damaged"));
        let (told, looked) = mpsc::sync_channel(1);
        let looking = store.clone();
        std::thread::spawn(move || {
            let seen = (
                looking.list().len(),
                looking.purge_bound(),
                looking.awaits_another(),
            );
            told.send((seen, looking.aside())).unwrap();
        });
        let looked = looked.recv_timeout(Duration::from_secs(20));
        assert_eq!(looked.unwrap(), ((0, None, false), None));
        drop(change);
        assert!(store.aside().is_some(), "a change is seen when it is over");
    }
}
