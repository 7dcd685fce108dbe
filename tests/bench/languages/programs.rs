//! The programs of the other languages: builds them, and runs them for a round.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::ROUND;
use crate::calls::Load;
use crate::waiting::within;

/// A program that makes calls, and prints its calls per second.
pub(crate) struct Program {
    /// Its name in the output.
    pub(crate) name: &'static str,
    interpreter: PathBuf,
    words: &'static [&'static str],
}

/// Builds the packages as their own tests do, and returns the programs that use them.
pub(crate) fn built() -> [Program; 3] {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let target = target.expect("the folder is below the target");
    run(
        target,
        "python3",
        &["bindings/python/ci.py", "setup", "build"],
    );
    run(
        target,
        "node",
        &["bindings/node/ci.mjs", "install", "build"],
    );
    let python = target.join("python/venv/bin/python");
    [
        Program {
            name: "Python async",
            interpreter: python.clone(),
            words: &["bindings/python/bench.py"],
        },
        Program {
            name: "Python blocking",
            interpreter: python,
            words: &["bindings/python/bench.py", "--blocking"],
        },
        Program {
            name: "Node",
            interpreter: PathBuf::from("node"),
            words: &["bindings/node/bench.mjs"],
        },
    ]
}

/// Runs a step of a build. Its output goes beside the figures.
fn run(target: &Path, program: &str, words: &[&str]) {
    let status = std::process::Command::new(program)
        .args(words)
        .current_dir(synod_tests::checkout())
        .env("CARGO_TARGET_DIR", target)
        .stdin(Stdio::null())
        .stdout(std::io::stderr())
        .status()
        .unwrap_or_else(|error| panic!("{program} does not start: {error}"));
    assert!(status.success(), "{program} {words:?} failed: {status}");
}

impl Program {
    /// The number of calls per second that the program makes.
    pub(crate) async fn rate(&self, endpoints: &[String], load: Load) -> f64 {
        let output = tokio::process::Command::new(&self.interpreter)
            .args(self.words)
            .args(["--endpoints", &endpoints.join(",")])
            .args(["--call", load.call.name()])
            .args(["--callers", &load.callers.to_string()])
            .args(["--seconds", &ROUND.as_secs_f64().to_string()])
            .current_dir(synod_tests::checkout())
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .output();
        let output = within(&format!("the rate of {}", self.name), output).await;
        let output = output.unwrap_or_else(|error| panic!("{} does not start: {error}", self.name));
        assert!(
            output.status.success(),
            "{} failed: {}",
            self.name,
            output.status
        );
        let text = String::from_utf8_lossy(&output.stdout);
        let rate = text.trim().parse();
        rate.unwrap_or_else(|error| panic!("{} printed {text:?}: {error}", self.name))
    }
}
