//! `synod cluster`: changes the replica set, and who leads.

mod force_new;

use std::time::Duration;

use clap::ArgMatches;
use synod_client::{Changed, CheckpointWritten, Client, Error, ErrorKind};
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
            can_be_replaced(&client, *old, *new).await?;
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

/// Refuses to replace what is not there, before anything is changed. Where the new one is in the set already, an earlier try has
/// begun or even ended, and the replicas know best.
async fn can_be_replaced(client: &Client, old: u64, new: u64) -> Result<(), Failure> {
    let replicas = client.status().await?.replicas;
    let is_in = |id| replicas.iter().any(|replica| replica.replica_id == id);
    if is_in(old) || is_in(new) {
        return Ok(());
    }
    let ids: Vec<String> = replicas
        .iter()
        .map(|it| it.replica_id.to_string())
        .collect();
    let message = format!(
        "replica {old} is not in the replica set, which has replica {}; nothing was changed",
        ids.join(" and replica ")
    );
    Err(Failure::of(ErrorKind::NotFound, message))
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
    let (mut written, mut failed) = (Vec::new(), None);
    for endpoint in settings.endpoints.clone() {
        let one = ClientSettings {
            endpoints: vec![endpoint.clone()],
            ..settings.clone()
        };
        match checkpoint(one).await {
            Ok(checkpoint) => written.push(checkpoint),
            Err(failure) => failed = failed.or(Some(failure.about(&endpoint))),
        }
    }
    // What was written is named even if a replica was not reached.
    if !written.is_empty() || failed.is_none() {
        show(&views::checkpoints(&written), query.output)?;
    }
    failed.map_or(Ok(Exit::Ok), Err)
}

async fn checkpoint(one: ClientSettings) -> Result<CheckpointWritten, Failure> {
    Ok(one.connect().await?.checkpoint().await?)
}

fn told(changed: &Changed, replica: u64, query: &QueryArgs) -> Result<Exit, Failure> {
    show(&views::replica_changed(changed, replica), query.output)
}
