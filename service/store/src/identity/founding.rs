//! A data directory that a cluster is founded in, with a state that it begins with.
//!
//! The identity is written last, and with it the directory is whole. Until then the file `FOUNDING` says that it is not: a
//! replica refuses the directory, and whoever founds again begins anew.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{
    CHECKPOINTS_NAME, Claim, FILE_NAME, IDENTITY_TEMPORARY_NAME, IdentityError, LOCK_NAME,
    PRIVATE_MODE, WAL_NAME, text,
};
use crate::disk::{Disk, DiskLock};
use crate::failure::IoFailure;
use crate::replace::{remove_if_there, replace_file};
use crate::vote::{self, Vote, VoteError, VoteFile};
use crate::wal::Log;

/// The file that says that a founding has begun and has not ended.
pub(super) const FOUNDING_NAME: &str = "FOUNDING";
pub(super) const FOUNDING_TEMPORARY_NAME: &str = "FOUNDING.tmp";

/// What it says to people.
const FOUNDING_TEXT: &str =
    "A cluster is being founded here. If no process does so, run the same command again.\n";

/// A locked, empty data directory that is being filled. If it is dropped, the directory stays unfinished.
#[derive(Debug)]
pub struct Founding {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    content: text::Content,
    _lock: Box<dyn DiskLock>,
}

impl Founding {
    /// Begins a founding in a directory that does not exist, is empty, or has been left unfinished by another founding.
    ///
    /// # Errors
    ///
    /// [`IdentityError::Taken`] if something is in the directory, [`IdentityError::Locked`], or another error; the files are
    /// as they were then, unless the file system refused.
    pub fn begin(disk: Arc<dyn Disk>, path: &Path, claim: &Claim) -> Result<Self, IdentityError> {
        if !text::is_word(&claim.cluster_name) {
            let name = claim.cluster_name.clone();
            return Err(IdentityError::BadClusterName { name });
        }
        disk.create_directory(path)
            .map_err(IoFailure::while_doing("create directory", path))?;
        // First without the lock, because the lock file must not be created in a foreign directory.
        check_free(&*disk, path)?;
        let lock_file = path.join(LOCK_NAME);
        let lock = disk
            .lock(&lock_file)
            .map_err(IoFailure::while_doing("lock", &lock_file))?
            .ok_or_else(|| IdentityError::Locked {
                directory: path.to_owned(),
            })?;
        check_free(&*disk, path)?;
        replace_file(&*disk, path, FOUNDING_NAME, FOUNDING_TEXT.as_bytes())?;
        clear(&*disk, path)?;
        if disk
            .directory_mode(path)
            .map_err(IoFailure::while_doing("examine", path))?
            != PRIVATE_MODE
        {
            disk.make_private(path)
                .map_err(IoFailure::while_doing("make private (mode 0700)", path))?;
        }
        for name in [WAL_NAME, CHECKPOINTS_NAME] {
            let child = path.join(name);
            disk.create_directory(&child)
                .map_err(IoFailure::while_doing("create directory", &child))?;
        }
        Log::format(&*disk, &path.join(WAL_NAME), claim.directory_id)?;
        vote::format(&*disk, path)?;
        Ok(Self {
            disk,
            path: path.to_owned(),
            content: text::Content::new(claim),
            _lock: lock,
        })
    }

    /// The directory of the checkpoints, in which the state must be before the founding ends.
    #[must_use]
    pub fn checkpoints_path(&self) -> PathBuf {
        self.path.join(CHECKPOINTS_NAME)
    }

    /// Ends the founding. When this returns, the directory is durably that of a replica of this cluster, which has voted so.
    ///
    /// # Errors
    ///
    /// An error of the file system, after which the directory is unfinished.
    pub fn finish(mut self, cluster_id: [u8; 16], vote: Vote) -> Result<(), VoteError> {
        VoteFile::open(Arc::clone(&self.disk), &self.path)?.save(vote)?;
        self.content.identity.cluster_id = Some(cluster_id);
        let text = self.content.encode();
        replace_file(&*self.disk, &self.path, FILE_NAME, text.as_bytes())?;
        let parent = self.path.parent();
        if let Some(parent) = parent.filter(|parent| !parent.as_os_str().is_empty()) {
            self.disk
                .sync_directory(parent)
                .map_err(IoFailure::while_doing("sync directory", parent))?;
        }
        end(&*self.disk, &self.path)?;
        Ok(())
    }
}

/// Removes what says that a directory is unfinished, if it is still there although the directory has its identity.
pub(super) fn end_if_left(disk: &dyn Disk, path: &Path) -> Result<(), IoFailure> {
    let names = disk
        .list(path)
        .map_err(IoFailure::while_doing("list", path))?;
    if names.iter().any(|name| name == FOUNDING_NAME) {
        end(disk, path)?;
    }
    Ok(())
}

fn end(disk: &dyn Disk, path: &Path) -> Result<(), IoFailure> {
    remove_if_there(disk, &path.join(FOUNDING_NAME))?;
    disk.sync_directory(path)
        .map_err(IoFailure::while_doing("sync directory", path))
}

/// Checks that a directory is empty, or holds nothing but an unfinished founding.
fn check_free(disk: &dyn Disk, path: &Path) -> Result<(), IdentityError> {
    let names = disk
        .list(path)
        .map_err(IoFailure::while_doing("list", path))?;
    let is_unfinished = names.iter().any(|name| name == FOUNDING_NAME);
    let found = names.into_iter().find(|name| match name.as_str() {
        LOCK_NAME | FOUNDING_NAME | FOUNDING_TEMPORARY_NAME => false,
        IDENTITY_TEMPORARY_NAME
        | vote::FILE_NAME
        | vote::TEMPORARY_NAME
        | WAL_NAME
        | CHECKPOINTS_NAME => !is_unfinished,
        // `IDENTITY` too: with it the directory is somebody's.
        _ => true,
    });
    match found {
        None => Ok(()),
        Some(found) => Err(IdentityError::Taken {
            directory: path.to_owned(),
            found,
        }),
    }
}

/// Removes what an unfinished founding has left.
fn clear(disk: &dyn Disk, path: &Path) -> Result<(), IoFailure> {
    for name in [WAL_NAME, CHECKPOINTS_NAME] {
        let child = path.join(name);
        // There is none where the founding ended before it was made.
        for file in disk.list(&child).unwrap_or_default() {
            remove_if_there(disk, &child.join(file))?;
        }
    }
    for name in [
        IDENTITY_TEMPORARY_NAME,
        vote::FILE_NAME,
        vote::TEMPORARY_NAME,
    ] {
        remove_if_there(disk, &path.join(name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{CheckpointHeader, CheckpointStore};
    use crate::disk::SimDisk;
    use crate::identity::DataDirectory;
    use crate::log_id::LogId;

    fn claim(directory: u8) -> Claim {
        Claim {
            cluster_name: "prod".to_owned(),
            replica_id: 7,
            directory_id: [directory; 16],
        }
    }

    const CLUSTER: [u8; 16] = [5; 16];

    fn path() -> &'static Path {
        Path::new("/data")
    }

    fn found(disk: &SimDisk, directory: u8) -> Result<(), String> {
        let shared: Arc<dyn Disk> = Arc::new(disk.clone());
        let said = |error: &dyn std::fmt::Display| error.to_string();
        let founding = Founding::begin(Arc::clone(&shared), path(), &claim(directory));
        let founding = founding.map_err(|error| said(&error))?;
        let opened = CheckpointStore::open(shared, &founding.checkpoints_path(), Some(CLUSTER));
        let (store, _) = opened.map_err(|error| said(&error))?;
        let header = CheckpointHeader {
            cluster_id: CLUSTER,
            last: LogId {
                term: 1,
                leader: 7,
                index: 1,
            },
            meta: bytes::Bytes::new(),
        };
        let mut writer = store.begin(header).map_err(|error| said(&error))?;
        writer
            .write_chunk(&[directory; 100])
            .and_then(|()| writer.finish())
            .map_err(|error| said(&error))?;
        let vote = Vote {
            term: 1,
            leader: 7,
            committed: false,
        };
        founding.finish(CLUSTER, vote).map_err(|error| said(&error))
    }

    fn opened(disk: &SimDisk) -> Result<DataDirectory, IdentityError> {
        DataDirectory::open(Arc::new(disk.clone()), path(), &claim(9))
    }

    // Guarantee: B-04
    #[test]
    fn a_power_cut_at_any_operation_leaves_all_or_what_is_refused_and_begun_anew() {
        for seed in 0..10 {
            for operations in 0.. {
                let disk = SimDisk::new();
                disk.cut_power_after(operations);
                let first = found(&disk, 1);
                let undisturbed = !disk.power_is_off();
                disk.crash(seed);
                match opened(&disk) {
                    Ok(directory) if directory.formatted() => {
                        assert!(first.is_err(), "nothing was there yet: {operations}");
                    }
                    Ok(directory) => {
                        assert_eq!(directory.identity().cluster_id, Some(CLUSTER));
                        assert_eq!(directory.identity().directory_id, [1; 16]);
                        let names = disk.list(path()).unwrap();
                        assert!(!names.iter().any(|name| name == FOUNDING_NAME));
                        drop(directory);
                        let taken = found(&disk, 2).unwrap_err();
                        assert!(taken.contains("\"IDENTITY\""), "{taken}");
                    }
                    Err(refused) => {
                        assert!(first.is_err(), "{operations}: {refused}");
                        assert!(
                            matches!(refused, IdentityError::Unfinished { .. }),
                            "{operations}, {seed}: {refused}"
                        );
                        found(&disk, 2).unwrap();
                        let directory = opened(&disk).unwrap();
                        assert_eq!(directory.identity().directory_id, [2; 16]);
                        let (_, loaded) = CheckpointStore::open(
                            Arc::new(disk.clone()),
                            &directory.checkpoints_path(),
                            Some(CLUSTER),
                        )
                        .unwrap();
                        let chunk = loaded.reader.unwrap().next_chunk().unwrap();
                        assert_eq!(chunk.unwrap(), vec![2; 100]);
                    }
                }
                if undisturbed {
                    assert!(operations > 20);
                    break;
                }
            }
        }
    }

    #[test]
    fn a_directory_with_anything_in_it_is_refused_and_left_as_it_is() {
        for name in ["notes.txt", "IDENTITY", "VOTE"] {
            let disk = SimDisk::new();
            disk.create_directory(path()).unwrap();
            drop(disk.create(&path().join(name), 3).unwrap());
            let before = disk.files();
            let refused = found(&disk, 1).unwrap_err();
            assert!(refused.contains(&format!("{name:?}")), "{refused}");
            assert_eq!(disk.files(), before);
        }
        let disk = SimDisk::new();
        drop(opened(&disk).unwrap());
        assert!(found(&disk, 1).unwrap_err().contains("IDENTITY"));
    }
}
