//! The identity of a data directory: the cluster and the replica that it belongs to.
//!
//! It is checked before anything else in the directory is read. A directory of another cluster, of another replica or
//! of a newer build is refused with every file left as it is: an operator who mixes up two paths loses nothing.
//!
//! # Layout of `IDENTITY`, format 1
//!
//! Text, so that an operator can read it. One `key value` a line, in this order, each line ended by a
//! line feed; the last line is the CRC32C of all bytes before it, in hexadecimal.
//!
//! ```text
//! synod-data-directory
//! format 1
//! min-reader 1
//! cluster-name prod
//! replica-id 1
//! directory-id 000102030405060708090a0b0c0d0e0f
//! cluster-id -
//! crc32c 1a2b3c4d
//! ```
//!
//! `cluster-id` is `-` until the replica learns it; then it never changes. Lines between `cluster-id` and `crc32c`
//! belong to a newer format whose `min-reader` admits this build; rewriting the file keeps them.
//!
//! # Formatting a new directory
//!
//! The first segment of the log and the vote file are written first, `IDENTITY` last. A directory with an identity
//! therefore has both, and one that has lost them is not taken for a new one; a crash in between leaves files that are
//! recognised as an unfinished formatting.

mod founding;
mod text;

pub use founding::Founding;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::FORMAT_VERSION;
use crate::disk::{Disk, DiskLock};
use crate::failure::IoFailure;
use crate::replace::replace_file;
use crate::vote;
use crate::wal::Log;

const FILE_NAME: &str = "IDENTITY";
const IDENTITY_TEMPORARY_NAME: &str = "IDENTITY.tmp";
const LOCK_NAME: &str = "LOCK";
const WAL_NAME: &str = "wal";
const CHECKPOINTS_NAME: &str = "checkpoints";
const PRIVATE_MODE: u32 = 0o700;

/// What the process expects the directory to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The configured name of the cluster.
    pub cluster_name: String,
    /// The configured id of this replica.
    pub replica_id: u64,
    /// The id the directory gets if it has to be formatted; random, given by the caller.
    pub directory_id: [u8; 16],
}

/// The recorded identity of a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The format version the directory was written with.
    pub format: u32,
    /// The oldest format version whose readers understand the directory.
    pub min_reader: u32,
    /// The name of the cluster.
    pub cluster_name: String,
    /// The id of the replica.
    pub replica_id: u64,
    /// Tells this directory from every other, including an earlier one of the same replica.
    pub directory_id: [u8; 16],
    /// The id of the cluster, once it is known.
    pub cluster_id: Option<[u8; 16]>,
}

/// The reason why a data directory cannot be used. Its files were left as they are.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// Another process holds the lock.
    #[error("the data directory {} is in use: another process holds {LOCK_NAME} in it. Stop that process, or give this one a directory of its own", directory.display())]
    Locked {
        /// The data directory.
        directory: PathBuf,
    },
    /// The configured cluster name differs.
    #[error("the data directory {} belongs to cluster {found:?}, and this process is configured for {expected:?}: correct the cluster name or the path", directory.display())]
    OtherCluster {
        /// The data directory.
        directory: PathBuf,
        /// The name in the directory.
        found: String,
        /// The configured name.
        expected: String,
    },
    /// The configured replica id differs.
    #[error("the data directory {} belongs to replica {found}, and this process is configured as replica {expected}: correct the replica id or the path", directory.display())]
    OtherReplica {
        /// The data directory.
        directory: PathBuf,
        /// The id in the directory.
        found: u64,
        /// The configured id.
        expected: u64,
    },
    /// A newer build wrote the directory.
    #[error("the data directory {} has format {found}, which needs a build that reads format {needed}; this one reads up to {FORMAT_VERSION}. Start it with the newer build; nothing was changed", directory.display())]
    Newer {
        /// The data directory.
        directory: PathBuf,
        /// The format found.
        found: u32,
        /// The oldest format version whose readers understand the directory.
        needed: u32,
    },
    /// The content of the identity file is not what was written.
    #[error("{} is damaged at offset {offset}: {what}. Restore it from a copy of this very directory, or remove this replica from the replica set and add it again with an empty data directory and a fresh replica id", file.display())]
    Damaged {
        /// The identity file.
        file: PathBuf,
        /// The offset of the damage.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// The directory has no identity, and holds files that are not those of an unfinished formatting.
    #[error("{} holds {found:?} but no {FILE_NAME}, so it is not a data directory of this service: give an empty or a new directory", directory.display())]
    Foreign {
        /// The data directory.
        directory: PathBuf,
        /// One of the names found.
        found: String,
    },
    /// A cluster can be founded only where nothing is.
    #[error("{} is not empty: it holds {found:?}. Give a directory that does not exist or is empty; nothing was changed", directory.display())]
    Taken {
        /// The data directory.
        directory: PathBuf,
        /// One of the names found.
        found: String,
    },
    /// A founding has begun in the directory and has not ended.
    #[error("a cluster was being founded in {}, and that has not ended: run the command that founds it again, or empty the directory", directory.display())]
    Unfinished {
        /// The data directory.
        directory: PathBuf,
    },
    /// There is no identity, so the directory is none of a replica.
    #[error("{} holds no {FILE_NAME}, so it is not the data directory of a replica: correct the path", directory.display())]
    NoIdentity {
        /// The data directory.
        directory: PathBuf,
    },
    /// The cluster id would change.
    #[error("the data directory {} was recorded for cluster id {}, and the replica set says {}: this replica is connected to another cluster of the same name. Correct the addresses of its peers", directory.display(), text::hex(found), text::hex(offered))]
    OtherClusterId {
        /// The data directory.
        directory: PathBuf,
        /// The recorded id.
        found: [u8; 16],
        /// The id that the caller wants to record.
        offered: [u8; 16],
    },
    /// A configured value cannot be recorded.
    #[error(
        "the cluster name {name:?} cannot be recorded: it must be 1 to 253 printable ASCII characters without spaces"
    )]
    BadClusterName {
        /// The name.
        name: String,
    },
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] IoFailure),
}

impl From<IdentityError> for io::Error {
    fn from(error: IdentityError) -> Self {
        match error {
            IdentityError::Io(failure) => failure.into(),
            other => Self::new(io::ErrorKind::InvalidData, other),
        }
    }
}

/// An identified and locked data directory. Keep it for as long as the process uses the directory.
#[derive(Debug)]
pub struct DataDirectory {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    content: text::Content,
    formatted: bool,
    tightened_from: Option<u32>,
    _lock: Box<dyn DiskLock>,
}

impl Identity {
    /// Reads the identity that a directory has, and takes no lock.
    ///
    /// # Errors
    /// [`IdentityError::NoIdentity`], [`IdentityError::Damaged`] or [`IdentityError::Newer`], or an error of the file
    /// system.
    pub fn read(disk: &dyn Disk, path: &Path) -> Result<Self, IdentityError> {
        let content = read(disk, path)?.ok_or_else(|| IdentityError::NoIdentity {
            directory: path.to_owned(),
        })?;
        Ok(content.identity)
    }

    /// The claim of the process that this directory belongs to.
    #[must_use]
    pub fn claim(&self) -> Claim {
        Claim {
            cluster_name: self.cluster_name.clone(),
            replica_id: self.replica_id,
            directory_id: self.directory_id,
        }
    }
}

impl DataDirectory {
    /// Locks the directory and checks that it is what the claim says. Formats an empty one.
    ///
    /// Missing directories are created. A directory that other users may enter is made private;
    /// [`DataDirectory::tightened_from`] reports this, so that the caller can warn.
    ///
    /// # Errors
    /// See [`IdentityError`]; in every case the files are as they were.
    pub fn open(disk: Arc<dyn Disk>, path: &Path, claim: &Claim) -> Result<Self, IdentityError> {
        if !text::is_word(&claim.cluster_name) {
            return Err(IdentityError::BadClusterName {
                name: claim.cluster_name.clone(),
            });
        }
        disk.create_directory(path)
            .map_err(IoFailure::while_doing("create directory", path))?;
        // First without the lock, because the lock file must not be created in a foreign directory.
        examine(&*disk, path, claim)?;
        let lock_file = path.join(LOCK_NAME);
        let lock = disk
            .lock(&lock_file)
            .map_err(IoFailure::while_doing("lock", &lock_file))?
            .ok_or_else(|| IdentityError::Locked {
                directory: path.to_owned(),
            })?;
        let (content, formatted) = match examine(&*disk, path, claim)? {
            Some(content) => {
                founding::end_if_left(&*disk, path)?;
                (content, false)
            }
            None => (format(&*disk, path, claim)?, true),
        };
        let tightened_from = tighten(&*disk, path)?;
        Ok(Self {
            disk,
            path: path.to_owned(),
            content,
            formatted,
            tightened_from,
            _lock: lock,
        })
    }

    /// Returns the recorded identity.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.content.identity
    }

    /// Whether the directory was new and has just been formatted.
    #[must_use]
    pub fn formatted(&self) -> bool {
        self.formatted
    }

    /// Returns the former permission bits if others could enter the directory, which is worth a warning.
    #[must_use]
    pub fn tightened_from(&self) -> Option<u32> {
        self.tightened_from
    }

    /// Records the cluster id, durably. Recording the same id again does nothing.
    ///
    /// # Errors
    /// [`IdentityError::OtherClusterId`] when another id is recorded, or an error of the file system.
    pub fn record_cluster(&mut self, cluster_id: [u8; 16]) -> Result<(), IdentityError> {
        match self.content.identity.cluster_id {
            Some(found) if found == cluster_id => return Ok(()),
            Some(found) => {
                return Err(IdentityError::OtherClusterId {
                    directory: self.path.clone(),
                    found,
                    offered: cluster_id,
                });
            }
            None => {}
        }
        let mut content = self.content.clone();
        content.identity.cluster_id = Some(cluster_id);
        replace_file(
            &*self.disk,
            &self.path,
            FILE_NAME,
            content.encode().as_bytes(),
        )?;
        self.content = content;
        Ok(())
    }

    /// Returns the path of the directory itself, where [`VoteFile`](crate::VoteFile) belongs.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the directory of the log.
    #[must_use]
    pub fn wal_path(&self) -> PathBuf {
        self.path.join(WAL_NAME)
    }

    /// Returns the directory of the checkpoints.
    #[must_use]
    pub fn checkpoints_path(&self) -> PathBuf {
        self.path.join(CHECKPOINTS_NAME)
    }
}

fn read(disk: &dyn Disk, path: &Path) -> Result<Option<text::Content>, IdentityError> {
    let file = path.join(FILE_NAME);
    let bytes = match disk.read(&file) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(IoFailure::while_doing("read", &file)(e).into()),
    };
    match text::Content::decode(&bytes) {
        Ok(content) => Ok(Some(content)),
        Err(text::Unreadable::Newer { found, needed }) => Err(IdentityError::Newer {
            directory: path.to_owned(),
            found,
            needed,
        }),
        Err(text::Unreadable::Damaged { offset, what }) => {
            Err(IdentityError::Damaged { file, offset, what })
        }
    }
}

/// Reads the identity and checks it against the claim; `None` if the directory is to be formatted.
fn examine(
    disk: &dyn Disk,
    path: &Path,
    claim: &Claim,
) -> Result<Option<text::Content>, IdentityError> {
    let Some(content) = read(disk, path)? else {
        check_unused(disk, path)?;
        return Ok(None);
    };
    let Identity {
        cluster_name,
        replica_id,
        ..
    } = &content.identity;
    if *cluster_name != claim.cluster_name {
        return Err(IdentityError::OtherCluster {
            directory: path.to_owned(),
            found: cluster_name.clone(),
            expected: claim.cluster_name.clone(),
        });
    }
    if *replica_id != claim.replica_id {
        return Err(IdentityError::OtherReplica {
            directory: path.to_owned(),
            found: *replica_id,
            expected: claim.replica_id,
        });
    }
    Ok(Some(content))
}

/// Checks that a directory without identity holds no more than an unfinished formatting leaves.
fn check_unused(disk: &dyn Disk, path: &Path) -> Result<(), IdentityError> {
    let names = disk
        .list(path)
        .map_err(IoFailure::while_doing("list", path))?;
    if names.iter().any(|name| name == founding::FOUNDING_NAME) {
        return Err(IdentityError::Unfinished {
            directory: path.to_owned(),
        });
    }
    for name in names {
        let is_left_over = match name.as_str() {
            LOCK_NAME
            | IDENTITY_TEMPORARY_NAME
            | vote::TEMPORARY_NAME
            | founding::FOUNDING_TEMPORARY_NAME => true,
            vote::FILE_NAME => vote::is_blank(disk, path),
            WAL_NAME => Log::is_blank(disk, &path.join(WAL_NAME)),
            CHECKPOINTS_NAME => disk
                .list(&path.join(CHECKPOINTS_NAME))
                .is_ok_and(|names| names.is_empty()),
            _ => false,
        };
        if !is_left_over {
            return Err(IdentityError::Foreign {
                directory: path.to_owned(),
                found: name,
            });
        }
    }
    Ok(())
}

/// Formats an unused directory. The identity is written last; with it the formatting is complete.
fn format(disk: &dyn Disk, path: &Path, claim: &Claim) -> Result<text::Content, IdentityError> {
    let content = text::Content::new(claim);
    for name in [WAL_NAME, CHECKPOINTS_NAME] {
        let child = path.join(name);
        disk.create_directory(&child)
            .map_err(IoFailure::while_doing("create directory", &child))?;
    }
    Log::format(disk, &path.join(WAL_NAME), claim.directory_id)?;
    vote::format(disk, path)?;
    replace_file(disk, path, FILE_NAME, content.encode().as_bytes())?;
    if let Some(parent) = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        disk.sync_directory(parent)
            .map_err(IoFailure::while_doing("sync directory", parent))?;
    }
    Ok(content)
}

fn tighten(disk: &dyn Disk, path: &Path) -> Result<Option<u32>, IdentityError> {
    let mode = disk
        .directory_mode(path)
        .map_err(IoFailure::while_doing("examine", path))?;
    if mode == PRIVATE_MODE {
        return Ok(None);
    }
    disk.make_private(path)
        .map_err(IoFailure::while_doing("make private (mode 0700)", path))?;
    Ok(Some(mode))
}

#[cfg(test)]
mod tests;
