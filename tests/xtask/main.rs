//! `cargo xtask`: all chores of the project in one program, the same for people and for CI.
//!
//! A command is a list of steps, defined in `commands`. All steps run even when one fails, unless the others depend on
//! it, and each can be run alone by naming it: `cargo xtask check clippy`. A command that must not write, such as
//! `test`, fails if it has changed the checkout.

mod commands;
mod failures;
mod lanes;
mod step;
mod testing;
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
