//! The command of `--through`: a backup goes through it on its way to a file.
//!
//! The command runs in a process group of its own. Whatever ends the backup early, also a signal to this program, kills the
//! group, so that nothing of it goes on to write.

use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::Sender;
use tokio::process::{Child, ChildStderr, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::failure::Failure;

/// The time that the command has to read more, or to end after the last byte. A replica may be silent for as long.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(60);

/// The time in which a killed command ends, and the standard error of any ended command. A process that the command has left
/// behind may hold it open.
const LINGER_MAX: Duration = Duration::from_secs(1);

/// The bytes of the command's standard error that are shown: the last ones, since these say why it failed.
const ERRORS_BYTES_MAX: usize = 2 << 10;

/// A running command that reads a backup and writes a file.
pub(super) struct Filter {
    input: Sender,
    process: Process,
}

impl Filter {
    /// Starts the command by `sh -c`, with the file as its standard output.
    pub(super) fn start(
        command: &str,
        output: File,
        silence_max: Duration,
    ) -> Result<Self, Failure> {
        let started = Self::spawn(command, output, silence_max);
        started.map_err(|error| {
            let message = format!("the command `{command}` cannot be started: {error}");
            Failure::local(
                message,
                "check that there is a shell `sh`, and the limits of this user: ulimit -a",
            )
        })
    }

    fn spawn(command: &str, output: File, silence_max: Duration) -> io::Result<Self> {
        let (unread, input) = io::pipe()?;
        let mut leader = Command::new("sh")
            .args(["-c", command])
            .stdin(Stdio::from(unread.try_clone()?))
            .stdout(Stdio::from(output))
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let errors = ErrorLog::collect(leader.stderr.take());
        let process = Process {
            command: command.to_owned(),
            leader,
            unread,
            errors,
            silence_max,
        };
        let input = Sender::from_owned_fd(OwnedFd::from(input))?;
        Ok(Self { input, process })
    }

    /// Writes bytes of the backup to the command.
    pub(super) async fn write(&mut self, mut bytes: &[u8]) -> Result<(), Failure> {
        let Self { input, process } = self;
        while !bytes.is_empty() {
            let written = tokio::select! {
                biased;
                status = process.leader.wait() => Err(status.map_or_else(End::Lost, End::Early)),
                written = timeout(process.silence_max, input.write(bytes)) => match written {
                    Ok(written) => written.map_err(End::Lost),
                    Err(_) => Err(End::Stalled),
                },
            };
            match written {
                Ok(length) => bytes = &bytes[length..],
                Err(end) => return Err(process.fail(end).await),
            }
        }
        Ok(())
    }

    /// Ends the command's input, and waits for its end. Returns what it wrote to standard error.
    pub(super) async fn finish(self) -> Result<String, Failure> {
        let Self { input, mut process } = self;
        drop(input);
        let status = timeout(process.silence_max, process.leader.wait()).await;
        let end = match status {
            Ok(Ok(status)) if !status.success() || process.has_left_bytes() => End::Early(status),
            Ok(Ok(_)) => return Ok(process.errors.read().await),
            Ok(Err(error)) => End::Lost(error),
            Err(_) => End::Stalled,
        };
        Err(process.fail(end).await)
    }
}

/// The end of a command that has written no whole backup.
enum End {
    /// It ended with a failure, or with success before it had read all.
    Early(ExitStatus),
    /// It neither read nor ended in time.
    Stalled,
    /// The system has lost it.
    Lost(io::Error),
}

/// The process group of a command. It is killed when this is dropped before the command has ended.
struct Process {
    command: String,
    leader: Child,
    /// The end of the input that the command reads, too: it shows whether the command has left anything unread. A write into the
    /// pipe succeeds also if nothing is read any more.
    unread: PipeReader,
    errors: ErrorLog,
    silence_max: Duration,
}

impl Process {
    fn has_left_bytes(&self) -> bool {
        ioctl_fionread(&self.unread).is_ok_and(|length| length > 0)
    }

    /// Kills what is left of the command, and returns the failure that names it.
    async fn fail(&mut self, end: End) -> Failure {
        self.kill();
        let _ = timeout(LINGER_MAX, self.leader.wait()).await;
        let errors = self.errors.read().await;
        let errors = match errors.trim_end() {
            "" => "it wrote nothing to standard error".to_owned(),
            errors => format!("it wrote to standard error: {errors}"),
        };
        let what = match &end {
            End::Early(status) if status.success() => {
                "ended with success before it had read the whole backup".to_owned()
            }
            End::Early(status) => format!("failed with {status}"),
            End::Stalled => format!(
                "neither read on nor ended for {:?}, and was killed",
                self.silence_max
            ),
            End::Lost(error) => format!("cannot be written to or waited for: {error}"),
        };
        let message = format!("the command `{}` {what}; {errors}", self.command);
        let advice = match end {
            End::Stalled => {
                "no file was written: see what the command waits for, or give it more time with --timeout"
            }
            _ => {
                "no file was written: correct the command, which must read all of its standard input"
            }
        };
        Failure::local(message, advice)
    }

    /// Kills the group. A group whose leader was waited for is left alone: its number may be that of another one by now.
    fn kill(&self) {
        let leader = self.leader.id().and_then(|id| i32::try_from(id).ok());
        if let Some(group) = leader.and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The last bytes of a command's standard error, which is read all the time: a full pipe would stop the command.
struct ErrorLog {
    last: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl ErrorLog {
    fn collect(from: Option<ChildStderr>) -> Self {
        let last = Arc::new(Mutex::new(Vec::new()));
        let to = Arc::clone(&last);
        let reader = tokio::spawn(async move {
            let Some(mut from) = from else { return };
            let mut bytes = [0; ERRORS_BYTES_MAX];
            while let Ok(length @ 1..) = from.read(&mut bytes).await {
                let mut last = to.lock().unwrap_or_else(PoisonError::into_inner);
                last.extend_from_slice(&bytes[..length]);
                let surplus = last.len().saturating_sub(ERRORS_BYTES_MAX);
                last.drain(..surplus);
            }
        });
        Self { last, reader }
    }

    /// Waits for the end of standard error, but not for long, and returns the last of it.
    async fn read(&mut self) -> String {
        let _ = timeout(LINGER_MAX, &mut self.reader).await;
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&last).into_owned()
    }
}

impl Drop for ErrorLog {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

#[cfg(test)]
mod tests;
