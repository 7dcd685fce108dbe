//! One process of the program: started, stopped, killed, and never left behind.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{PipeReader, Seek as _, SeekFrom, pipe};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use tokio::process::{Child, Command};

use crate::program::synod;
use crate::waiting::within;

/// A process of the program. It is killed when this value is dropped.
pub(crate) struct Process {
    child: Child,
    what: String,
    log: PathBuf,
    /// The offset in the file where the output of this process begins.
    log_begin: u64,
}

impl Process {
    /// Starts the program. Its output is appended to the file `log`.
    pub(crate) fn start<A: AsRef<OsStr>>(what: &str, arguments: &[A], log: &Path) -> Self {
        Self::start_of(Command::new(synod()), what, arguments, log)
    }

    /// Starts the program as the command says.
    pub(crate) fn start_of<A: AsRef<OsStr>>(
        command: Command,
        what: &str,
        arguments: &[A],
        log: &Path,
    ) -> Self {
        let mut output = appended(log);
        let log_begin = output.seek(SeekFrom::End(0)).expect("a file has an end");
        let also = output.try_clone().expect("a file can be written by two");
        let mut process =
            Self::writing_to(command, what, arguments, (output.into(), also.into()), log);
        process.log_begin = log_begin;
        process
    }

    /// Starts the program with its output going into a pipe that is never read. Returns the reading end too; the pipe
    /// breaks when that is dropped.
    pub(crate) fn start_unread<A: AsRef<OsStr>>(
        what: &str,
        arguments: &[A],
        log: &Path,
    ) -> (Self, PipeReader) {
        let (unread, pipe) = pipe().expect("there are pipes");
        let also = pipe.try_clone().expect("a pipe can be written by two");
        let output = (pipe.into(), also.into());
        let process = Self::writing_to(Command::new(synod()), what, arguments, output, log);
        (process, unread)
    }

    fn writing_to<A: AsRef<OsStr>>(
        mut command: Command,
        what: &str,
        arguments: &[A],
        (output, errors): (Stdio, Stdio),
        log: &Path,
    ) -> Self {
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .kill_on_drop(true);
        // The variables that configure the tests must not reach the replicas.
        for (name, _) in std::env::vars_os() {
            let name_text = name.to_string_lossy();
            if name_text.starts_with("SYNOD_") || name_text.starts_with("OTEL_") {
                command.env_remove(name);
            }
        }
        let child = command.spawn().expect("the program can be started");
        Self {
            child,
            what: what.to_owned(),
            log: log.to_owned(),
            log_begin: 0,
        }
    }

    /// Its process id, until it has ended.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Whether it has not ended.
    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal)
            .unwrap_or_else(|error| panic!("no signal to {}: {error}", self.what));
    }

    /// Pauses it. All of its threads stand when this returns: one that writes to a file ends that first.
    pub(crate) fn pause(&self) {
        self.signal(Signal::STOP);
        waitid(WaitId::Pid(self.pid()), WaitIdOptions::STOPPED)
            .unwrap_or_else(|error| panic!("{} does not stop: {error}", self.what));
    }

    fn pid(&self) -> Pid {
        // A process that has ended and was waited for has no id, so a signal never reaches another one.
        let id = self
            .id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        id.unwrap_or_else(|| panic!("{} has ended already", self.what))
    }

    /// Waits until it ends by itself.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let what = format!("the end of {}", self.what);
        within(&what, self.child.wait())
            .await
            .expect("a child can be waited for")
    }

    /// Sends SIGKILL, and waits until it has ended.
    pub(crate) async fn kill(mut self) {
        self.signal(Signal::KILL);
        self.ended().await;
    }

    /// Sends SIGTERM, and waits until it has ended.
    pub(crate) async fn terminate(mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.ended().await
    }

    /// Its output.
    pub(crate) fn log(&self) -> String {
        let bytes = std::fs::read(&self.log).expect("the log of a process can be read");
        let begin = usize::try_from(self.log_begin).expect("logs are short");
        String::from_utf8_lossy(&bytes[begin..]).into_owned()
    }
}

fn appended(log: &Path) -> File {
    let log = OpenOptions::new().create(true).append(true).open(log);
    log.expect("the log of a process can be written")
}

impl Drop for Process {
    /// Kills the process and waits for it: no process outlives its test, and none stays a zombie.
    fn drop(&mut self) {
        let killed = self.child.start_kill();
        while killed.is_ok() && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::yield_now();
        }
    }
}
