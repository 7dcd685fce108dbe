//! The program `synod`: runs replicas, `dev` and `demo`, and has the commands that show and change a cluster.

mod args;
mod commands;
mod dev;
mod documents;
mod duration;
mod kubeconfig;
mod logging;
mod machine_version;
mod merge;
mod named;
mod output;
mod replicated;
mod serve;
mod settings;
mod supervisor;
mod traces;
mod views;

#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _};
use tokio::runtime::{Builder, Runtime};

use synod_demo as demo;
use synod_terminal::{exit, failure, signals};

use args::{Cli, Command};
use commands::{lease, objects};
use exit::Exit;
use failure::Failure;
use settings::LogFormat;

/// A replica allocates for each message and each row. With the system's allocator a durable write takes a quarter more of
/// the processors' time, and an idle replica 3 MiB less memory.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    if let Err(failure) = machine_version::limit() {
        return end_with(&failure).into();
    }
    let program = Cli::command();
    let words = args::in_order(std::env::args_os(), &program);
    let matches = program.get_matches_from(words);
    let ended = match Cli::from_arg_matches(&matches) {
        Ok(cli) => run(&cli.command, innermost(&matches)),
        Err(error) => error.exit(),
    };
    ended.unwrap_or_else(|failure| end_with(&failure)).into()
}

/// Prints why the program fails, and returns its exit code.
fn end_with(failure: &Failure) -> Exit {
    logging::last_words(failure.to_string());
    failure.exit()
}

fn run(command: &Command, matches: &ArgMatches) -> Result<Exit, Failure> {
    match command {
        Command::Serve(args) => serve::run(args, matches),
        Command::Dev(args) => many_threads()?.block_on(dev::run(args)),
        // The kernel ties the demo's processes to the thread that starts them.
        Command::Demo(args) => one_thread()?.block_on(demo::run(args)),
        Command::DemoApiserver(args) => {
            let _logging = logging::start("info", LogFormat::Text)?;
            one_thread()?.block_on(demo::run_apiserver(args))
        }
        Command::DemoStore(args) => one_thread()?.block_on(demo::run_store(args)),
        Command::DemoMigrator(args) => one_thread()?.block_on(demo::run_migrator(args)),
        Command::DemoLeash(args) => demo::run_leash(args),
        Command::Status(args) => one_thread()?.block_on(commands::status::run(args, matches)),
        Command::Cluster(args) => {
            one_thread()?.block_on(commands::cluster::run(&args.command, matches))
        }
        Command::Debug(args) => {
            one_thread()?.block_on(commands::debug::run(&args.command, matches))
        }
        Command::Doctor(args) => one_thread()?.block_on(commands::doctor::run(args, matches)),
        Command::LogLevel(args) => one_thread()?.block_on(commands::log_level::run(args, matches)),
        Command::Members(args) => one_thread()?.block_on(commands::members::run(args, matches)),
        Command::StorageVersions(args) => {
            one_thread()?.block_on(commands::storage_versions::run(&args.command, matches))
        }
        Command::Upgrade(args) => one_thread()?.block_on(commands::upgrade::run(args, matches)),
        Command::Topics(args) => one_thread()?.block_on(commands::topics::run(args, matches)),
        Command::Rosters(args) => one_thread()?.block_on(commands::rosters::run(args, matches)),
        Command::Collections(args) => {
            one_thread()?.block_on(commands::collections::run(args, matches))
        }
        Command::Get(args) => one_thread()?.block_on(objects::get::run(args, matches)),
        Command::Create(args) => one_thread()?.block_on(objects::create::run(args, matches)),
        Command::Replace(args) => one_thread()?.block_on(objects::replace::run(args, matches)),
        Command::Patch(args) => one_thread()?.block_on(objects::patch::run(args, matches)),
        Command::Delete(args) => one_thread()?.block_on(objects::delete::run(args, matches)),
        Command::Edit(args) => one_thread()?.block_on(objects::edit::run(args, matches)),
        Command::Apply(args) => one_thread()?.block_on(objects::apply::run(args, matches)),
        Command::Top(args) => one_thread()?.block_on(commands::top::run(args, matches)),
        Command::Watch(args) => one_thread()?.block_on(commands::watch::run(args, matches)),
        Command::Settings(args) => one_thread()?.block_on(commands::settings::run(args, matches)),
        Command::History(args) => {
            one_thread()?.block_on(commands::history::run(&args.command, matches))
        }
        Command::Migrations(args) => {
            one_thread()?.block_on(commands::migrations::run(&args.command, matches))
        }
        Command::Migrate(args) => one_thread()?.block_on(commands::migrate::run(args, matches)),
        Command::Observe(args) => one_thread()?.block_on(commands::observe::run(args, matches)),
        Command::CheckBinary(args) => {
            one_thread()?.block_on(commands::safety::check_binary(args, matches))
        }
        Command::CheckDrop(args) => {
            one_thread()?.block_on(commands::safety::check_drop(args, matches))
        }
        Command::Lease(args) => one_thread()?.block_on(lease::run(&args.command, matches)),
        Command::Lock(args) => one_thread()?.block_on(commands::lock::run(args, matches)),
        Command::Elect(args) => one_thread()?.block_on(commands::lock::elect(args, matches)),
        Command::Config(args) => commands::config::run(&args.command),
        Command::Backup(args) => {
            one_thread()?.block_on(commands::backup::run(&args.command, matches))
        }
        Command::Certs(args) => commands::certs::run(&args.command),
        Command::Policy(args) => commands::policy::run(&args.command),
        Command::Completions(args) => commands::manual::completions(args.shell, Cli::command()),
        Command::Man(args) => commands::manual::pages(&args.out, Cli::command()),
        Command::Hash(args) => commands::hash::run(args),
    }
}

/// The arguments of the innermost subcommand.
fn innermost(matches: &ArgMatches) -> &ArgMatches {
    let mut matches = matches;
    while let Some((_, inner)) = matches.subcommand() {
        matches = inner;
    }
    matches
}

/// The runtime of a command that only calls a cluster.
fn one_thread() -> Result<Runtime, Failure> {
    started(Builder::new_current_thread().enable_all().build())
}

/// The runtime of replicas.
fn many_threads() -> Result<Runtime, Failure> {
    started(Builder::new_multi_thread().enable_all().build())
}

fn started(runtime: std::io::Result<Runtime>) -> Result<Runtime, Failure> {
    runtime.map_err(|error| {
        let message = format!("threads cannot be started: {error}");
        Failure::local(message, "check the limits of this user: ulimit -a")
    })
}
