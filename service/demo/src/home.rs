//! The directory with the files of a run.

use std::future::ready;
use std::path::{Path, PathBuf};
use std::time::Duration;

use synod_terminal::failure::Failure;
use tempfile::TempDir;

use crate::patience::until;

/// How long to try to delete the files of a run.
const DISCARD_LIMIT: Duration = Duration::from_secs(2);

/// The directory with the files of a run.
pub(crate) enum Home {
    /// Deleted at the end of the run.
    Temporary(TempDir),
    /// Kept.
    Named(PathBuf),
}

impl Home {
    pub(crate) fn new(keep: Option<&Path>) -> Result<Self, Failure> {
        let fault = |error: std::io::Error| {
            let message = format!("the demo has no place for its files: {error}");
            Failure::local(
                message,
                "name a directory of yours with --keep, or set TMPDIR",
            )
        };
        let Some(path) = keep else {
            return Ok(Self::Temporary(
                tempfile::Builder::new()
                    .prefix("synod-demo-")
                    .tempdir()
                    .map_err(fault)?,
            ));
        };
        std::fs::create_dir_all(path).map_err(fault)?;
        if std::fs::read_dir(path).map_err(fault)?.next().is_some() {
            let message = format!("--keep: {} is not empty", path.display());
            return Err(
                Failure::local(message, "name a directory that is new or empty").in_usage(),
            );
        }
        Ok(Self::Named(path.canonicalize().map_err(fault)?))
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Temporary(directory) => directory.path(),
            Self::Named(path) => path,
        }
    }

    /// Deletes the files, unless `--keep` asked to keep them.
    pub(crate) async fn discard(self) {
        let Self::Temporary(directory) = self else {
            return;
        };
        let path = directory.keep();
        // A process that was killed a moment ago may still hold a file open, or make one.
        let deleting = || ready(std::fs::remove_dir_all(&path).map_err(|error| error.to_string()));
        // What cannot be deleted in time stays in the temporary directory, which the system cleans up.
        let _ = until(
            "the files of the demo to be deleted",
            DISCARD_LIMIT,
            deleting,
        )
        .await;
    }

    /// The path. From now on the files are kept.
    pub(crate) fn keep(self) -> PathBuf {
        match self {
            Self::Temporary(directory) => directory.keep(),
            Self::Named(path) => path,
        }
    }
}
