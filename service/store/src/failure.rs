//! An I/O error with the attempted action and the file.

use std::io;
use std::path::{Path, PathBuf};

/// The file system refused an operation.
///
/// [`io::Error`] alone says neither which file nor what was attempted, and an operator needs both.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} {}: {source}", path.display())]
pub struct IoFailure {
    /// What was attempted, as an infinitive: "write to", "sync".
    pub action: &'static str,
    /// The file or directory.
    pub path: PathBuf,
    /// The error of the file system.
    pub source: io::Error,
}

impl IoFailure {
    /// Returns a closure for `map_err` that adds the action and the path.
    pub(crate) fn while_doing(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self {
            action,
            path,
            source,
        }
    }
}

impl From<IoFailure> for io::Error {
    fn from(failure: IoFailure) -> Self {
        Self::new(failure.source.kind(), failure)
    }
}
