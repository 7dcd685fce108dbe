//! The errors of checkpoints.

use std::io;
use std::path::PathBuf;

use super::{CHUNK_BYTES_MAX, META_BYTES_MAX};
use crate::FORMAT_VERSION;
use crate::failure::IoFailure;
use crate::log_id::LogId;

/// The reason why a checkpoint could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The content is not what was written.
    #[error(
        "the checkpoint {} is damaged at offset {offset}: {what}. It is put aside and not used; an older one and the \
         log, or the leader, take its place. Check the disk",
        file.display()
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The offset of the damage.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// The good checkpoints, if any, end before the log begins.
    #[error(
        "the log was purged up to {purged}, and {} in {}: the state up to there is gone. Remove this replica from the \
         replica set and add it again with an empty data directory and a fresh replica id; check the disk first",
        newest.map_or_else(
            || "there is no readable checkpoint".to_owned(),
            |newest| format!("the newest readable checkpoint ends at {newest}")
        ),
        directory.display()
    )]
    Gap {
        /// The checkpoint directory.
        directory: PathBuf,
        /// The last purged entry of the log.
        purged: LogId,
        /// The last entry of the newest good checkpoint.
        newest: Option<LogId>,
    },
    /// The file belongs to another cluster.
    #[error("the checkpoint {} is of another cluster: it was copied here by mistake. Put back the file that belongs here", file.display())]
    OtherCluster {
        /// The file.
        file: PathBuf,
    },
    /// A newer build wrote the file.
    #[error(
        "the checkpoint {} has format {found}, and this build reads up to {FORMAT_VERSION}: start the replica with \
         the newer build. The file was left as it is",
        file.display()
    )]
    Newer {
        /// The file.
        file: PathBuf,
        /// The format found.
        found: u32,
    },
    /// A chunk or the metadata is too long, or empty.
    #[error(
        "cannot write {bytes} bytes at once to the checkpoint {}: a chunk has 1 to {CHUNK_BYTES_MAX} bytes, the \
         metadata at most {META_BYTES_MAX}",
        file.display()
    )]
    BadLength {
        /// The file.
        file: PathBuf,
        /// The length offered.
        bytes: usize,
    },
    /// An earlier write of this checkpoint failed.
    #[error("an earlier write to the checkpoint {} failed: begin another one", file.display())]
    Abandoned {
        /// The file.
        file: PathBuf,
    },
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] IoFailure),
}

impl From<CheckpointError> for io::Error {
    fn from(error: CheckpointError) -> Self {
        let kind = match error {
            CheckpointError::Io(failure) => return failure.into(),
            CheckpointError::BadLength { .. } => io::ErrorKind::InvalidInput,
            CheckpointError::Abandoned { .. } => io::ErrorKind::Other,
            CheckpointError::Damaged { .. }
            | CheckpointError::Gap { .. }
            | CheckpointError::OtherCluster { .. }
            | CheckpointError::Newer { .. } => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}
