//! The errors of backups.

use std::io;

use super::BACKUP_FORMAT;

/// The reason why a backup could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// It is no backup, or not what was written.
    #[error("the backup is damaged at offset {offset}: {what}")]
    Damaged {
        /// The offset, in bytes.
        offset: u64,
        /// What is wrong there.
        what: String,
    },
    /// It was written whole, and its rows are not those of a state.
    #[error("the backup cannot be used: {what}")]
    Unusable {
        /// What is wrong with it.
        what: String,
    },
    /// A newer build wrote it.
    #[error(
        "the backup has format {found}, and this build reads up to {BACKUP_FORMAT}: use the newer release"
    )]
    Newer {
        /// The format found.
        found: u32,
    },
    /// A chunk is too long, or empty.
    #[error("a chunk of a backup cannot have {bytes} bytes")]
    BadLength {
        /// The length offered.
        bytes: usize,
    },
    /// It cannot be written to, or read from.
    #[error(transparent)]
    Io(#[from] io::Error),
}
