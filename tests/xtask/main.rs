//! `cargo xtask`: every chore of the project behind one door, the same for people and for CI.
//!
//! A command is a list of steps, written down in `commands`. All of them run, even when one fails,
//! and each can be repeated alone by naming it: `cargo xtask check clippy`. A command that only looks, such as `test`,
//! fails when the checkout is not at the end what it was at the beginning.

mod commands;
mod step;
mod tools;
mod untouched;

use std::process::ExitCode;

use commands::Command;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match Command::parse(&words) {
        Ok((command, steps)) => step::run(command.name(), steps, command.writes()),
        Err(message) => {
            eprint!("{message}");
            ExitCode::from(2)
        }
    }
}
