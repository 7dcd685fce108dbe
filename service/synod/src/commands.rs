//! The commands that ask a cluster, one file each: read the settings, ask, show.

pub(crate) mod check;
pub(crate) mod collections;
pub(crate) mod hash;
pub(crate) mod history;
pub(crate) mod lease;
pub(crate) mod lock;
pub(crate) mod members;
pub(crate) mod migrations;
pub(crate) mod objects;
pub(crate) mod observe;
pub(crate) mod rosters;
pub(crate) mod safety;
pub(crate) mod settings;
pub(crate) mod status;
pub(crate) mod storage_versions;
pub(crate) mod watch;

use std::time::Duration;

use clap::ArgMatches;
use synod_client::{Client, GroupResource, Violation, WallTime};
use synod_server::seams::{SystemWallClock, WallClock as _};

use crate::args::ClientArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{self, Document, Format};
use crate::settings::ClientSettings;

/// A client for one command. What changes something runs in a session, so its outcome is known whenever it answers.
async fn connect(args: &ClientArgs, matches: &ArgMatches) -> Result<Client, Failure> {
    let settings = ClientSettings::load(args, matches)?;
    client(settings.endpoints, settings.timeout).await
}

async fn client(endpoints: Vec<String>, timeout: Duration) -> Result<Client, Failure> {
    let builder = Client::builder()
        .endpoints(endpoints)
        .request_timeout(timeout);
    Ok(builder.connect().await?)
}

/// Prints a document, and then all is well.
fn show(document: &Document, format: Format) -> Result<Exit, Failure> {
    output::print(&document.render(format))?;
    Ok(Exit::Ok)
}

/// The resource of the storage version of this name.
fn resource(name: &str, place: &str) -> Result<GroupResource, Violation> {
    GroupResource::parse_storage_version_name(name).map_err(|fault| fault.at(place))
}

/// What time it is, for ages.
fn now() -> WallTime {
    SystemWallClock.now()
}
