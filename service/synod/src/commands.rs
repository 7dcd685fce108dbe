//! The commands, one file each: read the settings, call the cluster, print the answer. `certs`, `config`, `hash`, `manual`,
//! `policy` and what works on files need no cluster.

mod api_server;
pub(crate) mod backup;
pub(crate) mod certs;
pub(crate) mod check;
pub(crate) mod cluster;
pub(crate) mod collections;
pub(crate) mod config;
pub(crate) mod debug;
pub(crate) mod doctor;
mod equivalents;
pub(crate) mod hash;
pub(crate) mod history;
pub(crate) mod lease;
pub(crate) mod lock;
pub(crate) mod log_level;
pub(crate) mod manual;
pub(crate) mod members;
mod metrics_port;
pub(crate) mod migrate;
pub(crate) mod migrations;
pub(crate) mod objects;
pub(crate) mod observe;
pub(crate) mod policy;
pub(crate) mod rosters;
pub(crate) mod safety;
pub(crate) mod settings;
pub(crate) mod status;
pub(crate) mod storage_versions;
pub(crate) mod top;
pub(crate) mod topics;
pub(crate) mod upgrade;
pub(crate) mod watch;

use clap::ArgMatches;
use synod_client::{Client, Header, ResourceSpelling, WallTime};
use synod_server::seams::{SystemWallClock, WallClock as _};

use crate::args::ClientArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named;
use crate::output::{self, Document, Format};
use crate::settings::ClientSettings;

/// A client for one command. Changes run in a session, so an answer always tells the outcome of a change.
async fn connect(args: &ClientArgs, matches: &ArgMatches) -> Result<Client, Failure> {
    ClientSettings::load(args, matches)?.connect().await
}

/// Prints a document, and ends with success.
fn show(document: &Document, format: Format) -> Result<Exit, Failure> {
    output::print(&document.render(format))?;
    Ok(Exit::Ok)
}

/// Prints what was done, and at which revision.
fn done(what: &str, header: &Header) -> Result<Exit, Failure> {
    output::print(&format!("{what} at revision {}\n", header.revision))?;
    Ok(Exit::Ok)
}

/// Reads the one name of a resource that a command takes, without asking what is known.
fn spelling(name: &str, place: &str) -> Result<ResourceSpelling, Failure> {
    named::spelling(name, place).map_err(|faults| Failure::invalid("this is no resource", faults))
}

/// A name for this process that no other one of the cluster has: this text, the host and the number of the process.
fn process_name(of: &str) -> String {
    let system = rustix::system::uname();
    let host = system.nodename().to_string_lossy();
    format!("{of}-{host}-{}", std::process::id())
}

/// The wall-clock time, from which ages are computed.
pub(crate) fn now() -> WallTime {
    SystemWallClock.now()
}
