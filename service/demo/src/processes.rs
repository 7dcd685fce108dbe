//! The processes of the demo: started, watched over, and ended by their ids.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// How long a process may take to end when it is asked to. A replica hands over leadership, an API server drains.
const END_LIMIT: Duration = Duration::from_secs(10);

/// How a process is started: this program again, with other arguments.
#[derive(Clone, Debug)]
pub(crate) struct Launcher {
    program: PathBuf,
    /// Where the logs go.
    directory: PathBuf,
}

/// A process that runs until it is ended, at the latest when this value is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Launcher {
    /// # Errors
    ///
    /// Nobody knows where this program is.
    pub(crate) fn new(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            program: std::env::current_exe()?,
            directory: directory.to_owned(),
        })
    }

    /// Starts this program with other arguments; what it prints and logs goes to `<name>.log`.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub(crate) fn start(&self, name: &str, arguments: &[String]) -> io::Result<Process> {
        let output = self.log(name)?;
        self.start_with(name, arguments, output)
    }

    /// Starts this program with other arguments; what it prints goes to a file of its own.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub(crate) fn start_into(
        &self,
        name: &str,
        arguments: &[String],
        output: &Path,
    ) -> io::Result<Process> {
        self.start_with(name, arguments, appended(output)?)
    }

    fn start_with(&self, name: &str, arguments: &[String], output: File) -> io::Result<Process> {
        let mut command = Command::new(&self.program);
        command
            .arg("demo-leash")
            .arg(format!("--parent={}", std::process::id()))
            .arg("--")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(self.log(name)?)
            // Ctrl-C reaches only the demo, which ends the others in its order.
            .process_group(0)
            .kill_on_drop(true);
        // Settings of the one who runs the demo are not for its replicas and servers.
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("SYNOD_") {
                command.env_remove(variable);
            }
        }
        Ok(Process {
            name: name.to_owned(),
            child: command.spawn()?,
            log: self.log_path(name),
        })
    }

    fn log(&self, name: &str) -> io::Result<File> {
        appended(&self.log_path(name))
    }

    fn log_path(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.log"))
    }
}

impl Process {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Where it logs.
    pub(crate) fn log(&self) -> &Path {
        &self.log
    }

    /// How it has ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => Some(status.to_string()),
            Err(error) => Some(format!("its state cannot be read: {error}")),
        }
    }

    /// Waits until it has ended by itself.
    ///
    /// # Errors
    ///
    /// It has not in time.
    pub(crate) async fn wait(mut self, limit: Duration) -> io::Result<ExitStatus> {
        match timeout(limit, self.child.wait()).await {
            Ok(status) => status,
            Err(_) => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("{} did not end within {limit:?}", self.name),
            )),
        }
    }

    /// Kills it with SIGKILL.
    ///
    /// # Errors
    ///
    /// It cannot be killed.
    pub(crate) async fn kill(mut self) -> io::Result<()> {
        self.child.kill().await
    }

    /// Asks it to end, and waits until it has.
    ///
    /// # Errors
    ///
    /// It did not end in time, or not well.
    pub(crate) async fn stop(mut self) -> io::Result<()> {
        // It has not been waited for, so its id is still its own.
        let id = self
            .child
            .id()
            .and_then(|id| Pid::from_raw(id.cast_signed()));
        if let Some(id) = id {
            kill_process(id, Signal::TERM)?;
        }
        match timeout(END_LIMIT, self.child.wait()).await {
            Ok(status) => match status? {
                status if status.success() => Ok(()),
                status => Err(io::Error::other(format!(
                    "{} ended with {status}",
                    self.name
                ))),
            },
            Err(_) => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("{} did not end within {END_LIMIT:?} of SIGTERM", self.name),
            )),
        }
    }
}

fn appended(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
