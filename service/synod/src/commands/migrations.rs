//! `synod migrations`: shows, starts, aborts, deletes, retries, releases and resets migrations.

mod watch;

use std::num::NonZeroU64;

use clap::ArgMatches;
use synod_client::{
    ClaimKey, ClaimToken, Client, DeleteMigration, ErrorKind, Header, ListMigrations,
    MigrationAlias, MigrationId, MigrationName, MigrationReason, MigrationView, Preconditions,
    ReadOptions, ResourceSpelling, Revision,
};

use super::{connect, done, now, show, spelling};
use crate::args::{ChangeArgs, MigrationsCommand, QueryArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named::Resolver;
use crate::{output, views};

pub(crate) async fn run(
    command: &MigrationsCommand,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    match command {
        MigrationsCommand::List(query) => list(query, matches).await,
        MigrationsCommand::Get { name, query } => get(&named(name)?, query, matches).await,
        MigrationsCommand::Watch { name, client } => {
            let name = named(name)?;
            let client = connect(client, matches).await?;
            watch::run(&client, &id_of(&client, &name).await?).await
        }
        MigrationsCommand::Start {
            resource,
            new,
            rewrite_all,
            alias,
            change,
        } => {
            let alias = alias.as_deref().map(alias_of).transpose()?;
            start(
                (&spelling(resource, RESOURCE)?, new.new),
                *rewrite_all,
                alias.as_ref(),
                change,
                matches,
            )
            .await
        }
        MigrationsCommand::Abort { name, change } => abort(&named(name)?, change, matches).await,
        MigrationsCommand::Delete {
            name,
            if_revision,
            change,
        } => delete(&named(name)?, *if_revision, change, matches).await,
        MigrationsCommand::Retry { name, change } => retry(&named(name)?, change, matches).await,
        MigrationsCommand::Release {
            name,
            token,
            client,
        } => {
            let name = named(name)?;
            let client = connect(client, matches).await?;
            let released = release(&client, &name, *token).await;
            let _ = client.close().await;
            done(&format!("{name} waits for a worker"), &released?)
        }
        MigrationsCommand::Reset {
            resource, change, ..
        } => reset(resource.as_deref(), change, matches).await,
    }
}

async fn list(query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let page = client.migrations(ListMigrations::new()).all().await?;
    show(&views::migrations(&page, now()), query.output)
}

async fn get(
    name: &MigrationName,
    query: &QueryArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let view = read(&client, name).await?;
    show(&views::migration(&view, now()), query.output)
}

async fn start(
    (spelling, is_new): (&ResourceSpelling, bool),
    rewrite_all: bool,
    alias: Option<&MigrationAlias>,
    change: &ChangeArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let reason = if rewrite_all {
        MigrationReason::RewriteAll
    } else {
        MigrationReason::Manual
    };
    let client = connect(&change.client, matches).await?;
    let resolver = Resolver::load_unless_new(&client, is_new).await?;
    let resource = &resolver.resolve_one(RESOURCE, spelling)?;
    let tried = client.dry_run();
    let started = match (alias, change.dry_run) {
        (None, false) => client.start_migration(resource, reason).await,
        (None, true) => tried.start_migration(resource, reason).await,
        (Some(alias), false) => client.start_migration_as(alias, resource, reason).await,
        (Some(alias), true) => tried.start_migration_as(alias, resource, reason).await,
    };
    // If the session cannot be closed now, it ends by itself. That says nothing about the change.
    let _ = client.close().await;
    let id = started?.id;
    if change.dry_run {
        // The name holds the next revision, which a session would take: a dry run cannot know the name.
        return would(&format!(
            "a migration of {} would be created",
            resource.qualified()
        ));
    }
    output::print(&format!("{id}\n"))?;
    Ok(Exit::Ok)
}

async fn abort(
    name: &MigrationName,
    change: &ChangeArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let client = connect(&change.client, matches).await?;
    let id = id_of(&client, name).await?;
    let aborted = if change.dry_run {
        client.dry_run().abort_migration(&id).await
    } else {
        client.abort_migration(&id).await
    };
    let _ = client.close().await;
    let header = aborted?;
    if change.dry_run {
        return would(&format!("{name} would be aborted"));
    }
    done(&format!("{name} is aborted"), &header)
}

async fn delete(
    name: &MigrationName,
    if_revision: Option<u64>,
    change: &ChangeArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let client = connect(&change.client, matches).await?;
    let delete = DeleteMigration {
        id: id_of(&client, name).await?,
        preconditions: Preconditions {
            uid: None,
            resource_version: if_revision.map(Revision::new),
        },
    };
    let deleted = if change.dry_run {
        client.dry_run().delete_migration(delete).await
    } else {
        client.delete_migration(delete).await
    };
    let _ = client.close().await;
    let header = deleted?;
    if change.dry_run {
        return would(&format!("{name} would be deleted"));
    }
    done(&format!("{name} is deleted"), &header)
}

async fn retry(
    name: &MigrationName,
    change: &ChangeArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let client = connect(&change.client, matches).await?;
    let id = id_of(&client, name).await?;
    let retried = if change.dry_run {
        client.dry_run().retry_migration(&id).await
    } else {
        client.retry_migration(&id).await
    };
    let _ = client.close().await;
    let header = retried?;
    if change.dry_run {
        return would(&format!("{name} would wait for a worker"));
    }
    done(&format!("{name} waits for a worker"), &header)
}

/// Gives the claim back that the migration has now.
async fn release(
    client: &Client,
    name: &MigrationName,
    only: Option<NonZeroU64>,
) -> Result<Header, Failure> {
    let view = read(client, name).await?;
    let Some(claim) = &view.migration.claim else {
        let message = format!("nobody has claimed {name}: it is {}", view.migration.phase);
        let advice = "see with `synod migrations get` where it stands";
        return Err(Failure::of(ErrorKind::Conflict, message).with_advice(advice));
    };
    // The cluster compares: by another token than that of the claim nothing is given back.
    let token = only.map_or(claim.token, |token| {
        ClaimToken::new(Revision::new(token.get()))
    });
    let key = ClaimKey {
        id: view.migration.id.clone(),
        token,
        cluster: view.header.cluster,
    };
    Ok(client.release_migration(&key, None).await?)
}

async fn reset(
    name: Option<&str>,
    change: &ChangeArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let spelling = name.map(|name| spelling(name, RESOURCE)).transpose()?;
    let client = connect(&change.client, matches).await?;
    let resource = match &spelling {
        Some(spelling) => Some(
            Resolver::load(&client)
                .await?
                .resolve_one(RESOURCE, spelling)?,
        ),
        None => None,
    };
    let reset = if change.dry_run {
        let tried = client.dry_run();
        tried.reset_storage_states(resource.as_ref()).await
    } else {
        client.reset_storage_states(resource.as_ref()).await
    };
    let _ = client.close().await;
    let of = resource.as_ref();
    let of = of.map_or("all resources", |resource| resource.qualified());
    let what = format!("the persisted versions of {of}");
    let header = reset?.header;
    if change.dry_run {
        return would(&format!("{what} would be unknown"));
    }
    let revision = header.revision;
    output::print(&format!("{what} are unknown as of revision {revision}\n"))?;
    Ok(Exit::Ok)
}

/// The place of a resource in a message.
const RESOURCE: &str = "RESOURCE";

/// A dry run has no revision to print.
fn would(what: &str) -> Result<Exit, Failure> {
    output::print(&format!("{what}\n"))?;
    Ok(Exit::Ok)
}

async fn read(client: &Client, name: &MigrationName) -> Result<MigrationView, Failure> {
    let options = ReadOptions::linearizable();
    Ok(match name {
        MigrationName::Id(id) => client.migration(id, options).await?,
        MigrationName::Alias(alias) => client.migration_by_alias(alias, options).await?,
    })
}

/// The id of a migration. Only one that goes by its alias is looked up: its id is the one migration that is meant from then on.
async fn id_of(client: &Client, name: &MigrationName) -> Result<MigrationId, Failure> {
    match name {
        MigrationName::Id(id) => Ok(id.clone()),
        MigrationName::Alias(_) => Ok(read(client, name).await?.migration.id),
    }
}

fn named(name: &str) -> Result<MigrationName, Failure> {
    MigrationName::parse(name)
        .map_err(|faults| Failure::invalid("this is no migration", faults).at(|_| "NAME".into()))
}

fn alias_of(name: &str) -> Result<MigrationAlias, Failure> {
    MigrationAlias::parse(name).map_err(|fault| {
        Failure::invalid("this is no alias", fault.into()).at(|_| "--alias".into())
    })
}
