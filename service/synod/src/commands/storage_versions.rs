//! `synod storage-versions`; the file `check` has its subcommand `check`.

use clap::ArgMatches;
use synod_client::{ListStorageVersions, ReadOptions, Revision};

use super::{check, connect, equivalents, now, show, spelling};
use crate::args::{ChangeArgs, QueryArgs, StorageVersionsCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named::Resolver;
use crate::output;
use crate::views;

pub(crate) async fn run(
    command: &StorageVersionsCommand,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    match command {
        StorageVersionsCommand::List { unreported, query } => {
            list(*unreported, query, matches).await
        }
        StorageVersionsCommand::Get { name, query } => get(name, query, matches).await,
        StorageVersionsCommand::Matrix(query) => matrix(query, matches).await,
        StorageVersionsCommand::Check(args) => check::run(args, matches).await,
        StorageVersionsCommand::Forget {
            name,
            if_revision,
            change,
        } => forget(name, if_revision.map(Revision::new), change, matches).await,
        StorageVersionsCommand::Equivalents(command) => equivalents::run(command, matches).await,
        StorageVersionsCommand::History { name, query } => history(name, query, matches).await,
    }
}

async fn list(unreported: bool, query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let list = if unreported {
        ListStorageVersions::new().with_unreported()
    } else {
        ListStorageVersions::new()
    };
    let page = client.storage_versions(list).all().await?;
    show(&views::storage_versions(&page, now()), query.output)
}

async fn get(name: &str, query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let spelling = spelling(name, "NAME")?;
    let client = connect(&query.client, matches).await?;
    let resource = Resolver::load(&client)
        .await?
        .resolve_one("NAME", &spelling)?;
    let view = client
        .storage_version(&resource, ReadOptions::linearizable())
        .await?;
    show(&views::storage_version(&view, now()), query.output)
}

async fn matrix(query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let page = client
        .storage_versions(ListStorageVersions::new())
        .all()
        .await?;
    show(&views::matrix(&page), query.output)
}

async fn forget(
    name: &str,
    if_revision: Option<Revision>,
    change: &ChangeArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let spelling = spelling(name, "NAME")?;
    let client = connect(&change.client, matches).await?;
    let resource = Resolver::load(&client)
        .await?
        .resolve_one("NAME", &spelling)?;
    let forgotten = if change.dry_run {
        let tried = client.dry_run();
        tried.forget_resource(&resource, if_revision).await
    } else {
        client.forget_resource(&resource, if_revision).await
    };
    // If the session cannot be closed now, it ends by itself. That says nothing about the change.
    let _ = client.close().await;
    let revision = forgotten?.revision;
    let name = resource.qualified();
    let text = if change.dry_run {
        format!("{name} would be forgotten\n")
    } else {
        format!("{name} is forgotten at revision {revision}\n")
    };
    output::print(&text)?;
    Ok(Exit::Ok)
}

async fn history(name: &str, query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let spelling = spelling(name, "NAME")?;
    let client = connect(&query.client, matches).await?;
    let resource = Resolver::load(&client)
        .await?
        .resolve_one("NAME", &spelling)?;
    let history = client
        .agreement_history(&resource, ReadOptions::linearizable())
        .await?;
    show(&views::history(&history, now()), query.output)
}
