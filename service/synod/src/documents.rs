//! Objects as documents that people write: `apiVersion`, `kind`, `metadata`, and beside them the data.
//!
//! What is stored is the document without `metadata`, as JSON, in the version that `apiVersion` names; `metadata` becomes
//! the object's own. An object whose data is no JSON object is shown with its bytes in base64 and cannot be written so.

use std::collections::BTreeMap;

use data_encoding::BASE64;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use synod_client::{
    Annotations, ApiVersion, Attributes, Content, Finalizers, Kind, Labels, MediaType, Namespace,
    NamespacedName, ObjectName, OwnerReference, OwnerReferences, Preconditions, Revision,
    StoredObject, Uid, Violation, Violations,
};

use crate::failure::Failure;
use crate::json;

/// A document that was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document {
    /// The version that its data is in.
    pub(crate) version: ApiVersion,
    /// The kind, by which its collection is found.
    pub(crate) kind: Kind,
    /// Its namespace, if it names one.
    pub(crate) namespace: Option<Namespace>,
    /// Its name.
    pub(crate) name: ObjectName,
    /// What it says of itself.
    pub(crate) attributes: Attributes,
    /// Which object it was made for, if it says so.
    pub(crate) preconditions: Preconditions,
    /// The whole of it.
    pub(crate) source: Value,
}

/// What is in `metadata` beside what a writer says, and is the cluster's own.
const OWN: [&str; 4] = [
    "createRevision",
    "generation",
    "creationTimeMs",
    "deletionTimeMs",
];

impl Document {
    /// The name of its object.
    pub(crate) fn key(&self) -> NamespacedName {
        NamespacedName::new(self.namespace.as_ref(), &self.name)
    }

    /// What is stored of it.
    pub(crate) fn content(&self) -> Content {
        Content {
            encoding: self.version.clone(),
            media_type: MediaType::JSON,
            data: data(&self.source).to_string().into_bytes().into(),
        }
    }

    /// The document in a value.
    ///
    /// # Errors
    ///
    /// Every field that breaks a rule.
    pub(crate) fn parse(source: Value) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let version = ApiVersion::parse(&text(&source, "apiVersion"));
        let version = found.parsed("apiVersion", version);
        let kind = found.parsed("kind", Kind::parse(&text(&source, "kind")));
        let metadata = &source["metadata"];
        unknown(metadata, &mut found);
        let name = ObjectName::parse(&text(metadata, "name"));
        let name = found.parsed("metadata.name", name);
        let namespace = match text(metadata, "namespace").as_str() {
            "" => Some(None),
            space => found
                .parsed("metadata.namespace", Namespace::parse(space))
                .map(Some),
        };
        let attributes = found.parsed("metadata", attributes(metadata));
        let preconditions = found.parsed("metadata", preconditions(metadata));
        match (version, kind, name, namespace, attributes, preconditions) {
            (
                Some(version),
                Some(kind),
                Some(name),
                Some(namespace),
                Some(attributes),
                Some(preconditions),
            ) if found.is_empty() => Ok(Self {
                version,
                kind,
                namespace,
                name,
                attributes,
                preconditions,
                source,
            }),
            _ => Err(found),
        }
    }
}

/// The documents in a text, YAML or JSON.
///
/// # Errors
///
/// What is neither, and every field that breaks a rule.
pub(crate) fn read(text: &str) -> Result<Vec<Document>, Failure> {
    let mut documents = Vec::new();
    let mut found = Violations::new();
    for (place, document) in serde_yaml_ng::Deserializer::from_str(text).enumerate() {
        let value = Value::deserialize(document).map_err(|error| {
            let fault = Violation::invalid(&error.to_string(), "must be YAML or JSON");
            Failure::invalid("the file cannot be read", fault.at(&place_of(place)).into())
        })?;
        // What stands behind the last line of dashes may be empty.
        if value.is_null() {
            continue;
        }
        documents.extend(found.parsed(&place_of(place), Document::parse(value)));
    }
    if documents.is_empty() && found.is_empty() {
        found.push(Violation::required("must hold a document"));
    }
    if found.is_empty() {
        Ok(documents)
    } else {
        Err(Failure::invalid("the file holds no such objects", found))
    }
}

fn place_of(place: usize) -> String {
    format!("document[{place}]")
}

/// An object as a document.
pub(crate) fn shown(object: &StoredObject, kind: &Kind) -> Value {
    let head = json!({
        "apiVersion": object.content.encoding.to_string(),
        "kind": kind.to_string(),
        "metadata": metadata(object),
    });
    let mut document = head;
    let data: Option<Map<String, Value>> = serde_json::from_slice(&object.content.data).ok();
    let Value::Object(fields) = &mut document else {
        return document;
    };
    match data.filter(|_| object.content.media_type.is_json()) {
        Some(data) => fields.extend(
            data.into_iter()
                .filter(|(name, _)| !["apiVersion", "kind", "metadata"].contains(&name.as_str())),
        ),
        None => {
            let raw = json!({
                "mediaType": object.content.media_type.to_string(),
                "base64": BASE64.encode(&object.content.data),
            });
            fields.insert("rawData".to_owned(), raw);
        }
    }
    document
}

/// What is stored of a document: all but its metadata.
pub(crate) fn data(document: &Value) -> Value {
    let mut data = document.clone();
    if let Value::Object(fields) = &mut data {
        fields.shift_remove("metadata");
    }
    data
}

fn metadata(object: &StoredObject) -> Value {
    let mut fields = Map::new();
    fields.insert("name".to_owned(), object.key.name.name().into());
    if let Some(namespace) = object.key.name.namespace() {
        fields.insert("namespace".to_owned(), namespace.into());
    }
    let own = &object.metadata;
    fields.insert("uid".to_owned(), json::text(own.uid));
    fields.insert(
        "resourceVersion".to_owned(),
        json::revision(own.resource_version),
    );
    fields.insert(
        "createRevision".to_owned(),
        json::revision(own.create_revision),
    );
    fields.insert("generation".to_owned(), json::number(own.generation));
    let created = json::number(own.created.as_millis());
    fields.insert("creationTimeMs".to_owned(), created);
    if let Some(deletion) = &object.deletion {
        let at = json::number(deletion.at.as_millis());
        fields.insert("deletionTimeMs".to_owned(), at);
    }
    if !object.attributes.labels.is_empty() {
        let labels = object.attributes.labels.iter();
        let labels = labels.map(|(key, value)| (key.to_owned(), json::text(value)));
        fields.insert("labels".to_owned(), labels.collect());
    }
    let Attributes {
        labels: _,
        annotations,
        owners,
        finalizers,
    } = &object.attributes;
    if !annotations.is_empty() {
        let notes = json::annotations(annotations);
        fields.insert("annotations".to_owned(), notes);
    }
    if !owners.is_empty() {
        let owners = json::list(owners.iter(), json::owner);
        fields.insert("ownerReferences".to_owned(), owners);
    }
    if !finalizers.is_empty() {
        let finalizers = json::list(finalizers.iter(), json::text);
        fields.insert("finalizers".to_owned(), finalizers);
    }
    Value::Object(fields)
}

fn unknown(metadata: &Value, found: &mut Violations) {
    const KNOWN: [&str; 8] = [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "labels",
        "annotations",
        "ownerReferences",
        "finalizers",
    ];
    for name in metadata.as_object().into_iter().flat_map(Map::keys) {
        if !KNOWN.contains(&name.as_str()) && !OWN.contains(&name.as_str()) {
            let fault = Violation::invalid(name, "is no field of metadata");
            found.push(fault.at("metadata"));
        }
    }
}

fn attributes(metadata: &Value) -> Result<Attributes, Violations> {
    let mut found = Violations::new();
    let labels = texts(&metadata["labels"]).and_then(Labels::parse);
    let labels = found.parsed("labels", labels);
    let notes = texts(&metadata["annotations"]).and_then(Annotations::parse);
    let notes = found.parsed("annotations", notes);
    let owners = metadata["ownerReferences"].as_array();
    let owners = owners.map(Vec::as_slice).unwrap_or_default();
    let mut references = Vec::new();
    for (i, value) in owners.iter().enumerate() {
        references.extend(found.parsed(&format!("ownerReferences[{i}]"), owner(value)));
    }
    let owners = found.parsed("ownerReferences", OwnerReferences::new(references));
    let names = metadata["finalizers"].as_array();
    let names = names.map(Vec::as_slice).unwrap_or_default().iter();
    let finalizers = Finalizers::parse(names.map(|name| name.as_str().unwrap_or_default()));
    let finalizers = found.parsed("finalizers", finalizers);
    match (labels, notes, owners, finalizers) {
        (Some(labels), Some(annotations), Some(owners), Some(finalizers)) if found.is_empty() => {
            Ok(Attributes {
                labels,
                annotations,
                owners,
                finalizers,
            })
        }
        _ => Err(found),
    }
}

/// A map of texts. YAML takes `yes` and `3` for something else unless they are quoted, which is worth a word.
fn texts(value: &Value) -> Result<BTreeMap<String, String>, Violations> {
    let mut found = Violations::new();
    let mut texts = BTreeMap::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::String(text) => {
                texts.insert(key.clone(), text.clone());
            }
            other => {
                let fault = Violation::invalid(&other.to_string(), "must be a text: quote it");
                found.push(fault.at(&format!("[{key}]")));
            }
        }
    }
    if found.is_empty() {
        Ok(texts)
    } else {
        Err(found)
    }
}

fn owner(value: &Value) -> Result<OwnerReference, Violations> {
    let mut found = Violations::new();
    let text = |name: &str| value[name].as_str().unwrap_or_default();
    let version = found.parsed("apiVersion", ApiVersion::parse(text("apiVersion")));
    let kind = found.parsed("kind", Kind::parse(text("kind")));
    let name = found.parsed("name", ObjectName::parse(text("name")));
    let uid = found.parsed("uid", Uid::parse(text("uid")));
    let is = |name: &str| value[name].as_bool().unwrap_or_default();
    match (version, kind, name, uid) {
        (Some(api_version), Some(kind), Some(name), Some(uid)) => Ok(OwnerReference {
            api_version,
            kind,
            name,
            uid,
            controller: is("controller"),
            block_owner_deletion: is("blockOwnerDeletion"),
        }),
        _ => Err(found),
    }
}

fn preconditions(metadata: &Value) -> Result<Preconditions, Violations> {
    let mut found = Violations::new();
    let uid = metadata["uid"].as_str().map(Uid::parse).transpose();
    let uid = found.parsed("uid", uid);
    let revision = match &metadata["resourceVersion"] {
        Value::Null => Ok(None),
        Value::String(text) => text.parse().map(Some).map_err(|_| text.clone()),
        other => other.as_u64().map(Some).ok_or_else(|| other.to_string()),
    };
    let revision = revision.map_err(|text| Violation::invalid(&text, "must be a revision"));
    let revision = found.parsed("resourceVersion", revision);
    match (uid, revision) {
        (Some(uid), Some(revision)) => Ok(Preconditions {
            uid,
            resource_version: revision.map(Revision::new),
        }),
        _ => Err(found),
    }
}

#[cfg(test)]
mod tests;
