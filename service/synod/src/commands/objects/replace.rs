//! `synod replace`: replaces objects by the documents of a file.

use clap::ArgMatches;
use synod_client::{
    Client, Fences, LeaseToken, ObjectKey, ObjectWritten, Preconditions, ReadOptions, TtlChange,
    UpdateObject,
};

use super::super::connect;
use super::overtaken::{NotWritten, written};
use super::{
    Kinds, Writes, check_json, check_one, fence, objects, preconditions, read, show_writes,
    ttl_change,
};
use crate::args::{DocumentsArgs, WriteArgs};
use crate::documents::Document;
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) async fn run(args: &DocumentsArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let documents = read(&args.filename, args.namespace.as_deref())?;
    check_one(&documents, &args.write)?;
    let fence = fence(&args.fence)?;
    let ttl = ttl_change(args.ttl)?;
    let client = connect(&args.write.query.client, matches).await?;
    let mut writes = Writes::new();
    let failed = replace_all(&client, &documents, (&args.write, fence, ttl), &mut writes).await;
    // If the session cannot be closed now, it ends by itself. That says nothing about the changes.
    let _ = client.close().await;
    show_writes(&writes, failed, &args.write.query)
}

async fn replace_all(
    client: &Client,
    documents: &[Document],
    (write, fence, ttl): (&WriteArgs, Option<LeaseToken>, TtlChange),
    writes: &mut Writes,
) -> Result<(), Failure> {
    let kinds = Kinds::of(client).await?;
    for document in documents {
        let key = kinds.key(document)?;
        let replace = async || replace_once(client, document, &key, (write, &fence, ttl)).await;
        let replaced = written(replace).await?;
        writes.push((key, replaced));
    }
    Ok(())
}

async fn replace_once(
    client: &Client,
    document: &Document,
    key: &ObjectKey,
    (write, fence, ttl): (&WriteArgs, &Option<LeaseToken>, TtlChange),
) -> Result<ObjectWritten, NotWritten> {
    let asked = preconditions(document, write);
    let read = client
        .raw_objects()
        .get(key, ReadOptions::linearizable())
        .await;
    let present = read.map_err(Failure::from)?.object;
    // Such an object is shown with `rawData`, which a document would store as a field of that name.
    check_json(&present, "replaced by a document")?;
    // A document without a revision replaces the object as it was read, even if the collection requires no revision.
    let version = asked.resource_version;
    let version = version.unwrap_or(present.metadata.resource_version);
    let update = UpdateObject {
        key: key.clone(),
        attributes: document.attributes.clone(),
        content: document.content_after(&present.content),
        ttl,
        preconditions: Preconditions {
            resource_version: Some(version),
            ..asked
        },
        fences: Fences::default(),
    };
    let replaced = objects(client, write.dry_run, fence.clone())
        .update(update)
        .await;
    replaced.map_err(|error| {
        if asked.is_empty() {
            NotWritten::of(error, true)
        } else {
            NotWritten::Refused(error.into())
        }
    })
}
