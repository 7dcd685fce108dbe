//! A shell as a reader has it, and a cluster of its own.

use std::path::PathBuf;
use std::process::Stdio;

use synod_tests::free_address;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::program::{VARIABLE, built, synod};

/// The line that ends what a command has printed.
const MARK: &str = "-- the command has ended with";

/// The first port that the page names, and how many `synod dev` has from there.
const PORT: u16 = 4600;
const PORTS: u16 = 33;

/// A shell in an empty folder.
pub(super) struct Session {
    shell: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    /// The first port of the cluster here.
    port: u16,
    _folder: TempDir,
}

/// The output of a command, on both streams, and its exit code.
pub(super) struct CommandOutput {
    pub(super) lines: Vec<String>,
    pub(super) code: i32,
}

impl Session {
    pub(super) fn start() -> Self {
        let folder = TempDir::with_prefix_in("start-", env!("CARGO_TARGET_TMPDIR"))
            .expect("the target folder can be written");
        let mut command = Command::new("bash");
        command
            .current_dir(folder.path())
            .env("PATH", path(&folder))
            .env("HOME", folder.path())
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("SYNOD_") {
                command.env_remove(name);
            }
        }
        let port = ports();
        command.env("SYNOD_ENDPOINTS", format!("127.0.0.1:{port}"));
        let mut shell = command.spawn().expect("there is a shell");
        let input = shell.stdin.take().expect("its input is a pipe");
        let output = shell.stdout.take().expect("its output is a pipe");
        Self {
            shell,
            input,
            lines: BufReader::new(output).lines(),
            port,
            _folder: folder,
        }
    }

    /// Gives a command, and waits until it has ended.
    pub(super) async fn give(&mut self, command: &str) -> CommandOutput {
        let command = command.replace("synod dev", &format!("synod dev --port {}", self.port));
        let script = format!(
            "{{\n{command}\n}} 2>&1 < /dev/null\ncode=$?; echo; echo '{MARK}' $code; (exit $code)\n"
        );
        let written = self.input.write_all(script.as_bytes()).await;
        written.expect("the shell reads");
        let mut lines = Vec::new();
        loop {
            let line = self.lines.next_line().await.expect("it prints text");
            let line = line.expect("the shell goes on");
            if let Some(code) = line.strip_prefix(MARK) {
                let code = code.trim().parse().expect("a code is a number");
                // The line break before the mark.
                lines.pop_if(|last: &mut String| last.is_empty());
                return CommandOutput { lines, code };
            }
            lines.push(self.with_ports_of_the_page(line));
        }
    }

    fn with_ports_of_the_page(&self, line: String) -> String {
        (0..PORTS).fold(line, |line, step| {
            let [here, page] = [self.port, PORT].map(|first| format!("127.0.0.1:{}", first + step));
            line.replace(&here, &page)
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // What the page has started goes with the shell, also after a failure.
        if let Some(group) = self.shell.id() {
            let mut kill = std::process::Command::new("kill");
            let _ = kill.args(["-KILL", "--", &format!("-{group}")]).status();
        }
    }
}

/// The first of as many free ports in a row as `synod dev` takes.
fn ports() -> u16 {
    loop {
        let ports: Vec<u16> = (0..PORTS).map(|_| free_address().port()).collect();
        if ports[ports.len() - 1] == ports[0] + PORTS - 1 {
            return ports[0];
        }
    }
}

/// A path on which `synod` and `voter` are found first.
fn path(folder: &TempDir) -> String {
    let programs = folder.path().join(".bin");
    std::fs::create_dir(&programs).expect("the folder can be written");
    for (name, program) in [("synod", synod().to_owned()), ("voter", voter())] {
        std::os::unix::fs::symlink(program, programs.join(name)).expect("a link can be made");
    }
    let rest = std::env::var("PATH").unwrap_or_default();
    format!("{}:{rest}", programs.display())
}

/// The example. Where `synod` was built before, the examples were too, beside this test.
fn voter() -> PathBuf {
    if std::env::var_os(VARIABLE).is_none() {
        return built(
            &["--package", "synod-client", "--example", "voter"],
            "voter",
        );
    }
    let this = std::env::current_exe().expect("this test is a file");
    // <target>/<folder of the profile>/deps/<this>
    let folder = this
        .ancestors()
        .nth(2)
        .expect("cargo puts tests into folders");
    folder.join("examples").join("voter")
}
