//! The files of the checkpoint directory: their names, and how they are adopted, put aside and removed.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::{CheckpointError, CheckpointFile, CheckpointHeader};
use crate::disk::Disk;
use crate::failure::IoFailure;
use crate::log_id::LogId;
use crate::replace::remove_if_there;

/// The number of checkpoints that are kept.
pub(super) const KEPT: usize = 2;

pub(super) const SUFFIX: &str = ".checkpoint";
pub(super) const TEMPORARY_SUFFIX: &str = ".tmp";

/// The end of the name of a damaged checkpoint. A file of such a name is never read.
pub(super) const ASIDE_SUFFIX: &str = ".checkpoint.damaged";

#[derive(Debug)]
pub(super) struct CheckpointDirectory {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) directory: PathBuf,
    /// Locked while files are renamed, removed and synced.
    changed: Mutex<CheckpointFiles>,
    /// A copy for those who only look: it waits for no disk.
    seen: Mutex<CheckpointFiles>,
    /// The number of files that were begun, so that the names of temporary files are unique and files of one path can be told apart.
    begun: AtomicU64,
}

#[derive(Clone, Debug)]
pub(super) struct CheckpointFiles {
    /// The good checkpoints, newest first.
    pub(super) good: Vec<CheckpointFile>,
    /// Damaged checkpoints, to be removed once there are enough good ones.
    pub(super) bad: Vec<PathBuf>,
    /// The path of a damaged checkpoint that is kept for inspection.
    pub(super) aside: Option<PathBuf>,
    /// The last entry of a checkpoint that was put aside. No older one is sent: the log may be purged up to here.
    pub(super) awaited: Option<LogId>,
}

/// The files while they are changed. Dropping it shows them to those who look.
pub(super) struct FilesChange<'a> {
    files: MutexGuard<'a, CheckpointFiles>,
    seen: &'a Mutex<CheckpointFiles>,
}

impl Deref for FilesChange<'_> {
    type Target = CheckpointFiles;

    fn deref(&self) -> &CheckpointFiles {
        &self.files
    }
}

impl DerefMut for FilesChange<'_> {
    fn deref_mut(&mut self) -> &mut CheckpointFiles {
        &mut self.files
    }
}

impl Drop for FilesChange<'_> {
    fn drop(&mut self) {
        *lock(self.seen) = self.files.clone();
    }
}

impl CheckpointDirectory {
    /// A directory with these files, of which so many were numbered.
    pub(super) fn new(
        disk: Arc<dyn Disk>,
        directory: &Path,
        files: CheckpointFiles,
        begun: u64,
    ) -> Self {
        Self {
            disk,
            directory: directory.to_owned(),
            seen: Mutex::new(files.clone()),
            changed: Mutex::new(files),
            begun: AtomicU64::new(begun),
        }
    }

    /// The number of the next file.
    pub(super) fn next_number(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Gives a complete, synced temporary file its name, durably, and removes the checkpoints that it supersedes.
    pub(super) fn adopt(
        &self,
        temporary: &Path,
        header: &CheckpointHeader,
        number: u64,
    ) -> Result<CheckpointFile, CheckpointError> {
        let mut state = self.change();
        let path = self.directory.join(name_of(&header.last));
        self.disk
            .rename(temporary, &path)
            .map_err(IoFailure::while_doing("rename into place", &path))?;
        self.sync_directory()?;
        let file = CheckpointFile {
            last: header.last,
            path,
            number,
        };
        if state
            .awaited
            .is_some_and(|awaited| awaited.index <= file.last.index)
        {
            state.awaited = None;
        }
        state.good.retain(|other| other.path != file.path);
        state.bad.retain(|other| *other != file.path);
        state.good.push(file.clone());
        state
            .good
            .sort_by_key(|file| std::cmp::Reverse(file.last.index));
        self.remove_superseded(&mut state)?;
        Ok(file)
    }

    fn remove_superseded(&self, state: &mut CheckpointFiles) -> Result<(), CheckpointError> {
        if state.good.len() < KEPT {
            return Ok(());
        }
        let old = state.good.drain(KEPT..).map(|file| file.path);
        let superseded: Vec<_> = old.chain(state.bad.drain(..)).collect();
        for path in &superseded {
            self.remove(path)?;
        }
        if superseded.is_empty() {
            Ok(())
        } else {
            self.sync_directory()
        }
    }

    pub(super) fn put_aside(
        &self,
        state: &mut CheckpointFiles,
        damaged: &CheckpointFile,
    ) -> Result<(), CheckpointError> {
        self.rename_aside(state, &damaged.path)?;
        state.good.retain(|file| file.number != damaged.number);
        state.awaited = Some(damaged.last);
        Ok(())
    }

    /// Keeps at most one: a disk that damages many files is not filled by copies.
    pub(super) fn rename_aside(
        &self,
        state: &mut CheckpointFiles,
        damaged: &Path,
    ) -> Result<(), CheckpointError> {
        let mut aside = damaged.as_os_str().to_owned();
        aside.push(&ASIDE_SUFFIX[SUFFIX.len()..]);
        let aside = PathBuf::from(aside);
        if let Some(before) = state.aside.take().filter(|before| *before != aside) {
            // An operator may have removed it.
            remove_if_there(&*self.disk, &before)?;
        }
        self.disk
            .rename(damaged, &aside)
            .map_err(IoFailure::while_doing("put aside", damaged))?;
        state.aside = Some(aside);
        self.sync_directory()
    }

    pub(super) fn remove(&self, path: &Path) -> Result<(), CheckpointError> {
        // An operator may have removed it.
        Ok(remove_if_there(&*self.disk, path)?)
    }

    fn sync_directory(&self) -> Result<(), CheckpointError> {
        let synced = self.disk.sync_directory(&self.directory);
        Ok(synced.map_err(IoFailure::while_doing("sync directory", &self.directory))?)
    }

    /// The files as they were after the last change. Waits for no disk.
    pub(super) fn files(&self) -> MutexGuard<'_, CheckpointFiles> {
        lock(&self.seen)
    }

    /// The files, to be changed. Waits for the change that is under way.
    pub(super) fn change(&self) -> FilesChange<'_> {
        FilesChange {
            files: lock(&self.changed),
            seen: &self.seen,
        }
    }
}

fn lock(files: &Mutex<CheckpointFiles>) -> MutexGuard<'_, CheckpointFiles> {
    files
        .lock()
        .expect("nothing panics while it holds the list of checkpoints")
}

/// The name of a checkpoint. Names sort in the order of log positions.
pub(super) fn name_of(last: &LogId) -> String {
    let LogId {
        term,
        leader,
        index,
    } = last;
    format!("{index:020}-{term:020}-{leader}{SUFFIX}")
}
