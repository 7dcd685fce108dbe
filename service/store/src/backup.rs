//! Backups: the whole replicated state at one revision, in a file that needs no cluster to be read.
//!
//! A backup is written to a stream and read from one, so that it can go through a pipe. The rows are those of a
//! checkpoint ([`RowChunks`]). Unlike a checkpoint, it leaves the disk that it was written on: it says which
//! cluster it is of, and a digest that cannot be met by accident or on purpose covers all of it.
//!
//! # Layout of a backup, format 1
//!
//! All numbers are little-endian. A file is a header, any number of chunks and a trailer. Every checksum is a CRC32C
//! that continues the one before it, over everything between the two. The SHA-256 is of all bytes before it.
//!
//! | header | bytes | what |
//! |---|---|---|
//! | 0 | 8 | `SYNODBKP` |
//! | 8 | 4 | format version |
//! | 12 | 4 | the oldest format version whose readers understand this file |
//! | 16 | 4 | length of the content |
//! | 20 | | content: a stored [`BackupHeader`] |
//! | | 4 | checksum |
//!
//! | chunk | bytes | what |
//! |---|---|---|
//! | 0 | 4 | length of the content |
//! | 4 | 4 | kind: 1 |
//! | 8 | | content: rows of the state |
//! | | 4 | checksum |
//!
//! | trailer | bytes | what |
//! |---|---|---|
//! | 0 | 4 | length of the content: 40 |
//! | 4 | 4 | kind: 2 |
//! | 8 | 8 | length of the contents of all chunks |
//! | 16 | 32 | SHA-256 |
//! | 48 | 4 | checksum |
//!
//! The file ends with the trailer.

mod error;
mod layout;
mod reader;
mod writer;

pub use error::BackupError;
pub use reader::{BackupReader, LoadedBackup, load};
pub use writer::{BackupSum, BackupWriter};

use synod_machine::State;
use synod_model::{ClusterId, LogTime, Revision, WallTime, stored};

#[cfg(doc)]
use crate::checkpoint::RowChunks;

/// The version of the form that this build writes. A build reads every version up to its own.
pub const BACKUP_FORMAT: u32 = 1;

/// The oldest version whose readers understand what this build writes.
pub const BACKUP_MIN_READER: u32 = 1;

/// The greatest length of the content of a chunk, in bytes.
pub const BACKUP_CHUNK_BYTES_MAX: usize = 8 << 20;

/// What a backup says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackupHeader {
    /// The cluster that it was taken of.
    pub cluster: ClusterId,
    /// The name of that cluster.
    pub cluster_name: String,
    /// The revision at which the state was.
    pub revision: Revision,
    /// The log time of the state.
    pub log_time: LogTime,
    /// The wall-clock time at which the backup was begun.
    pub wall: WallTime,
    /// The version of the replica's program.
    pub binary: String,
    /// The machine version that was in force.
    pub machine_version: u32,
}

stored! {
    BackupHeader { cluster, cluster_name, revision, log_time, wall, binary, machine_version }
}

impl BackupHeader {
    /// Whether this is a header of a backup of that state.
    #[must_use]
    pub fn is_of(&self, state: &State) -> bool {
        state.cluster() == Some(&self.cluster)
            && state.revision() == self.revision
            && state.log_time() == self.log_time
            && state.machine_version() == self.machine_version
    }
}

#[cfg(test)]
mod tests;
