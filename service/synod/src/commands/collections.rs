//! `synod collections`: shows and changes collections.

use clap::ArgMatches;
use synod_client::{
    Client, CollectionRules, Collections, CreateCollection, DeleteCollection, GroupResource, Kind,
    ListCollections, Preconditions, ReadOptions, Revision, UpdateCollection, Violations,
};

use super::{connect, now, show};
use crate::args::{CollectionsArgs, CollectionsCommand, QueryArgs, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::views;

pub(crate) async fn run(args: &CollectionsArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    match &args.command {
        None => list(&args.query, matches).await,
        Some(CollectionsCommand::List(query)) => list(query, matches).await,
        Some(CollectionsCommand::Get { name, query }) => get(name, query, matches).await,
        Some(CollectionsCommand::Create {
            name,
            kind,
            namespaced,
            strict,
            create_on_update,
            unconditional_update,
            status_subresource,
            dry_run,
            query,
        }) => {
            let rules = CollectionRules {
                strict_storage_version: *strict,
                create_on_update: *create_on_update,
                unconditional_update: *unconditional_update,
                status_subresource: *status_subresource,
            };
            let create = creation(name, kind, *namespaced, rules)?;
            create_one(create, *dry_run, query, matches).await
        }
        Some(CollectionsCommand::Update {
            name,
            strict,
            create_on_update,
            unconditional_update,
            status_subresource,
            write,
        }) => {
            let update = UpdateCollection {
                resource: resource(name)?,
                strict_storage_version: *strict,
                create_on_update: *create_on_update,
                unconditional_update: *unconditional_update,
                status_subresource: *status_subresource,
                preconditions: preconditions(write),
            };
            update_one(update, write, matches).await
        }
        Some(CollectionsCommand::Delete { name, write }) => {
            let delete = DeleteCollection {
                resource: resource(name)?,
                preconditions: preconditions(write),
            };
            delete_one(delete, write, matches).await
        }
    }
}

async fn list(query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let page = client
        .collections()
        .list(&ListCollections::new())
        .all()
        .await?;
    show(&views::collections(&page, now()), query.output)
}

async fn get(name: &str, query: &QueryArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let resource = resource(name)?;
    let client = connect(&query.client, matches).await?;
    let view = client
        .collections()
        .get(&resource, ReadOptions::linearizable())
        .await?;
    show(&views::collection(&view, now()), query.output)
}

async fn create_one(
    create: CreateCollection,
    dry_run: bool,
    query: &QueryArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let resource = create.resource.clone();
    let client = connect(&query.client, matches).await?;
    let changed = collections(&client, dry_run).create(create).await;
    // If the session cannot be closed now, it ends by itself. That says nothing about the change.
    let _ = client.close().await;
    show(
        &views::collection_changed(&changed?, &resource),
        query.output,
    )
}

async fn update_one(
    update: UpdateCollection,
    write: &WriteArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let resource = update.resource.clone();
    let client = connect(&write.query.client, matches).await?;
    let changed = collections(&client, write.dry_run).update(update).await;
    let _ = client.close().await;
    show(
        &views::collection_changed(&changed?, &resource),
        write.query.output,
    )
}

async fn delete_one(
    delete: DeleteCollection,
    write: &WriteArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let resource = delete.resource.clone();
    let client = connect(&write.query.client, matches).await?;
    let deleted = collections(&client, write.dry_run).delete(delete).await;
    let _ = client.close().await;
    show(
        &views::collection_deleted(&deleted?, &resource),
        write.query.output,
    )
}

fn collections(client: &Client, dry_run: bool) -> Collections {
    let collections = client.collections();
    if dry_run {
        collections.dry_run()
    } else {
        collections
    }
}

fn creation(
    name: &str,
    kind: &str,
    namespaced: bool,
    rules: CollectionRules,
) -> Result<CreateCollection, Failure> {
    let mut found = Violations::new();
    let resource = found.parsed("NAME", GroupResource::parse_qualified(name));
    let kind = found.parsed("--kind", Kind::parse(kind));
    match (resource, kind) {
        (Some(resource), Some(kind)) => Ok(CreateCollection {
            resource,
            kind,
            namespaced,
            rules,
        }),
        _ => Err(Failure::invalid("this cannot be declared", found)),
    }
}

/// The resource of the collection with this name.
pub(super) fn resource(name: &str) -> Result<GroupResource, Failure> {
    GroupResource::parse_qualified(name).map_err(|faults| {
        let mut found = Violations::new();
        found.extend_at("NAME", faults);
        Failure::invalid("this is no name of a collection", found)
    })
}

/// The preconditions that `--if-revision` sets.
pub(super) fn preconditions(write: &WriteArgs) -> Preconditions {
    Preconditions {
        uid: None,
        resource_version: write.if_revision.map(Revision::new),
    }
}
