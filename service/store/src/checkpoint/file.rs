//! A complete checkpoint on disk, identified by path and number.

use std::path::PathBuf;

use crate::log_id::LogId;

/// A complete checkpoint on disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckpointFile {
    /// The last entry whose effect is in the checkpoint.
    pub last: LogId,
    /// The file.
    pub path: PathBuf,
    /// Tells the file from others that had this path, as long as the process runs.
    pub(super) number: u64,
}
