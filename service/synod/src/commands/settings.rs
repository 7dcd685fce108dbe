//! `synod settings`: shows and changes the replicated settings.

use clap::ArgMatches;
use synod_client::{ReadOptions, Revision};

use super::{connect, show};
use crate::args::{QueryArgs, SettingsArgs, SettingsCommand, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named::Resolver;
use crate::replicated;
use crate::views;

pub(crate) async fn run(args: &SettingsArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    match &args.command {
        None => get(&args.query, matches).await,
        Some(SettingsCommand::Get(query)) => get(query, matches).await,
        Some(SettingsCommand::Set {
            assignments,
            new,
            write,
        }) => set((assignments, new.new), write, matches).await,
    }
}

async fn get(query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let view = client.settings(ReadOptions::linearizable()).await?;
    show(&views::settings(&view), query.output)
}

async fn set(
    (assignments, is_new): (&[String], bool),
    write: &WriteArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let (mut patch, names) = replicated::patch(assignments)
        .map_err(|faults| Failure::invalid("these settings cannot be set", faults))?;
    let client = connect(&write.query.client, matches).await?;
    let typed = replicated::resource_spellings(assignments).unwrap_or_default();
    if !typed.is_empty() {
        let mut resolver = Resolver::load_unless_new(&client, is_new).await?;
        let resources = typed.iter();
        let resources = resources.filter_map(|name| resolver.resolve("enforce_persisted", name));
        let resources = resources.collect();
        patch.enforce_persisted = Some(resolver.finish(Some(resources))?);
    }
    let if_revision = write.if_revision.map(Revision::new);
    let changed = if write.dry_run {
        client.dry_run().update_settings(patch, if_revision).await
    } else {
        client.update_settings(patch, if_revision).await
    };
    // If the session cannot be closed now, it ends by itself. That says nothing about the change.
    let _ = client.close().await;
    let changed = changed.map_err(|error| Failure::from(error).at(replicated::typed))?;
    show(
        &views::settings_changed(&changed, names),
        write.query.output,
    )
}
