//! `synod replace`: replaces objects by the documents of a file.

use clap::ArgMatches;
use synod_client::{Fences, ObjectKey, ObjectWritten, Preconditions, ReadOptions, UpdateObject};

use super::each_document::{Writer, write_each};
use super::overtaken::{NotWritten, written};
use super::{check_json, preconditions};
use crate::args::DocumentsArgs;
use crate::documents::Document;
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) async fn run(args: &DocumentsArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    write_each(args, matches, replace).await
}

async fn replace(
    writer: Writer<'_>,
    document: &Document,
    key: &ObjectKey,
) -> Result<ObjectWritten, Failure> {
    written(async || replace_once(writer, document, key).await).await
}

async fn replace_once(
    writer: Writer<'_>,
    document: &Document,
    key: &ObjectKey,
) -> Result<ObjectWritten, NotWritten> {
    let asked = preconditions(document, writer.write);
    let read = writer
        .client
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
        ttl: writer.ttl,
        preconditions: Preconditions {
            resource_version: Some(version),
            ..asked
        },
        fences: Fences::default(),
    };
    let replaced = writer.objects().update(update).await;
    replaced.map_err(|error| {
        if asked.is_empty() {
            NotWritten::of(error, true)
        } else {
            NotWritten::Refused(error.into())
        }
    })
}
