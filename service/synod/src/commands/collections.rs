//! `synod collections`: shows and changes collections.

use clap::ArgMatches;
use synod_client::{
    Client, CollectionRules, Collections, CreateCollection, DeleteCollection, GroupResource, Kind,
    ListCollections, Preconditions, ReadOptions, ResourceSpelling, Revision, UpdateCollection,
    Violations,
};

use super::{connect, now, show};
use crate::args::{CollectionsArgs, CollectionsCommand, QueryArgs, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::named::{self, Resolver};
use crate::views;

pub(crate) async fn run(args: &CollectionsArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    match &args.command {
        None => list(&args.query, matches).await,
        Some(CollectionsCommand::List(query)) => list(query, matches).await,
        Some(CollectionsCommand::Get { name, query }) => get(name, query, matches).await,
        Some(CollectionsCommand::Create {
            name,
            new,
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
            create_one(create, *new, *dry_run, query, matches).await
        }
        Some(CollectionsCommand::Update {
            name,
            strict,
            create_on_update,
            unconditional_update,
            status_subresource,
            kind,
            write,
        }) => {
            let spelling = spelling(name)?;
            let kind = kind.as_deref().map(correction).transpose()?;
            let client = connect(&write.query.client, matches).await?;
            let update = UpdateCollection {
                resource: collection(&client, &spelling).await?,
                strict_storage_version: *strict,
                create_on_update: *create_on_update,
                unconditional_update: *unconditional_update,
                status_subresource: *status_subresource,
                kind,
                preconditions: preconditions(write),
            };
            update_one(&client, update, write).await
        }
        Some(CollectionsCommand::Delete { name, write }) => {
            let spelling = spelling(name)?;
            let client = connect(&write.query.client, matches).await?;
            let delete = DeleteCollection {
                resource: collection(&client, &spelling).await?,
                preconditions: preconditions(write),
            };
            delete_one(&client, delete, write).await
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
    let spelling = spelling(name)?;
    let client = connect(&query.client, matches).await?;
    let resource = collection(&client, &spelling).await?;
    let view = client
        .collections()
        .get(&resource, ReadOptions::linearizable())
        .await?;
    show(&views::collection(&view, now()), query.output)
}

async fn create_one(
    (spelling, create): (ResourceSpelling, CreateCollection),
    is_new: bool,
    dry_run: bool,
    query: &QueryArgs,
    matches: &ArgMatches,
) -> Result<Exit, Failure> {
    let client = connect(&query.client, matches).await?;
    let resolver = Resolver::load_unless_new(&client, is_new).await?;
    let resource = resolver.resolve_or_take(NAME, &spelling)?;
    let create = CreateCollection {
        resource: resource.clone(),
        ..create
    };
    let changed = collections(&client, dry_run).create(create).await;
    // If the session cannot be closed now, it ends by itself. That says nothing about the change.
    let _ = client.close().await;
    show(
        &views::collection_changed(&changed?, &resource),
        query.output,
    )
}

async fn update_one(
    client: &Client,
    update: UpdateCollection,
    write: &WriteArgs,
) -> Result<Exit, Failure> {
    let resource = update.resource.clone();
    let changed = collections(client, write.dry_run).update(update).await;
    let _ = client.close().await;
    show(
        &views::collection_changed(&changed?, &resource),
        write.query.output,
    )
}

async fn delete_one(
    client: &Client,
    delete: DeleteCollection,
    write: &WriteArgs,
) -> Result<Exit, Failure> {
    let resource = delete.resource.clone();
    let deleted = collections(client, write.dry_run).delete(delete).await;
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
) -> Result<(ResourceSpelling, CreateCollection), Failure> {
    let mut found = Violations::new();
    let spelling = found.parsed("", named::spelling(name, NAME));
    let kind = found.parsed("--kind", Kind::parse(kind));
    match (spelling, kind) {
        (Some(spelling), Some(kind)) => {
            let create = CreateCollection {
                resource: spelling.first_reading().clone(),
                kind,
                namespaced,
                rules,
            };
            Ok((spelling, create))
        }
        _ => Err(Failure::invalid("this cannot be declared", found)),
    }
}

/// Reads the kind that a collection is to have.
fn correction(kind: &str) -> Result<Kind, Failure> {
    Kind::parse(kind)
        .map_err(|fault| Failure::invalid("this is no kind", fault.at("--kind").into()))
}

/// The place of a collection's name in a message.
const NAME: &str = "NAME";

/// Reads the name of a collection, without asking which there are.
pub(super) fn spelling(name: &str) -> Result<ResourceSpelling, Failure> {
    named::spelling(name, NAME)
        .map_err(|faults| Failure::invalid("this is no name of a collection", faults))
}

/// The resource of the collection with this name.
async fn collection(
    client: &Client,
    spelling: &ResourceSpelling,
) -> Result<GroupResource, Failure> {
    let resolver = Resolver::load_collections(client).await?;
    resolver.resolve_one(NAME, spelling)
}

/// The preconditions that `--if-revision` sets.
pub(super) fn preconditions(write: &WriteArgs) -> Preconditions {
    Preconditions {
        uid: None,
        resource_version: write.if_revision.map(Revision::new),
    }
}
