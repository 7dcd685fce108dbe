//! Commands of the program, run to their ends.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Output, Stdio};

use crate::program::synod;
use crate::waiting::within;

/// Runs a command of the program to its end. The variables that configure the tests do not reach it.
pub(crate) async fn run<A: AsRef<OsStr>>(arguments: &[A]) -> Output {
    run_of(synod(), arguments).await
}

/// Runs a command of another build of the program.
pub(crate) async fn run_of<A: AsRef<OsStr>>(program: &Path, arguments: &[A]) -> Output {
    let mut command = tokio::process::Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SYNOD_") {
            command.env_remove(name);
        }
    }
    let ended = within("the end of a command", command.output()).await;
    ended.expect("the program can be started")
}
