//! Ties the demo's processes to the demo, so that none outlives it.
//!
//! The demo ends its processes itself, by their ids, when it is done, is interrupted or gives up. If the demo is killed
//! or panics, the kernel ends them. Each process is started through the hidden command `synod demo-leash`, which asks
//! the kernel to kill it when its parent dies, and then turns into the requested process: the setting survives `exec`.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use clap::Args;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

use synod_terminal::exit::Exit;
use synod_terminal::failure::Failure;

/// What to become.
#[derive(Debug, Args)]
pub struct LeashArgs {
    /// The process whose end is this one's.
    #[arg(long)]
    parent: i32,
    /// The arguments of this program, to become it again.
    #[arg(last = true, required = true)]
    arguments: Vec<OsString>,
}

/// Turns into the requested process. The kernel sends the signal when the thread dies that started the process, so the
/// demo starts processes from its main thread only.
///
/// # Errors
///
/// This program cannot be started again, or the parent has ended already.
pub fn run(args: &LeashArgs) -> Result<Exit, Failure> {
    let fault = |why: String| {
        let message = format!("a process of the demo cannot be started: {why}");
        Failure::local(message, "check the limits of this user: ulimit -a")
    };
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| fault(error.to_string()))?;
    // The parent may have ended before the signal was requested.
    if getppid() != Pid::from_raw(args.parent) {
        return Err(fault("its parent is gone".to_owned()));
    }
    let program = std::env::current_exe().map_err(|error| fault(error.to_string()))?;
    let error = Command::new(program).args(&args.arguments).exec();
    Err(fault(error.to_string()))
}
