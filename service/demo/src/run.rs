//! What all parts of a run share: its directory, its launcher of processes, and its screen.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::clock::now_ms;
use super::journal::Journal;
use super::patience::Late;
use super::processes::{Launcher, Process};
use super::records::{Act, Deed, files};
use super::stage::Stage;

/// The longest wait for anything in the run, however busy the machine is. Most things take well under a second.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A run of the demo.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) directory: PathBuf,
    pub(crate) launcher: Launcher,
    pub(crate) stage: Stage,
    acts: Journal,
}

/// Why the demo cannot go on.
#[derive(Debug)]
pub(crate) struct Stuck {
    message: String,
}

impl Run {
    /// # Errors
    ///
    /// The directory cannot be written to.
    pub(crate) fn new(directory: &Path, stage: Stage) -> Result<Self, Stuck> {
        Ok(Self {
            directory: directory.to_owned(),
            launcher: Launcher::new(directory)?,
            acts: Journal::open(&directory.join(files::ACTS))?,
            stage,
        })
    }

    /// The path of a file in the directory of the run.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.join(name)
    }

    /// A path in the directory, as an argument of a process.
    pub(crate) fn argument(&self, name: impl AsRef<Path>) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    /// Records and shows what was done to a process.
    ///
    /// # Errors
    ///
    /// The line cannot be recorded.
    pub(crate) fn did(&self, deed: Deed, process: &str, role: &str) -> Result<(), Stuck> {
        let what = match deed {
            Deed::Started => "started",
            Deed::Refused => "was refused by Synod, and ended",
            Deed::Stopped => "stopped cleanly",
            Deed::Killed => "killed with SIGKILL",
        };
        self.stage.say(format!("{process} ({role}) {what}"));
        self.acts.append(&Act {
            at_ms: now_ms(),
            deed,
            process: process.to_owned(),
            role: role.to_owned(),
        })?;
        Ok(())
    }
}

impl Stuck {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }

    /// A process has ended by itself that should run.
    pub(crate) fn deserted(process: &Process, ended: &str) -> Self {
        Self::new(format!(
            "{} has ended by itself: {ended}; see {}",
            process.name(),
            process.log().display()
        ))
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<Late> for Stuck {
    fn from(late: Late) -> Self {
        Self::new(late.to_string())
    }
}

impl From<std::io::Error> for Stuck {
    fn from(error: std::io::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl From<synod_client::Error> for Stuck {
    fn from(error: synod_client::Error) -> Self {
        Self::new(format!("Synod answered {error}"))
    }
}
