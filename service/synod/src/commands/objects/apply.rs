//! `synod apply`: merges documents into the stored objects.

use clap::ArgMatches;
use serde_json::{Map, Value, json};
use synod_client::{
    CreateObject, ErrorKind, Fences, ObjectKey, ObjectWritten, Preconditions, ReadOptions,
    StoredObject, UpdateObject, Violations,
};

use super::each_document::{Writer, write_each};
use super::overtaken::{NotWritten, written};
use super::{check_json, named, preconditions};
use crate::args::DocumentsArgs;
use crate::documents::{self, Document};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::merge::merged;

/// The annotation that holds the document that was applied last.
const LAST_APPLIED: &str = "synod.io/last-applied";

pub(crate) async fn run(args: &DocumentsArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    write_each(args, matches, apply).await
}

async fn apply(
    writer: Writer<'_>,
    document: &Document,
    key: &ObjectKey,
) -> Result<ObjectWritten, Failure> {
    let asked = preconditions(document, writer.write);
    written(async || {
        match apply_once(writer, document, key, asked).await {
            // The document or the arguments name this very object: there is no newer one to try again with.
            Err(NotWritten::Overtaken(failure)) if !asked.is_empty() => Err(failure.into()),
            tried => tried,
        }
    })
    .await
}

async fn apply_once(
    writer: Writer<'_>,
    document: &Document,
    key: &ObjectKey,
    asked: Preconditions,
) -> Result<ObjectWritten, NotWritten> {
    let objects = writer.objects();
    let options = ReadOptions::linearizable();
    let current = match writer.client.raw_objects().get(key, options).await {
        Ok(view) => view.object,
        Err(error) if error.kind() == ErrorKind::NotFound && asked.is_empty() => {
            let fresh = result(document, None)?;
            let create = CreateObject {
                key: key.clone(),
                attributes: fresh.attributes.clone(),
                content: fresh.content(),
                ttl: writer.ttl.of_new(),
                fences: Fences::default(),
            };
            let created = objects.create(create).await;
            return created.map_err(|error| NotWritten::of(error, false));
        }
        Err(error) => return Err(NotWritten::Refused(error.into())),
    };
    let result = result(document, Some(&current))?;
    let content = if documents::data(&result.source) == stored_data(&current)
        && result.version == current.content.encoding
    {
        // If nothing changes, the stored bytes stay as they are, however they are formatted.
        current.content.clone()
    } else {
        result.content_after(&current.content)
    };
    let (uid, version) = (current.metadata.uid, current.metadata.resource_version);
    let update = UpdateObject {
        key: key.clone(),
        attributes: result.attributes.clone(),
        content,
        ttl: writer.ttl,
        preconditions: Preconditions {
            uid: asked.uid.or(Some(uid)),
            resource_version: asked.resource_version.or(Some(version)),
        },
        fences: Fences::default(),
    };
    let updated = objects.update(update).await;
    updated.map_err(|error| NotWritten::of(error, true))
}

/// The document to store: the wanted one, merged into the stored object.
///
/// # Errors
///
/// The object is stored in another version, which only a program that knows both versions can merge; or it is no JSON.
fn result(document: &Document, current: Option<&StoredObject>) -> Result<Document, Failure> {
    let wanted = wanted(document);
    let present = current
        .map(|object| present(object, document))
        .transpose()?;
    let last = current.and_then(last_applied);
    let mut source = merged(last.as_ref(), &wanted, present.as_ref());
    source["metadata"]["annotations"][LAST_APPLIED] = Value::String(wanted.to_string());
    let place = |faults| {
        let mut found = Violations::new();
        found.extend_at(named(&document.key()), faults);
        Failure::invalid("the merged document is invalid", found)
    };
    Document::parse(source).map_err(place)
}

/// The document without the fields that belong to the cluster or are preconditions.
fn wanted(document: &Document) -> Value {
    let mut wanted = document.source.clone();
    let own = &document.source["metadata"];
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), json!(document.name.as_str()));
    if let Some(namespace) = &document.namespace {
        metadata.insert("namespace".to_owned(), json!(namespace.as_str()));
    }
    for field in ["labels", "annotations", "ownerReferences", "finalizers"] {
        if let Some(value) = own.get(field) {
            metadata.insert(field.to_owned(), value.clone());
        }
    }
    if let Some(notes) = metadata
        .get_mut("annotations")
        .and_then(Value::as_object_mut)
    {
        notes.shift_remove(LAST_APPLIED);
    }
    wanted["metadata"] = Value::Object(metadata);
    wanted
}

/// The stored object as a document.
fn present(object: &StoredObject, document: &Document) -> Result<Value, Failure> {
    if object.content.encoding != document.version {
        let message = format!(
            "{} is stored in {}, and the document is in {}: a merge would mix the two",
            object.key, object.content.encoding, document.version
        );
        return Err(
            Failure::of(ErrorKind::InvalidArgument, message).with_advice(
                "write the document in the version that is stored, or use synod replace",
            ),
        );
    }
    check_json(object, "merged")?;
    Ok(documents::shown(object, &document.kind))
}

fn stored_data(object: &StoredObject) -> Value {
    serde_json::from_slice(&object.content.data).unwrap_or_default()
}

fn last_applied(object: &StoredObject) -> Option<Value> {
    let text = object.attributes.annotations.get(LAST_APPLIED)?;
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests;
