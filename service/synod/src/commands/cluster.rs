//! `synod cluster`: changes the replica set, and who leads.

mod force_new;

use std::time::Duration;

use clap::ArgMatches;
use synod_client::{Changed, Client, Error, ErrorKind};
use tokio::time::Instant;

use super::{connect, show, status};
use crate::args::{ClusterCommand, QueryArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::ClientSettings;
use crate::{output, views};

pub(crate) async fn run(command: &ClusterCommand, matches: &ArgMatches) -> Result<Exit, Failure> {
    match command {
        ClusterCommand::Status(query) => status::run(query, matches).await,
        ClusterCommand::Add {
            replica,
            peer,
            query,
        } => {
            let client = connect(&query.client, matches).await?;
            let added = client.add_replica(*replica, peer).await?;
            told(&added, *replica, query)
        }
        ClusterCommand::Promote {
            replica,
            wait,
            query,
        } => {
            let client = connect(&query.client, matches).await?;
            let promoted = promoted(&client, *replica, None, *wait).await?;
            told(&promoted, *replica, query)
        }
        ClusterCommand::Remove { replica, query } => {
            let client = connect(&query.client, matches).await?;
            let removed = client.remove_replica(*replica).await?;
            told(&removed, *replica, query)
        }
        ClusterCommand::Replace {
            old,
            new,
            peer,
            wait,
            query,
        } => {
            let client = connect(&query.client, matches).await?;
            client.add_replica(*new, peer).await?;
            let replaced = promoted(&client, *new, Some(*old), *wait).await?;
            told(&replaced, *new, query)
        }
        ClusterCommand::TransferLeader { replica, query } => {
            let client = connect(&query.client, matches).await?;
            let handed = client.transfer_leader(*replica).await?;
            show(&views::leader_changed(&handed), query.output)
        }
        ClusterCommand::Checkpoint(query) => checkpoints(query, matches).await,
        ClusterCommand::ForceNew(args) => force_new::run(args),
    }
}

/// Makes a learner a voter, and says meanwhile why it is none yet.
async fn promoted(
    client: &Client,
    replica: u64,
    replaces: Option<u64>,
    wait: Duration,
) -> Result<Changed, Error> {
    let until = Instant::now() + wait;
    loop {
        match client.promote_replica(replica, replaces).await {
            Err(error) if may_come(&error) && Instant::now() < until => {
                output::warn(&format!("not yet: {}", error.message()));
            }
            ended => return ended,
        }
    }
}

/// Whether it may only be too early. A call waits by itself, so that these are not asked in a hot loop.
fn may_come(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Unavailable | ErrorKind::DeadlineExceeded | ErrorKind::UnknownOutcome
    )
}

/// Asks each replica by itself: a checkpoint is one replica's own.
async fn checkpoints(query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let settings = ClientSettings::load(&query.client, matches)?;
    let mut written = Vec::new();
    for endpoint in settings.endpoints.clone() {
        let one = ClientSettings {
            endpoints: vec![endpoint],
            ..settings.clone()
        };
        written.push(one.connect().await?.checkpoint().await?);
    }
    show(&views::checkpoints(&written), query.output)
}

fn told(changed: &Changed, replica: u64, query: &QueryArgs) -> Result<Exit, Failure> {
    show(&views::replica_changed(changed, replica), query.output)
}
