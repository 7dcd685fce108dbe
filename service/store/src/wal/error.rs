//! The errors of the log: when it is opened, and later.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::FORMAT_VERSION;
use crate::failure::IoFailure;
use crate::log_id::LogId;

/// The reason why a log cannot be opened. Its files were left as they are, unless the file system failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A formatted data directory has no log.
    #[error(
        "the log directory {} holds no segment: acknowledged entries may be gone. Remove this replica from the replica \
         set and add it again with an empty data directory and a fresh replica id",
        directory.display()
    )]
    Missing {
        /// The log directory.
        directory: PathBuf,
    },
    /// A segment between others, or the one before them, is gone.
    #[error(
        "the log segment {} is missing: acknowledged entries are gone. Put the file back, or remove this replica from \
         the replica set and add it again with an empty data directory and a fresh replica id",
        file.display()
    )]
    MissingSegment {
        /// The file that should exist.
        file: PathBuf,
    },
    /// Durable entries are not what was written.
    #[error(
        "the log segment {} is damaged at offset {offset}: {what} ({evidence}). The files were left as they are. \
         Remove this replica from the replica set and add it again with an empty data directory and a fresh replica \
         id; check the disk first",
        file.display()
    )]
    Damaged {
        /// The segment.
        file: PathBuf,
        /// The offset of the damage.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
        /// The proof that this is not the torn end of an unacknowledged write.
        evidence: String,
    },
    /// A segment of another data directory.
    #[error(
        "the log segment {} was written in another data directory: it was copied here by mistake. Put back the files \
         that belong here",
        file.display()
    )]
    OtherDirectory {
        /// The segment.
        file: PathBuf,
    },
    /// A newer build wrote the log.
    #[error(
        "the log segment {} has format {found}, and this build reads up to {FORMAT_VERSION}: start the replica with \
         the newer build. The files were left as they are",
        file.display()
    )]
    Newer {
        /// The segment.
        file: PathBuf,
        /// The format found.
        found: u32,
    },
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] IoFailure),
}

impl From<OpenError> for io::Error {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Io(failure) => failure.into(),
            other => Self::new(io::ErrorKind::InvalidData, other),
        }
    }
}

/// The reason why an operation of an open log failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The queue is at its bound. Nothing was enqueued.
    #[error(
        "the log has {queued_bytes} bytes waiting to be written, its bound is {bound_bytes}: wait with \
         Log::when_room and try again"
    )]
    Full {
        /// The bytes that wait to be written.
        queued_bytes: usize,
        /// The bound.
        bound_bytes: usize,
    },
    /// An append would leave a hole or overwrite an entry. Nothing was enqueued.
    #[error(
        "cannot append the entry at {offered}: the log expects index {expected} with a term of at least {term}"
    )]
    OutOfOrder {
        /// The entry.
        offered: LogId,
        /// The index the log expects.
        expected: u64,
        /// The term of the last entry.
        term: u64,
    },
    /// A truncation would remove purged or committed entries, or keep entries that do not exist.
    /// Nothing changed.
    #[error(
        "cannot truncate the log after {after:?}: it was purged to {purged:?}, is committed to {committed:?} and ends \
         at {last:?}"
    )]
    BadTruncation {
        /// The index to keep.
        after: Option<u64>,
        /// The last purged entry.
        purged: Option<LogId>,
        /// The last entry known to be committed.
        committed: Option<LogId>,
        /// The last entry.
        last: Option<LogId>,
    },
    /// An index is beyond [`LogId::INDEX_MAX`]. Nothing changed.
    #[error("{id} is not a position of a log: indexes end at {}", LogId::INDEX_MAX)]
    ImpossibleIndex {
        /// The position.
        id: LogId,
    },
    /// One entry is longer than a record can be. Nothing was enqueued.
    #[error(
        "the entry at {id} has {bytes} bytes, and a record holds at most {}",
        super::RECORD_BYTES_MAX
    )]
    TooLarge {
        /// The entry.
        id: LogId,
        /// The length of its payload.
        bytes: usize,
    },
    /// An entry on disk is not what was written.
    #[error(
        "the log segment {} is damaged at offset {offset}: {what}. Stop the replica, check the disk, remove the \
         replica from the replica set and add it again with an empty data directory and a fresh replica id",
        file.display()
    )]
    Damaged {
        /// The segment.
        file: PathBuf,
        /// Where the record begins.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// A write or sync failed, now or earlier. What is on disk is unknown from then on.
    #[error(
        "the log failed and accepts nothing any more ({0}): stop this process, repair the disk, start again"
    )]
    Poisoned(Arc<IoFailure>),
    /// A read failed. What is on disk has not changed.
    #[error(transparent)]
    Io(#[from] IoFailure),
}

impl From<LogError> for io::Error {
    fn from(error: LogError) -> Self {
        let kind = match &error {
            LogError::Full { .. } => io::ErrorKind::WouldBlock,
            LogError::OutOfOrder { .. }
            | LogError::BadTruncation { .. }
            | LogError::ImpossibleIndex { .. }
            | LogError::TooLarge { .. } => io::ErrorKind::InvalidInput,
            LogError::Damaged { .. } => io::ErrorKind::InvalidData,
            LogError::Poisoned(cause) => cause.source.kind(),
            LogError::Io(failure) => failure.source.kind(),
        };
        Self::new(kind, error)
    }
}
