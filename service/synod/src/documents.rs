//! Objects as documents that people write: `apiVersion`, `kind`, `metadata`, and beside them the data.
//!
//! The stored data is the document without `metadata`, as JSON, in the version that `apiVersion` names; `metadata`
//! becomes the object's metadata. If the data has a member `metadata` itself, as where an API server stores its objects
//! whole, the document shows it as `dataMetadata`. Data that is no JSON object is shown as base64 in `rawData`, which
//! `synod edit` and `synod apply` do not write.

pub(crate) mod exact;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use data_encoding::BASE64;
use serde_json::{Map, Value, json};
use synod_client::json;
use synod_client::{
    Annotations, ApiVersion, Attributes, Content, Finalizers, Kind, Labels, MediaType, Namespace,
    NamespacedName, ObjectName, OwnerReference, OwnerReferences, Preconditions, Revision,
    StoredObject, Uid, Violation, Violations,
};
use synod_model::Json;

use crate::failure::Failure;

/// A parsed document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document {
    /// The version in which the data is encoded.
    pub(crate) version: ApiVersion,
    /// The kind, by which the collection is found.
    pub(crate) kind: Kind,
    /// The namespace, if the document names one.
    pub(crate) namespace: Option<Namespace>,
    /// The name of the object.
    pub(crate) name: ObjectName,
    /// The labels, annotations, owners and finalizers.
    pub(crate) attributes: Attributes,
    /// The uid and the revision of the object that the document was made for, if it names them.
    pub(crate) preconditions: Preconditions,
    /// The whole document.
    pub(crate) source: Value,
}

/// The member of a document that holds the data's own `metadata`.
const DATA_METADATA: &str = "dataMetadata";

/// The fields of `metadata` that only the cluster sets.
const OWN: [&str; 4] = [
    "createRevision",
    "generation",
    "creationTimeMs",
    "deletionTimeMs",
];

impl Document {
    /// The name of the object.
    pub(crate) fn key(&self) -> NamespacedName {
        NamespacedName::new(self.namespace.as_ref(), &self.name)
    }

    /// The content to store.
    pub(crate) fn content(&self) -> Content {
        Content {
            encoding: self.version.clone(),
            media_type: MediaType::JSON,
            data: data(&self.source).to_string().into_bytes().into(),
        }
    }

    /// The content to store in place of `stored`, from which the document was made: with the same media type if that is
    /// JSON, and with all digits of the stored numbers.
    pub(crate) fn content_after(&self, stored: &Content) -> Content {
        let is_json = stored.media_type.is_json();
        let media_type = is_json.then(|| stored.media_type.clone());
        let data = exact::text(&data(&self.source), &stored.data);
        Content {
            encoding: self.version.clone(),
            media_type: media_type.unwrap_or(MediaType::JSON),
            data: data.into_bytes().into(),
        }
    }

    /// Parses a document.
    ///
    /// # Errors
    ///
    /// Every field that breaks a rule.
    pub(crate) fn parse(source: Value) -> Result<Self, Violations> {
        let mut found = Violations::new();
        let version = text(&source["apiVersion"]).and_then(ApiVersion::parse);
        let version = found.parsed("apiVersion", version);
        let kind = text(&source["kind"]).and_then(Kind::parse);
        let kind = found.parsed("kind", kind);
        let metadata = &source["metadata"];
        let members = found.parsed("metadata", members(metadata));
        for name in members.into_iter().flat_map(Map::keys) {
            unknown(name, &mut found);
        }
        let name = text(&metadata["name"]).and_then(ObjectName::parse);
        let name = found.parsed("metadata.name", name);
        let namespace = text(&metadata["namespace"]);
        let namespace = namespace.and_then(|space| match space {
            "" => Ok(None),
            space => Namespace::parse(space).map(Some),
        });
        let namespace = found.parsed("metadata.namespace", namespace);
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

/// Parses the documents of a text in YAML or JSON.
///
/// # Errors
///
/// The text is neither, or fields break rules; each of them is named.
pub(crate) fn read(text: &str) -> Result<Vec<Document>, Failure> {
    let mut documents = Vec::new();
    let mut found = Violations::new();
    let all = synod_yaml::documents(text).map_err(|error| {
        let fault = Violation::invalid(&error.to_string(), "must be YAML or JSON");
        Failure::invalid("the file cannot be read", fault.into())
    })?;
    for (place, document) in all.into_iter().enumerate() {
        found.extend_at(place_of(place), exact::lost(&document.inexact));
        documents.extend(found.parsed(place_of(place), Document::parse(document.value)));
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

/// The document of an object.
pub(crate) fn shown(object: &StoredObject, kind: &Kind) -> Value {
    let head = json!({
        "apiVersion": object.content.encoding.to_string(),
        "kind": kind.to_string(),
        "metadata": metadata(object),
    });
    let mut document = head;
    let Value::Object(shown) = &mut document else {
        return document;
    };
    match fields(object) {
        Some(mut data) => {
            let own = data.shift_remove("metadata");
            let named = ["apiVersion", "kind"];
            shown.extend(
                data.into_iter()
                    .filter(|(name, _)| !named.contains(&name.as_str())),
            );
            shown.extend(own.map(|own| (DATA_METADATA.to_owned(), own)));
        }
        None => {
            let raw = json!({
                "mediaType": object.content.media_type.to_string(),
                "base64": BASE64.encode(&object.content.data),
            });
            shown.insert("rawData".to_owned(), raw);
        }
    }
    document
}

/// The text of `document`, which shows `stored`, with all digits of the stored numbers; `None` if none would be lost.
pub(crate) fn with_all_digits(document: &Value, stored: &Json) -> Option<String> {
    exact::pretty(document, stored)
}

/// The exact numbers of what [`shown`] shows of an object's data.
pub(crate) fn exactly(object: &StoredObject) -> Json {
    let data = fields(object).and_then(|_| Json::parse(&object.content.data).ok());
    let Some(Json::Object(mut data)) = data else {
        return Json::Null;
    };
    if let Some(own) = data.remove("metadata") {
        data.insert(DATA_METADATA.to_owned(), own);
    }
    Json::Object(data)
}

/// The members of an object's data, if a document can show them: the data is a JSON object without a member named
/// [`DATA_METADATA`].
pub(crate) fn fields(object: &StoredObject) -> Option<Map<String, Value>> {
    if !object.content.media_type.is_json() {
        return None;
    }
    let fields: Map<String, Value> = serde_json::from_slice(&object.content.data).ok()?;
    (!fields.contains_key(DATA_METADATA)).then_some(fields)
}

/// The data to store: the document without its metadata.
pub(crate) fn data(document: &Value) -> Value {
    let mut data = document.clone();
    if let Value::Object(fields) = &mut data {
        fields.shift_remove("metadata");
        let own = fields.shift_remove(DATA_METADATA);
        fields.extend(own.map(|own| ("metadata".to_owned(), own)));
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
        let owners = json::list(owners.iter(), json::of);
        fields.insert("ownerReferences".to_owned(), owners);
    }
    if !finalizers.is_empty() {
        let finalizers = json::list(finalizers.iter(), json::text);
        fields.insert("finalizers".to_owned(), finalizers);
    }
    Value::Object(fields)
}

fn unknown(name: &str, found: &mut Violations) {
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
    if !KNOWN.contains(&name) && !OWN.contains(&name) {
        let fault = Violation::invalid(name, "is no field of metadata");
        found.push(fault.at("metadata"));
    }
}

/// A text; null is an empty one. Unquoted, YAML reads `yes` and `3` as other types, so the fault says to quote them.
fn text(value: &Value) -> Result<&str, Violation> {
    match value {
        Value::Null => Ok(""),
        Value::String(text) => Ok(text),
        other => Err(Violation::invalid(
            &other.to_string(),
            "must be a text: quote it",
        )),
    }
}

/// A map; null is an empty one.
fn members(value: &Value) -> Result<&Map<String, Value>, Violation> {
    static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    match value {
        Value::Null => Ok(&NONE),
        Value::Object(members) => Ok(members),
        other => Err(Violation::invalid(&other.to_string(), "must be a map")),
    }
}

/// A list; null is an empty one.
fn items(value: &Value) -> Result<&[Value], Violation> {
    match value {
        Value::Null => Ok(&[]),
        Value::Array(items) => Ok(items),
        other => Err(Violation::invalid(&other.to_string(), "must be a list")),
    }
}

fn attributes(metadata: &Value) -> Result<Attributes, Violations> {
    let mut found = Violations::new();
    let labels = texts(&metadata["labels"]).and_then(Labels::parse);
    let labels = found.parsed("labels", labels);
    let notes = texts(&metadata["annotations"]).and_then(Annotations::parse);
    let notes = found.parsed("annotations", notes);
    let mut references = Vec::new();
    let owners = found.parsed("ownerReferences", items(&metadata["ownerReferences"]));
    for (i, value) in owners.into_iter().flatten().enumerate() {
        references.extend(found.parsed(format_args!("ownerReferences[{i}]"), owner(value)));
    }
    let owners = found.parsed("ownerReferences", OwnerReferences::new(references));
    let mut names = Vec::new();
    let finalizers = found.parsed("finalizers", items(&metadata["finalizers"]));
    for (i, value) in finalizers.into_iter().flatten().enumerate() {
        names.extend(found.parsed(format_args!("finalizers[{i}]"), text(value)));
    }
    let finalizers = found.parsed("finalizers", Finalizers::parse(names));
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

/// A map whose values are texts.
fn texts(value: &Value) -> Result<BTreeMap<String, String>, Violations> {
    let mut found = Violations::new();
    let mut texts = BTreeMap::new();
    for (key, value) in members(value)? {
        // A key without a value is taken for a mistake, not for an empty text.
        let value = match value {
            Value::Null => Err(Violation::invalid("null", "must be a text: quote it")),
            value => text(value),
        };
        if let Some(value) = found.parsed(format_args!("[{key}]"), value) {
            texts.insert(key.clone(), value.to_owned());
        }
    }
    if found.is_empty() {
        Ok(texts)
    } else {
        Err(found)
    }
}

fn owner(value: &Value) -> Result<OwnerReference, Violations> {
    const KNOWN: [&str; 6] = [
        "apiVersion",
        "kind",
        "name",
        "uid",
        "controller",
        "blockOwnerDeletion",
    ];
    let mut found = Violations::new();
    for name in members(value)?.keys() {
        if !KNOWN.contains(&name.as_str()) {
            found.push(Violation::invalid(
                name,
                "is no field of an owner reference",
            ));
        }
    }
    let text = |name: &str| text(&value[name]);
    let version = text("apiVersion").and_then(ApiVersion::parse);
    let version = found.parsed("apiVersion", version);
    let kind = found.parsed("kind", text("kind").and_then(Kind::parse));
    let name = found.parsed("name", text("name").and_then(ObjectName::parse));
    let uid = found.parsed("uid", text("uid").and_then(Uid::parse));
    let mut is = |name: &str| {
        let flag = match &value[name] {
            Value::Null => Ok(false),
            Value::Bool(flag) => Ok(*flag),
            other => Err(Violation::invalid(
                &other.to_string(),
                "must be true or false",
            )),
        };
        found.parsed(name, flag)
    };
    let (controller, blocks) = (is("controller"), is("blockOwnerDeletion"));
    match (version, kind, name, uid, controller, blocks) {
        (
            Some(api_version),
            Some(kind),
            Some(name),
            Some(uid),
            Some(controller),
            Some(block_owner_deletion),
        ) if found.is_empty() => Ok(OwnerReference {
            api_version,
            kind,
            name,
            uid,
            controller,
            block_owner_deletion,
        }),
        _ => Err(found),
    }
}

fn preconditions(metadata: &Value) -> Result<Preconditions, Violations> {
    let mut found = Violations::new();
    let uid = match &metadata["uid"] {
        Value::Null => Ok(None),
        uid => text(uid).and_then(Uid::parse).map(Some),
    };
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
