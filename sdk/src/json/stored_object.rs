use crate::{Annotations, ObjectWritten, OwnerReference, StoredObject};
use data_encoding::BASE64;
use serde_json::{Value, json};

use super::{Object, header, number, resource, revision, text, whole_metadata};

/// The message `Object`.
pub fn stored_object(object: &StoredObject) -> Value {
    let content = &object.content;
    Object::new()
        .with("metadata", object_metadata(object))
        .with("resource", resource(&object.key.resource))
        .with(
            "content",
            json!({
                "encodingVersion": text(&content.encoding),
                "mediaType": text(&content.media_type),
                "data": BASE64.encode(&content.data),
            }),
        )
        .with("contentRevision", number(object.content_revision.get()))
        .into()
}

/// The message `Metadata` of an object of a collection.
fn object_metadata(object: &StoredObject) -> Value {
    let name = &object.key.name;
    let place = (name.namespace().unwrap_or_default(), name.name());
    let deletion = object.deletion.as_ref();
    whole_metadata(place, &object.metadata, &object.attributes)
        .with_some(
            "deletionTimeMs",
            deletion.map(|deletion| number(deletion.at.as_millis())),
        )
        .into()
}

/// Notes by key.
pub fn annotations(annotations: &Annotations) -> Value {
    let notes = annotations.iter();
    let notes = notes.map(|(key, note)| (key.to_owned(), text(note)));
    Value::Object(notes.collect())
}

/// The message `OwnerReference`.
pub fn owner(owner: &OwnerReference) -> Value {
    json!({
        "apiVersion": text(&owner.api_version),
        "kind": text(&owner.kind),
        "name": text(&owner.name),
        "uid": text(owner.uid),
        "controller": owner.controller,
        "blockOwnerDeletion": owner.block_owner_deletion,
    })
}

/// The message `ObjectsUpdateResponse`, which all writes of one object are printed as.
pub fn object_written(written: &ObjectWritten) -> Value {
    let result = &written.result;
    Object::new()
        .with("header", header(&written.header))
        .with("changed", result.changed)
        .with("created", result.created)
        .with("deleted", result.deleted)
        .with("uid", text(result.uid))
        .with("resourceVersion", revision(result.resource_version))
        .with_some("object", written.object.as_ref().map(stored_object))
        .into()
}
