//! `synod migrations`.

mod watch;

use clap::ArgMatches;
use synod_client::{
    GroupResource, Header, ListMigrations, MigrationId, MigrationReason, ReadOptions,
};

use super::{connect, now, resource, show};
use crate::args::{ClientArgs, MigrationsCommand, QueryArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{output, views};

pub(crate) async fn run(
    command: &MigrationsCommand,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    match command {
        MigrationsCommand::List(query) => list(query, matches).await,
        MigrationsCommand::Get { name, query } => get(&named(name)?, query, matches).await,
        MigrationsCommand::Watch { name, client } => {
            let id = named(name)?;
            watch::run(&connect(client, matches).await?, &id).await
        }
        MigrationsCommand::Start {
            resource,
            rewrite_all,
            client,
        } => start(&of(resource)?, *rewrite_all, client, matches).await,
        MigrationsCommand::Abort { name, client } => {
            let id = named(name)?;
            let client = connect(client, matches).await?;
            let aborted = client.abort_migration(&id).await;
            // The session would end by itself; that it could not be ended now says nothing about the change.
            let _ = client.close().await;
            done(&format!("{id} is aborted"), &aborted?)
        }
        MigrationsCommand::Retry { name, client } => {
            let id = named(name)?;
            let client = connect(client, matches).await?;
            let retried = client.retry_migration(&id).await;
            let _ = client.close().await;
            done(&format!("{id} waits for a worker"), &retried?)
        }
        MigrationsCommand::Reset {
            resource, client, ..
        } => reset(resource.as_deref(), client, matches).await,
    }
}

async fn list(query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let page = client.migrations(ListMigrations::new()).all().await?;
    show(&views::migrations(&page, now()), query.output)
}

async fn get(id: &MigrationId, query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let view = client.migration(id, ReadOptions::linearizable()).await?;
    show(&views::migration(&view, now()), query.output)
}

async fn start(
    resource: &GroupResource,
    rewrite_all: bool,
    args: &ClientArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let reason = if rewrite_all {
        MigrationReason::RewriteAll
    } else {
        MigrationReason::Manual
    };
    let client = connect(args, matches).await?;
    let started = client.start_migration(resource, reason).await;
    let _ = client.close().await;
    output::print(&format!("{}\n", started?.id))?;
    Ok(Exit::Ok)
}

async fn reset(
    name: Option<&str>,
    args: &ClientArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let resource = name.map(of).transpose()?;
    let client = connect(args, matches).await?;
    let reset = client.reset_storage_states(resource.as_ref()).await;
    let _ = client.close().await;
    let what = format!("{} is unknown", name.unwrap_or("what is stored"));
    done(&what, &reset?.header)
}

fn done(what: &str, header: &Header) -> Result<Exit, Failure> {
    output::print(&format!("{what} at revision {}\n", header.revision))?;
    Ok(Exit::Ok)
}

fn named(name: &str) -> Result<MigrationId, Failure> {
    MigrationId::parse(name)
        .map_err(|faults| Failure::invalid("this is no migration", faults).at(|_| "NAME".into()))
}

fn of(name: &str) -> Result<GroupResource, Failure> {
    resource(name, "RESOURCE")
        .map_err(|fault| Failure::invalid("this is no resource", fault.into()))
}
