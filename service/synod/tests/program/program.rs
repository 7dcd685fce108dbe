//! Runs the program and reads what it prints.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::{Instant, timeout};

/// The longest wait for anything in these tests, however busy the machine is.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// The output and the exit code of a command.
#[derive(Debug)]
pub(crate) struct Printed {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The program with these arguments, and without settings of whoever runs the tests.
pub(crate) fn synod(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_synod"));
    command.args(words).stdin(Stdio::null()).kill_on_drop(true);
    for (name, _) in
        std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SYNOD_"))
    {
        command.env_remove(name);
    }
    for name in ["HOME", "KUBECONFIG", "XDG_CONFIG_HOME"] {
        command.env_remove(name);
    }
    command
}

/// Runs the program to its end.
pub(crate) async fn run(words: &[&str]) -> Printed {
    finish(synod(words)).await
}

pub(crate) async fn finish(mut command: Command) -> Printed {
    let ended = timeout(LIMIT, command.output())
        .await
        .expect("the program does not end")
        .unwrap();
    Printed {
        code: ended.status.code().expect("the program was killed"),
        out: String::from_utf8(ended.stdout).unwrap(),
        err: String::from_utf8(ended.stderr).unwrap(),
    }
}

/// Asks until the answer is `Ok`, for what no event tells; an `Err` says what was seen instead.
pub(crate) async fn eventually<T>(what: &str, ask: impl AsyncFn() -> Result<T, String>) -> T {
    let deadline = Instant::now() + LIMIT;
    loop {
        // Boxed, since whoever waits would carry all that it asks with.
        match Box::pin(ask()).await {
            Ok(answer) => return answer,
            Err(seen) if Instant::now() > deadline => {
                panic!("waited {LIMIT:?} in vain for {what}; last seen: {seen}")
            }
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

/// Waits until `synod status` shows one leader and two followers: a stall of the machine has replicas elect anew.
pub(crate) async fn until_led(status: impl AsyncFn() -> Printed) {
    let asking = async || {
        let Printed { code, out, err } = status().await;
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        let count = |role: &str| out.lines().filter(|line| line.contains(role)).count();
        match (count("leader"), count("follower")) {
            (1, 2) => Ok(()),
            _ => Err(out),
        }
    };
    eventually("one leader and two followers", asking).await;
}

/// A program that runs until it is asked to end.
pub(crate) struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    /// Starts the program. What it logs goes to the standard error of the test.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        Self {
            child,
            lines: BufReader::new(stdout).lines(),
        }
    }

    /// The next line that it prints; `None` at the end of its output.
    pub(crate) async fn line(&mut self) -> Option<String> {
        timeout(LIMIT, self.lines.next_line())
            .await
            .expect("nothing is printed")
            .unwrap()
    }

    /// Writes a line to its standard input, which must be a pipe.
    pub(crate) async fn tell(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let id = self.child.id().expect("it has ended already");
        let id = rustix::process::Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        timeout(LIMIT, self.child.wait())
            .await
            .expect("it does not end")
            .unwrap()
    }

    /// Closes the pipe that it prints to.
    pub(crate) fn stop_reading(self) -> Child {
        self.child
    }
}
