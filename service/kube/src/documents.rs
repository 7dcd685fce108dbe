//! Messages of `synod.v1` as documents of Kubernetes, and back.
//!
//! An object of a collection is stored as its document without `metadata`. If the stored data has a member `metadata` itself,
//! the document shows it as `dataMetadata`, and data that is no JSON object as base64 in `rawData`: as `synod get` does.

use std::collections::BTreeMap;

use data_encoding::BASE64;
use serde_json::{Map, Value, json};
use synod_proto::v1;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::kinds::Kind;
use crate::managed::{MANAGED, Managed};

/// The member of a document that shows the data's own `metadata`.
const DATA_METADATA: &str = "dataMetadata";
/// The member of a document that shows data that is no JSON object.
pub(crate) const RAW_DATA: &str = "rawData";

const JSON: &str = "application/json";

/// A time as Kubernetes writes it in metadata: whole seconds.
pub(crate) fn time(millis: u64) -> Value {
    json!(seconds_of(millis).and_then(|seconds| stamp(seconds, None)))
}

/// A time with six digits of the second.
pub(crate) fn micro_time(millis: u64) -> Value {
    let micros = i64::try_from(millis % 1_000 * 1_000).ok();
    json!(seconds_of(millis).and_then(|seconds| stamp(seconds, micros)))
}

fn seconds_of(millis: u64) -> Option<i64> {
    i64::try_from(millis / 1_000).ok()
}

/// A time, with six digits of the second if there are microseconds; `None` if Kubernetes has no such time.
pub(crate) fn stamp(seconds: i64, micros: Option<i64>) -> Option<String> {
    let time = OffsetDateTime::from_unix_timestamp(seconds).ok()?;
    let text = time.format(&Rfc3339).ok()?;
    match micros {
        None => Some(text),
        Some(micros @ 0..1_000_000) => Some(format!("{}.{micros:06}Z", text.strip_suffix('Z')?)),
        Some(_) => None,
    }
}

/// The metadata of a document.
pub(crate) fn metadata(own: &v1::Metadata) -> Value {
    let mut fields = Map::new();
    fields.insert("name".to_owned(), json!(own.name));
    if !own.namespace.is_empty() {
        fields.insert("namespace".to_owned(), json!(own.namespace));
    }
    if !own.uid.is_empty() {
        fields.insert("uid".to_owned(), json!(own.uid));
    }
    fields.insert(
        "resourceVersion".to_owned(),
        json!(own.resource_version.to_string()),
    );
    if own.generation > 0 {
        fields.insert("generation".to_owned(), json!(own.generation));
    }
    fields.insert("creationTimestamp".to_owned(), time(own.creation_time_ms));
    if let Some(deletion) = own.deletion_time_ms {
        fields.insert("deletionTimestamp".to_owned(), time(deletion));
        fields.insert("deletionGracePeriodSeconds".to_owned(), json!(0));
    }
    if !own.labels.is_empty() {
        fields.insert("labels".to_owned(), json!(own.labels));
    }
    if !own.annotations.is_empty() {
        fields.insert("annotations".to_owned(), json!(own.annotations));
    }
    if !own.owner_references.is_empty() {
        let owners = own.owner_references.iter().map(owner).collect();
        fields.insert("ownerReferences".to_owned(), Value::Array(owners));
    }
    if !own.finalizers.is_empty() {
        fields.insert("finalizers".to_owned(), json!(own.finalizers));
    }
    Value::Object(fields)
}

fn owner(owner: &v1::OwnerReference) -> Value {
    let mut shown = json!({
        "apiVersion": owner.api_version,
        "kind": owner.kind,
        "name": owner.name,
        "uid": owner.uid,
    });
    if owner.controller {
        shown["controller"] = json!(true);
    }
    if owner.block_owner_deletion {
        shown["blockOwnerDeletion"] = json!(true);
    }
    shown
}

/// A document of this kind with these members behind its metadata.
pub(crate) fn document(kind: &Kind, own: Option<&v1::Metadata>, rest: Value) -> Value {
    let mut document = json!({
        "apiVersion": kind.api_version(),
        "kind": kind.kind,
        "metadata": own.map(metadata).unwrap_or_default(),
    });
    if let (Value::Object(document), Value::Object(rest)) = (&mut document, rest) {
        document.extend(rest);
    }
    document
}

/// An object of a collection, in the version that it is stored in.
pub(crate) fn object(kind: &Kind, object: &v1::Object) -> Value {
    managed_object(kind, object).0
}

/// The same, with the managers of its fields.
pub(crate) fn managed_object(kind: &Kind, object: &v1::Object) -> (Value, Managed) {
    let mut document = unmanaged(kind, object);
    let metadata = object.metadata.as_ref();
    let stored = metadata.and_then(|metadata| metadata.annotations.get(MANAGED));
    if let Some(own) = document["metadata"].as_object_mut()
        && let Some(Value::Object(annotations)) = own.get_mut("annotations")
    {
        annotations.shift_remove(MANAGED);
        if annotations.is_empty() {
            own.shift_remove("annotations");
        }
    }
    let managed = Managed::of(&document, stored.map(String::as_str));
    let shown = managed.shown();
    if !shown.is_null() {
        document["metadata"]["managedFields"] = shown;
    }
    (document, managed)
}

fn unmanaged(kind: &Kind, object: &v1::Object) -> Value {
    let content = object.content.clone().unwrap_or_default();
    let rest = match data(&content) {
        Some(mut data) => {
            let own = data.shift_remove("metadata");
            data.shift_remove("apiVersion");
            data.shift_remove("kind");
            data.extend(own.map(|own| (DATA_METADATA.to_owned(), own)));
            Value::Object(data)
        }
        None => json!({ RAW_DATA: {
            "mediaType": content.media_type,
            "base64": BASE64.encode(&content.data),
        }}),
    };
    let mut document = document(kind, object.metadata.as_ref(), rest);
    document["apiVersion"] = json!(content.encoding_version);
    document
}

/// The stored data, if it is a JSON object.
fn data(content: &v1::ObjectContent) -> Option<Map<String, Value>> {
    if content.media_type != JSON {
        return None;
    }
    match serde_json::from_slice(&content.data) {
        Ok(Value::Object(data)) => Some(data),
        _ => None,
    }
}

/// The content to store of a document. What is stored stays byte for byte where the document says the same.
pub(crate) fn content(document: &Value, stored: Option<&v1::ObjectContent>) -> v1::ObjectContent {
    let mut fields = document.as_object().cloned().unwrap_or_default();
    let encoding_version = document["apiVersion"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    fields.shift_remove("metadata");
    let own = fields.shift_remove(DATA_METADATA);
    fields.extend(own.map(|own| ("metadata".to_owned(), own)));
    if let Some(stored) = stored
        && stored.encoding_version == encoding_version
        && data(stored).is_some_and(|data| says_the_same(&data, &fields))
    {
        return stored.clone();
    }
    v1::ObjectContent {
        encoding_version,
        media_type: JSON.to_owned(),
        data: Value::Object(fields).to_string().into_bytes().into(),
    }
}

/// Whether stored data and a document say the same. The stored data may leave out `apiVersion` and `kind`.
fn says_the_same(stored: &Map<String, Value>, fields: &Map<String, Value>) -> bool {
    let named = |name: &str| name == "apiVersion" || name == "kind";
    let rest = |all: &Map<String, Value>| -> BTreeMap<String, Value> {
        let rest = all.iter().filter(|(name, _)| !named(name));
        rest.map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    rest(stored) == rest(fields)
}

/// What is said of an object, by the metadata of a document. Every fault is named.
pub(crate) fn attributes(
    metadata: &Value,
    faults: &mut Vec<(String, String)>,
) -> v1::ObjectAttributes {
    if !metadata["annotations"][MANAGED].is_null() {
        let rule = "Forbidden: Synod keeps it; documents have metadata.managedFields in its place";
        faults.push((format!("metadata.annotations[{MANAGED}]"), rule.to_owned()));
    }
    v1::ObjectAttributes {
        labels: texts(metadata, "labels", faults),
        annotations: texts(metadata, "annotations", faults),
        owner_references: items(metadata, "ownerReferences", faults)
            .iter()
            .enumerate()
            .map(|(place, value)| owner_of(value, place, faults))
            .collect(),
        finalizers: items(metadata, "finalizers", faults)
            .iter()
            .enumerate()
            .map(|(place, value)| text(value, &format!("metadata.finalizers[{place}]"), faults))
            .collect(),
    }
}

fn owner_of(value: &Value, place: usize, faults: &mut Vec<(String, String)>) -> v1::OwnerReference {
    let mut of = |field: &str| {
        text(
            &value[field],
            &format!("metadata.ownerReferences[{place}].{field}"),
            faults,
        )
    };
    v1::OwnerReference {
        api_version: of("apiVersion"),
        kind: of("kind"),
        name: of("name"),
        uid: of("uid"),
        controller: value["controller"] == true,
        block_owner_deletion: value["blockOwnerDeletion"] == true,
    }
}

fn texts<M: FromIterator<(String, String)>>(
    metadata: &Value,
    field: &str,
    faults: &mut Vec<(String, String)>,
) -> M {
    let pairs = match &metadata[field] {
        Value::Null => None,
        Value::Object(pairs) => Some(pairs),
        _ => {
            faults.push((
                format!("metadata.{field}"),
                "must be a map of texts".to_owned(),
            ));
            None
        }
    };
    let pairs = pairs.into_iter().flatten();
    pairs
        .map(|(key, value)| {
            (
                key.clone(),
                text(value, &format!("metadata.{field}[{key}]"), faults),
            )
        })
        .collect()
}

fn items<'a>(metadata: &'a Value, field: &str, faults: &mut Vec<(String, String)>) -> &'a [Value] {
    match &metadata[field] {
        Value::Null => &[],
        Value::Array(items) => items,
        _ => {
            faults.push((format!("metadata.{field}"), "must be a list".to_owned()));
            &[]
        }
    }
}

fn text(value: &Value, field: &str, faults: &mut Vec<(String, String)>) -> String {
    match value {
        Value::String(text) => text.clone(),
        _ => {
            faults.push((field.to_owned(), "must be a text".to_owned()));
            String::new()
        }
    }
}

/// The name of a value of an enum as Kubernetes writes it: `NO_AGREEMENT` is `NoAgreement`.
pub(crate) fn word(name: &str, prefix: &str) -> String {
    let parts = name.strip_prefix(prefix).unwrap_or(name).split('_');
    parts
        .map(|part| {
            let (first, rest) = part.split_at(part.len().min(1));
            format!("{first}{}", rest.to_ascii_lowercase())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::KINDS;

    #[test]
    fn times_are_written_as_kubernetes_writes_them() {
        assert_eq!(time(1_700_000_000_123), "2023-11-14T22:13:20Z");
        assert_eq!(micro_time(1_700_000_000_123), "2023-11-14T22:13:20.123000Z");
    }

    #[test]
    fn names_of_values_are_written_as_kubernetes_writes_them() {
        assert_eq!(
            word("ABORT_CAUSE_NO_AGREEMENT", "ABORT_CAUSE_"),
            "NoAgreement"
        );
        assert_eq!(word("CONDITION_STATUS_TRUE", "CONDITION_STATUS_"), "True");
    }

    #[test]
    fn an_object_comes_back_as_it_was_stored() {
        let stored = v1::ObjectContent {
            encoding_version: "example.io/v1".to_owned(),
            media_type: JSON.to_owned(),
            data: br#"{ "spec": {"a": 1}, "metadata": {"own": true} }"#.to_vec().into(),
        };
        let object = v1::Object {
            metadata: Some(v1::Metadata {
                name: "a".to_owned(),
                resource_version: 7,
                ..v1::Metadata::default()
            }),
            content: Some(stored.clone()),
            ..v1::Object::default()
        };
        let mut document = self::object(&KINDS[0], &object);
        assert_eq!(document["apiVersion"], "example.io/v1");
        assert_eq!(document["metadata"]["resourceVersion"], "7");
        assert_eq!(document[DATA_METADATA]["own"], true);
        assert_eq!(content(&document, Some(&stored)), stored);
        document["spec"]["a"] = json!(2);
        let changed = content(&document, Some(&stored));
        let data: Value = serde_json::from_slice(&changed.data).unwrap_or_default();
        assert_eq!(data["spec"]["a"], 2);
        assert_eq!(data["metadata"]["own"], true);
        assert_eq!(data["kind"], "Lease");
    }

    #[test]
    fn metadata_of_another_shape_is_faulted_field_by_field() {
        let mut faults = Vec::new();
        let metadata = json!({"labels": {"a": 1}, "annotations": [], "finalizers": "x", "ownerReferences": [{}]});
        let _ = attributes(&metadata, &mut faults);
        let fields: Vec<&str> = faults.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(
            fields,
            [
                "metadata.labels[a]",
                "metadata.annotations",
                "metadata.ownerReferences[0].apiVersion",
                "metadata.ownerReferences[0].kind",
                "metadata.ownerReferences[0].name",
                "metadata.ownerReferences[0].uid",
                "metadata.finalizers"
            ]
        );
    }
}
