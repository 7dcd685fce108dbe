//! The processes of the demo: starts them, watches them, and ends them by their ids.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// How long a process may take to end after SIGTERM, however busy the machine is. A replica hands over leadership, an API server
/// drains.
const END_LIMIT: Duration = Duration::from_secs(60);

/// Starts processes: each is this program again, with other arguments.
#[derive(Clone, Debug)]
pub(crate) struct Launcher {
    program: PathBuf,
    /// The directory of the logs.
    directory: PathBuf,
}

/// A running process. Dropping the value kills the process.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Launcher {
    /// # Errors
    ///
    /// The path of this program is unknown.
    pub(crate) fn new(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            program: std::env::current_exe()?,
            directory: directory.to_owned(),
        })
    }

    /// Starts this program with other arguments. What it prints and logs goes to `<name>.log`.
    ///
    /// # Errors
    ///
    /// The process cannot be started.
    pub(crate) fn start(&self, name: &str, arguments: &[String]) -> io::Result<Process> {
        let output = self.log(name)?;
        self.start_with(name, arguments, output)
    }

    /// Starts this program with other arguments. What it prints goes to `output`, what it logs to `<name>.log`.
    ///
    /// # Errors
    ///
    /// The process cannot be started.
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
            // Ctrl-C reaches only the demo, which then ends the other processes.
            .process_group(0)
            .kill_on_drop(true);
        // The user's `SYNOD_` settings must not reach the demo's replicas and servers.
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

    /// The path of its log.
    pub(crate) fn log(&self) -> &Path {
        &self.log
    }

    /// The exit status, once the process has ended.
    pub(crate) fn ended(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => Some(status.to_string()),
            Err(error) => Some(format!("its state cannot be read: {error}")),
        }
    }

    /// Waits until the process has ended by itself, and returns its exit status.
    ///
    /// # Errors
    ///
    /// It has not ended within `limit`.
    pub(crate) async fn wait(mut self, limit: Duration) -> io::Result<ExitStatus> {
        match timeout(limit, self.child.wait()).await {
            Ok(status) => status,
            Err(_) => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("{} did not end within {limit:?}", self.name),
            )),
        }
    }

    /// Kills the process with SIGKILL.
    ///
    /// # Errors
    ///
    /// The process cannot be killed.
    pub(crate) async fn kill(mut self) -> io::Result<()> {
        self.child.kill().await
    }

    /// Asks the process to end with SIGTERM, and waits until it has ended.
    ///
    /// # Errors
    ///
    /// It did not end in time, or ended with a failure.
    pub(crate) async fn stop(mut self) -> io::Result<()> {
        // The process has not been waited for, so the kernel cannot have given its id to another one.
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
