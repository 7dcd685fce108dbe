//! The files of the checkpoint directory: how they are named, adopted, put aside and removed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use super::{CheckpointError, CheckpointFile, CheckpointHeader};
use crate::disk::Disk;
use crate::failure::IoFailure;
use crate::log_id::LogId;
use crate::replace::remove_if_there;

/// How many checkpoints are kept.
pub(super) const KEPT: usize = 2;

pub(super) const SUFFIX: &str = ".checkpoint";
pub(super) const TEMPORARY_SUFFIX: &str = ".tmp";

/// What the name of a damaged checkpoint gets at its end. No file of such a name is ever read.
pub(super) const ASIDE_SUFFIX: &str = ".checkpoint.damaged";

#[derive(Debug)]
pub(super) struct CheckpointDirectory {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) directory: PathBuf,
    pub(super) state: Mutex<CheckpointFiles>,
}

#[derive(Debug)]
pub(super) struct CheckpointFiles {
    /// Newest first. Those found damaged are not among them.
    pub(super) good: Vec<CheckpointFile>,
    /// Found damaged, to be removed once there are enough good ones.
    pub(super) bad: Vec<PathBuf>,
    /// Where a damaged one was put, for people to look at.
    pub(super) aside: Option<PathBuf>,
    /// The last entry of one that was put aside. Nothing older is handed out in its place: the log may be purged up to here.
    pub(super) awaited: Option<LogId>,
    /// Makes the names of temporary files unique, since two may be in the making, and tells files apart.
    pub(super) writers: u64,
}

impl CheckpointDirectory {
    /// Gives a complete, synced temporary file its name, durably, and removes what it supersedes.
    pub(super) fn adopt(
        &self,
        temporary: &Path,
        header: &CheckpointHeader,
        number: u64,
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

    /// One is kept: a disk that damages many is not filled by them.
    pub(super) fn rename_aside(
        &self,
        state: &mut CheckpointFiles,
        damaged: &Path,
    ) -> Result<(), CheckpointError> {
        let mut aside = damaged.as_os_str().to_owned();
        aside.push(&ASIDE_SUFFIX[SUFFIX.len()..]);
        let aside = PathBuf::from(aside);
        if let Some(before) = state.aside.take().filter(|before| *before != aside) {
            // Somebody may have removed it.
            remove_if_there(&*self.disk, &before)?;
        }
        self.disk
            .rename(damaged, &aside)
            .map_err(IoFailure::while_doing("put aside", damaged))?;
        state.aside = Some(aside);
        self.sync_directory()
    }

    pub(super) fn remove(&self, path: &Path) -> Result<(), CheckpointError> {
        let removed = self.disk.remove(path);
        Ok(removed.map_err(IoFailure::while_doing("remove", path))?)
    }

    fn sync_directory(&self) -> Result<(), CheckpointError> {
        let synced = self.disk.sync_directory(&self.directory);
        Ok(synced.map_err(IoFailure::while_doing("sync directory", &self.directory))?)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, CheckpointFiles> {
        self.state
            .lock()
            .expect("nothing panics while it holds the list of checkpoints")
    }
}

/// The name of a checkpoint; names sort as positions of the log do.
pub(super) fn name_of(last: &LogId) -> String {
    let LogId {
        term,
        leader,
        index,
    } = last;
    format!("{index:020}-{term:020}-{leader}{SUFFIX}")
}
