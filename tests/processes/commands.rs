//! Commands of the program, run to their ends.

use std::ffi::OsStr;
use std::process::{Output, Stdio};

use crate::release::Release;
use crate::waiting::within;

/// Runs a command of the program to its end. The variables that configure the tests do not reach it.
pub(crate) async fn run<A: AsRef<OsStr>>(arguments: &[A]) -> Output {
    run_of(Release::Present, arguments).await
}

/// Runs a command of this release of the program.
pub(crate) async fn run_of<A: AsRef<OsStr>>(release: Release, arguments: &[A]) -> Output {
    let mut command = release.command();
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
