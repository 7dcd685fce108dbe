//! Patches of an object's metadata, in the form of Kubernetes.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::{Fault, Missing, PatchFormat, changed};
use crate::preconditions::MODIFIED;
use crate::violation::excerpt;
use crate::{
    Annotations, ApiVersion, Attributes, ErrorKind, Finalizers, Json, JsonNumber, Kind, Labels,
    Object, ObjectName, OwnerReference, OwnerReferences, Refusal, Uid, Violation, Violations,
};

/// A change of an object's metadata.
///
/// It is applied to the document that Kubernetes shows as `metadata`: `name`, `namespace`, `uid`, `resourceVersion`,
/// `generation`, and those of `labels`, `annotations`, `ownerReferences` and `finalizers` that are not empty. Only
/// these last four may be changed. For the others Kubernetes' rules hold: another name, namespace or uid is refused,
/// another resource version is a conflict, and members that the store sets by itself, such as times, are ignored. A
/// member of any other name is refused, so that a misspelt one is not lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataPatch {
    /// How the change is written.
    pub format: PatchFormat,
    /// The change.
    pub document: Bytes,
}

/// The members that identify an object, which a patch cannot change.
const FIXED: [&str; 3] = ["name", "namespace", "uid"];

/// The members that the store sets by itself; changes of them are ignored.
const IGNORED: [&str; 7] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generateName",
    "generation",
    "managedFields",
    "selfLink",
];

type Members = BTreeMap<String, Json>;

impl MetadataPatch {
    /// The attributes of the object after the change.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENT` if the patch is malformed or does not fit this document, or leaves illegal attributes or
    /// another identity; `CONFLICT` if a test of the patch fails, or if it was made for another resource version;
    /// `TOO_LARGE` if it takes too much work.
    pub fn applied_to(&self, object: &Object) -> Result<Attributes, Refusal> {
        let before = document(object);
        let document = Json::Object(before.clone());
        let after = changed(document, self.format, &self.document, Missing::Fails)
            .map_err(|fault| fault.of("metadataPatch.document"))?;
        if after == before {
            return Ok(object.attributes.clone());
        }
        let mut found = Violations::new();
        let attributes = read(&before, after, &mut found);
        found.into_result()?;
        attributes.map_err(Refusal::from)
    }
}

/// The document that a patch of the metadata is applied to.
fn document(object: &Object) -> Members {
    let mut members = Members::new();
    let mut put = |key: &str, value: Json| members.insert(key.to_owned(), value);
    let Attributes {
        labels,
        annotations,
        owners,
        finalizers,
    } = &object.attributes;
    put("name", text(object.key.name.name()));
    if let Some(namespace) = object.key.name.namespace() {
        put("namespace", text(namespace));
    }
    put("uid", text(object.metadata.uid));
    put("resourceVersion", text(object.metadata.resource_version));
    let generation = JsonNumber::parse(&object.metadata.generation.to_string());
    put("generation", generation.map_or(Json::Null, Json::Number));
    if !labels.is_empty() {
        put("labels", texts(labels.iter()));
    }
    if !annotations.is_empty() {
        put("annotations", texts(annotations.iter()));
    }
    if !owners.is_empty() {
        put(
            "ownerReferences",
            Json::Array(owners.iter().map(owner).collect()),
        );
    }
    if !finalizers.is_empty() {
        put(
            "finalizers",
            Json::Array(finalizers.iter().map(text).collect()),
        );
    }
    members
}

fn text(value: impl ToString) -> Json {
    Json::String(value.to_string())
}

fn texts<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Json {
    Json::Object(
        pairs
            .map(|(key, value)| (key.to_owned(), text(value)))
            .collect(),
    )
}

fn owner(reference: &OwnerReference) -> Json {
    let OwnerReference {
        api_version,
        kind,
        name,
        uid,
        controller,
        block_owner_deletion,
    } = reference;
    let members = [
        ("apiVersion", text(api_version)),
        ("kind", text(kind)),
        ("name", text(name)),
        ("uid", text(uid)),
        ("controller", Json::Bool(*controller)),
        ("blockOwnerDeletion", Json::Bool(*block_owner_deletion)),
    ];
    Json::Object(
        members
            .map(|(key, value)| (key.to_owned(), value))
            .into_iter()
            .collect(),
    )
}

/// Reads the attributes from the changed document. Broken rules are added to `found`; the error is a conflict of
/// resource versions.
fn read(before: &Members, after: Members, found: &mut Violations) -> Result<Attributes, Fault> {
    let mut attributes = Attributes::default();
    let mut late = false;
    for (key, value) in after {
        let field = format!("metadata.{key}");
        match key.as_str() {
            _ if value == Json::Null => {}
            "labels" => {
                let labels = pairs(value).and_then(Labels::parse);
                attributes.labels = found.parsed(&field, labels).unwrap_or_default();
            }
            "annotations" => {
                let annotations = pairs(value).and_then(Annotations::parse);
                attributes.annotations = found.parsed(&field, annotations).unwrap_or_default();
            }
            "ownerReferences" => {
                let owners = owners(value).and_then(OwnerReferences::new);
                attributes.owners = found.parsed(&field, owners).unwrap_or_default();
            }
            "finalizers" => {
                let finalizers = names(value).and_then(Finalizers::parse);
                attributes.finalizers = found.parsed(&field, finalizers).unwrap_or_default();
            }
            "resourceVersion" => late = before.get(&key) != Some(&value),
            fixed if FIXED.contains(&fixed) => {
                if before.get(&key) != Some(&value) {
                    let violation = Violation::invalid(&said(&value), "field is immutable");
                    found.push(violation.at(&field));
                }
            }
            ignored if IGNORED.contains(&ignored) => {}
            _ => {
                let rule = "must be one of labels, annotations, ownerReferences and finalizers";
                found.push(Violation::invalid(&key, rule).at("metadata"));
            }
        }
    }
    if late {
        return Err(Fault::Refused(ErrorKind::Conflict, MODIFIED.to_owned()));
    }
    Ok(attributes)
}

/// A value as people see it: a text without its quotes, anything else as JSON.
fn said(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
            value.to_text()
        }
    }
}

fn pairs(value: Json) -> Result<Vec<(String, String)>, Violations> {
    let Json::Object(members) = value else {
        return Err(Violation::invalid(&said(&value), "must be an object of strings").into());
    };
    let mut found = Violations::new();
    let mut pairs = Vec::with_capacity(members.len());
    for (key, value) in members {
        match value {
            Json::String(text) => pairs.push((key, text)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
                let violation = Violation::invalid(&said(&value), "must be a string");
                found.push(violation.at(&format!("[{}]", excerpt(&key).escape_debug())));
            }
        }
    }
    sound(pairs, found)
}

fn items(value: Json) -> Result<Vec<Json>, Violations> {
    match value {
        Json::Array(items) => Ok(items),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => {
            Err(Violation::invalid(&said(&value), "must be a list").into())
        }
    }
}

fn names(value: Json) -> Result<Vec<String>, Violations> {
    let mut found = Violations::new();
    let mut names = Vec::new();
    for (i, item) in items(value)?.into_iter().enumerate() {
        match item {
            Json::String(name) => names.push(name),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => {
                let violation = Violation::invalid(&said(&item), "must be a string");
                found.push(violation.at(&format!("[{i}]")));
            }
        }
    }
    sound(names, found)
}

fn owners(value: Json) -> Result<Vec<OwnerReference>, Violations> {
    let mut found = Violations::new();
    let mut owners = Vec::new();
    for (i, item) in items(value)?.into_iter().enumerate() {
        owners.extend(found.parsed(format_args!("[{i}]"), reference(item)));
    }
    sound(owners, found)
}

fn reference(value: Json) -> Result<OwnerReference, Violations> {
    let Json::Object(mut members) = value else {
        return Err(Violation::invalid(&said(&value), "must be an owner reference").into());
    };
    let mut found = Violations::new();
    let api_version = parsed(&mut members, "apiVersion", ApiVersion::parse, &mut found);
    let kind = parsed(&mut members, "kind", Kind::parse, &mut found);
    let name = parsed(&mut members, "name", ObjectName::parse, &mut found);
    let uid = parsed(&mut members, "uid", Uid::parse, &mut found);
    let controller = flag(&mut members, "controller", &mut found);
    let block_owner_deletion = flag(&mut members, "blockOwnerDeletion", &mut found);
    for key in members.keys() {
        found.push(Violation::invalid(
            key,
            "is no member of an owner reference",
        ));
    }
    let (Some(api_version), Some(kind), Some(name), Some(uid)) = (api_version, kind, name, uid)
    else {
        return Err(found);
    };
    let reference = OwnerReference {
        api_version,
        kind,
        name,
        uid,
        controller,
        block_owner_deletion,
    };
    sound(reference, found)
}

fn parsed<T>(
    members: &mut Members,
    key: &str,
    parse: impl FnOnce(&str) -> Result<T, Violation>,
    found: &mut Violations,
) -> Option<T> {
    let parsed = match members.remove(key) {
        Some(Json::String(text)) => parse(&text),
        _ => Err(Violation::required("must be a string")),
    };
    found.parsed(key, parsed)
}

fn flag(members: &mut Members, key: &str, found: &mut Violations) -> bool {
    match members.remove(key) {
        None | Some(Json::Null) => false,
        Some(Json::Bool(flag)) => flag,
        Some(other) => {
            let violation = Violation::invalid(&said(&other), "must be true or false");
            found.push(violation.at(key));
            false
        }
    }
}

fn sound<T>(value: T, found: Violations) -> Result<T, Violations> {
    if found.is_empty() {
        Ok(value)
    } else {
        Err(found)
    }
}

#[cfg(test)]
mod tests;
