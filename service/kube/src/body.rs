//! The body of a request as a document: read, and checked against its place.

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};
use synod_proto::v1;

use crate::kinds::{Kind, Source};
use crate::request::{FieldValidation, Query};
use crate::status::{About, Fault};
use crate::{bounded, managed, protobuf};

/// The fields of metadata that documents of Kubernetes may have.
const METADATA: [&str; 15] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// The fields of a lease's spec.
const LEASE_SPEC: [&str; 7] = [
    "acquireTime",
    "holderIdentity",
    "leaseDurationSeconds",
    "leaseTransitions",
    "preferredHolder",
    "renewTime",
    "strategy",
];

/// The fields of the status of a StorageVersion.
const REPORT_STATUS: [&str; 3] = ["commonEncodingVersion", "conditions", "storageVersions"];

/// A request that changes something, with its body.
pub(crate) struct Asks<'a> {
    pub(crate) query: &'a Query,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a Bytes,
}

/// A document that was read and checked against its place.
pub(crate) struct Written {
    pub(crate) document: Value,
    /// What is lost of it.
    pub(crate) warnings: Vec<String>,
}

/// The form that a body is in, without its parameters; empty if nothing is said of it.
pub(crate) fn media(headers: &HeaderMap) -> &str {
    let media = headers.get(CONTENT_TYPE);
    let media = media
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    media.split(';').next().unwrap_or_default().trim()
}

impl Asks<'_> {
    /// The document in the body, checked against its place.
    pub(crate) fn document(&self, about: &About<'_>) -> Result<Written, Fault> {
        let message = protobuf::of(&about.kind.api_version(), &about.kind.kind);
        match (media(self.headers), message) {
            // Clients of Python name no type.
            ("" | "*/*" | "application/json", _) => self.of_json(about),
            ("application/yaml" | "text/yaml" | "application/x-yaml", _) => self.of_yaml(about),
            (protobuf::MEDIA, Some(message)) => {
                let document = protobuf::read(message, self.body);
                let document =
                    document.map_err(|fault| unreadable(about.kind, &fault.to_string()))?;
                self.checked(document, Vec::new(), about)
            }
            (_, None) => Err(Fault::unsupported("application/json, application/yaml")),
            (_, Some(_)) => Err(Fault::unsupported(
                "application/json, application/yaml, application/vnd.kubernetes.protobuf",
            )),
        }
    }

    /// The configuration in the body, which is to be applied: what begins as an object of JSON is read as that, so that
    /// it keeps its numbers. That of an object that is there need not say its name: controllers apply a status without.
    pub(crate) fn configuration(&self, about: &About<'_>) -> Result<Written, Fault> {
        let any_name = &About {
            name: "",
            ..about.clone()
        };
        let document = match self.body.trim_ascii_start().first() {
            // YAML has objects in braces, too.
            Some(b'{') => bounded::json(self.body).ok(),
            _ => None,
        };
        let written = match document {
            Some(document) => self.as_json(document, any_name)?,
            None => self.of_yaml(any_name)?,
        };
        let metadata = &written.document["metadata"];
        if !metadata["managedFields"].is_null() {
            return Err(Fault::bad_request("metadata.managedFields must be nil"));
        }
        match metadata["name"].as_str() {
            None | Some("") => {}
            Some(own) => is_named(own, about)?,
        }
        Ok(written)
    }

    fn of_json(&self, about: &About<'_>) -> Result<Written, Fault> {
        let document = bounded::json(self.body);
        let document = document.map_err(|fault| unreadable(about.kind, &fault.to_string()))?;
        self.as_json(document, about)
    }

    /// The document of a body of JSON, checked for what is lost of it.
    fn as_json(&self, document: Value, about: &About<'_>) -> Result<Written, Fault> {
        let lost = bounded::lost(self.body, &document);
        let lost = lost.map_err(|fault| unreadable(about.kind, fault))?;
        self.checked(document, lost, about)
    }

    fn of_yaml(&self, about: &About<'_>) -> Result<Written, Fault> {
        let document = bounded::yaml(self.body);
        let document = document.map_err(|fault| unreadable(about.kind, &fault.to_string()))?;
        self.checked(document, bounded::lost_of_yaml(self.body), about)
    }

    /// A document that belongs where it was sent, with what is lost of it.
    fn checked(
        &self,
        mut document: Value,
        lost: Vec<String>,
        about: &About<'_>,
    ) -> Result<Written, Fault> {
        named(&mut document, about.kind);
        place(&mut document, about)?;
        let warnings = self.warnings(&document, lost, about)?;
        Ok(Written { document, warnings })
    }

    /// What is to be told of the fields of a document that would be lost, beside these. It is a fault where that was asked for.
    pub(crate) fn warnings(
        &self,
        document: &Value,
        mut lost: Vec<String>,
        about: &About<'_>,
    ) -> Result<Vec<String>, Fault> {
        lost.extend(unknown(document, about.kind));
        match self.query.field_validation(about.verb)? {
            FieldValidation::Strict if !lost.is_empty() => {
                let lost = format!("strict decoding error: {}", lost.join(", "));
                Err(unreadable(about.kind, &lost))
            }
            FieldValidation::Warn => Ok(lost),
            FieldValidation::Strict | FieldValidation::Ignore => Ok(Vec::new()),
        }
    }
}

/// Names what a document is where it does not say so: a client with a type for it need not, as in Kubernetes.
fn named(document: &mut Value, kind: &Kind) {
    if let Value::Object(members) = document
        && kind.source != Source::Objects
    {
        for (member, own) in [
            ("apiVersion", kind.api_version()),
            ("kind", kind.kind.to_string()),
        ] {
            let said = members.entry(member).or_insert(Value::Null);
            if said.is_null() || *said == "" {
                *said = json!(own);
            }
        }
    }
}

fn unreadable(kind: &Kind, fault: &str) -> Fault {
    let Kind { kind, version, .. } = kind;
    Fault::bad_request(format!(
        "{kind} in version \"{version}\" cannot be handled as a {kind}: {fault}"
    ))
}

/// Checks that a document belongs where it was sent and can say who manages its fields, and writes its namespace into it.
pub(crate) fn place(document: &mut Value, about: &About<'_>) -> Result<(), Fault> {
    let kind = about.kind;
    let version = kind.api_version();
    if !document.is_object()
        || !(document["metadata"].is_object() || document["metadata"].is_null())
    {
        return Err(Fault::bad_request(
            "the object provided is unrecognized: it must be an object with metadata",
        ));
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (own_version, own_kind) = (text(&document["apiVersion"]), text(&document["kind"]));
    if own_version != version {
        return Err(Fault::bad_request(format!(
            "the API version in the data ({own_version}) does not match the expected API version ({version})"
        )));
    }
    if own_kind != kind.kind {
        return Err(Fault::bad_request(format!(
            "the kind in the data ({own_kind}) does not match the expected kind ({})",
            kind.kind
        )));
    }
    let own = text(&document["metadata"]["namespace"]);
    let namespace = about.namespace.unwrap_or_default();
    if !own.is_empty() && own != namespace {
        return Err(Fault::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    if !namespace.is_empty() {
        document["metadata"]["namespace"] = json!(namespace);
    }
    let own = text(&document["metadata"]["name"]);
    if !about.name.is_empty() {
        is_named(&own, about)?;
    }
    match managed::fault(document) {
        Some(fault) if kind.source == Source::Objects => Err(Fault::bad_request(fault)),
        _ => Ok(()),
    }
}

/// Checks that a document has the name that it was sent to.
pub(crate) fn is_named(own: &str, about: &About<'_>) -> Result<(), Fault> {
    match own == about.name {
        true => Ok(()),
        false => Err(Fault::bad_request(format!(
            "the name of the object ({own}) does not match the name on the URL ({})",
            about.name
        ))),
    }
}

/// The fields that would be lost.
fn unknown(document: &Value, kind: &Kind) -> Vec<String> {
    let mut found = Vec::new();
    let mut look = |of: &Value, path: &str, known: &[&str]| {
        let names = of.as_object().into_iter().flatten().map(|(name, _)| name);
        let unknown = names.filter(|name| !known.contains(&name.as_str()));
        found.extend(unknown.map(|name| format!("unknown field \"{path}{name}\"")));
    };
    look(&document["metadata"], "metadata.", &METADATA);
    match kind.source {
        Source::Leases => {
            look(document, "", &["apiVersion", "kind", "metadata", "spec"]);
            look(&document["spec"], "spec.", &LEASE_SPEC);
        }
        Source::StorageVersions => {
            let known = ["apiVersion", "kind", "metadata", "spec", "status"];
            look(document, "", &known);
            look(&document["status"], "status.", &REPORT_STATUS);
        }
        _ => {}
    }
    found
}

/// What stands in the metadata of a document about the object that it was made for.
pub(crate) fn preconditions(
    document: &Value,
    about: &About<'_>,
) -> Result<v1::Preconditions, Fault> {
    let metadata = &document["metadata"];
    let resource_version = match &metadata["resourceVersion"] {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::String(text) if text.parse::<u64>().is_ok() => text.parse().ok(),
        other => {
            let rule = format!("Invalid value: {other}: must be a revision, as a text");
            return Err(Fault::invalid(
                about,
                &[("metadata.resourceVersion".to_owned(), rule)],
            ));
        }
    };
    let uid = match &metadata["uid"] {
        Value::Null => String::new(),
        Value::String(uid) => uid.clone(),
        other => {
            let rule = format!("Invalid value: {other}: must be a text");
            return Err(Fault::invalid(about, &[("metadata.uid".to_owned(), rule)]));
        }
    };
    Ok(v1::Preconditions {
        uid,
        resource_version,
    })
}
