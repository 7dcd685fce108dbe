//! `synod storage-versions equivalents`: says which resources are one store under several names.

use clap::ArgMatches;
use synod_client::{Client, Error, GroupResource, Header};

use super::{connect, spelling};
use crate::args::{ChangeArgs, EquivalentsCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named::{Resolver, text};
use crate::output;

pub(crate) async fn run(
    command: &EquivalentsCommand,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    match command {
        EquivalentsCommand::Add { names, new, change } => {
            add(names, new.new, change, matches).await
        }
        EquivalentsCommand::Remove { name, change } => remove(name, change, matches).await,
    }
}

async fn add(
    names: &[String],
    is_new: bool,
    change: &ChangeArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let typed = names.iter().enumerate();
    let typed = typed.map(|(i, name)| spelling(name, &format!("NAMES[{i}]")));
    let typed = typed.collect::<Result<Vec<_>, _>>()?;
    let client = connect(&change.client, matches).await?;
    let mut resolver = Resolver::load_unless_new(&client, is_new).await?;
    let named = typed.iter().enumerate();
    let named = named.map(|(i, name)| resolver.resolve(&format!("NAMES[{i}]"), name));
    let resources: Option<Vec<GroupResource>> = named.collect::<Vec<_>>().into_iter().collect();
    let resources = resolver.finish(resources)?;
    let listed: Vec<String> = resources.iter().map(text).collect();
    let joined = match change.dry_run {
        true => client.dry_run().add_equivalents(resources).await,
        false => client.add_equivalents(resources).await,
    };
    let what = format!("{}: one store under these names", listed.join(", "));
    tell(&client, change, joined, &what).await
}

async fn remove(name: &str, change: &ChangeArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let spelling = spelling(name, "NAME")?;
    let client = connect(&change.client, matches).await?;
    let resource = Resolver::load(&client)
        .await?
        .resolve_one("NAME", &spelling)?;
    let removed = match change.dry_run {
        true => client.dry_run().remove_equivalent(&resource).await,
        false => client.remove_equivalent(&resource).await,
    };
    let what = format!("{}: a store of its own", text(&resource));
    tell(&client, change, removed, &what).await
}

async fn tell(
    client: &Client,
    change: &ChangeArgs,
    changed: Result<Header, Error>,
    what: &str,
) -> Result<Exit, Failure> {
    // If the session cannot be closed now, it ends by itself. That says nothing about the change.
    let _ = client.close().await;
    let revision = changed?.revision;
    let when = match change.dry_run {
        true => "it would be so".to_owned(),
        false => format!("revision {revision}"),
    };
    output::print(&format!("{what} ({when})\n"))?;
    Ok(Exit::Ok)
}
