//! OpenAPI: what kubectl validates and explains by.

use data_encoding::HEXLOWER;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::discovery::Group;
use crate::kinds::{Kind, Source, Verb};
use crate::parts::{Part, STATUS};

/// The document of OpenAPI v2, which only kubectl up to 1.28 needs, and that only to find something: swagger 2.0 without paths.
pub(crate) const EMPTY_V2: &[u8] = &[
    0x0a, 0x03, b'2', b'.', b'0', 0x12, 0x0b, 0x0a, 0x05, b's', b'y', b'n', b'o', b'd', 0x12, 0x02,
    b'v', b'0', 0x42, 0x00, 0x4a, 0x00,
];

/// The same in JSON, for API servers that make one document of those of all that they aggregate.
pub(crate) fn empty_v2() -> Value {
    json!({
        "swagger": "2.0",
        "info": { "title": "synod", "version": "v0" },
        "paths": {},
        "definitions": {},
    })
}

/// `/openapi/v3`: where the document of each version is.
pub(crate) fn index(groups: &[Group]) -> Value {
    let mut paths = Map::new();
    for group in groups {
        for (version, kinds) in &group.versions {
            let path = match group.name.as_str() {
                "" => format!("api/{version}"),
                name => format!("apis/{name}/{version}"),
            };
            let hash = Sha256::digest(document(kinds).to_string().as_bytes());
            let url = format!("/openapi/v3/{path}?hash={}", HEXLOWER.encode(&hash));
            paths.insert(path, json!({ "serverRelativeURL": url }));
        }
    }
    json!({ "paths": paths })
}

/// The document of the kinds of one version.
pub(crate) fn document(kinds: &[Kind]) -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    for kind in kinds {
        let root = if kind.group.is_empty() { "api" } else { "apis" };
        let base = format!("/{root}/{}", kind.api_version());
        let place = if kind.namespaced {
            "/namespaces/{namespace}"
        } else {
            ""
        };
        let list = format!("{base}{place}/{}", kind.plural);
        let one = format!("{list}/{{name}}");
        if kind.has_status() {
            paths.insert(format!("{one}/{STATUS}"), operations(kind, Path::Status));
        }
        paths.insert(one, operations(kind, Path::One));
        paths.insert(list, operations(kind, Path::All));
        schemas.insert(schema_name(kind), schema(kind));
    }
    schemas.insert(METADATA.to_owned(), metadata());
    json!({
        "openapi": "3.0.0",
        "info": { "title": "synod", "version": env!("CARGO_PKG_VERSION") },
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

fn schema_name(kind: &Kind) -> String {
    format!("{}.{}.{}", kind.group, kind.version, kind.kind)
}

/// What a path is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    All,
    One,
    Status,
}

/// The operations at a path.
fn operations(kind: &Kind, path: Path) -> Value {
    let of_one = [
        ("get", Verb::Get),
        ("put", Verb::Update),
        ("patch", Verb::Patch),
        ("delete", Verb::Delete),
    ];
    let of_all = [("get", Verb::List), ("post", Verb::Create)];
    let (all, part, of): (&[(&str, Verb)], Part, &str) = match path {
        Path::All => (&of_all, Part::Object, "s"),
        Path::One => (&of_one, Part::Object, ""),
        Path::Status => (&of_one, Part::Status, "Status"),
    };
    let has = kind.verbs_of(part);
    let mut operations = Map::new();
    for (method, verb) in all.iter().filter(|(_, verb)| has.contains(verb)) {
        let mut parameters = Vec::new();
        if matches!(verb, Verb::Create | Verb::Update | Verb::Patch) {
            parameters.extend(["dryRun", "fieldManager", "fieldValidation"].map(parameter));
        }
        if *verb == Verb::Patch {
            parameters.push(parameter("force"));
        }
        let text = json!({ "$ref": format!("#/components/schemas/{}", schema_name(kind)) });
        operations.insert(
            (*method).to_owned(),
            json!({
                "operationId": format!("{}{}{of}", verb.name(), kind.kind),
                "parameters": parameters,
                "responses": { "200": { "description": "OK", "content": { "application/json": { "schema": text } } } },
                "x-kubernetes-action": verb.name(),
                "x-kubernetes-group-version-kind": named(kind),
            }),
        );
    }
    Value::Object(operations)
}

fn parameter(name: &str) -> Value {
    json!({ "name": name, "in": "query", "schema": { "type": "string", "uniqueItems": true } })
}

fn named(kind: &Kind) -> Value {
    json!({ "group": kind.group, "version": kind.version, "kind": kind.kind })
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn number(description: &str) -> Value {
    json!({ "type": "integer", "format": "int64", "description": description })
}

fn anything(description: &str) -> Value {
    json!({ "type": "object", "description": description, "x-kubernetes-preserve-unknown-fields": true })
}

fn schema(kind: &Kind) -> Value {
    let mut properties = json!({
        "apiVersion": text("The version that this document is written in."),
        "kind": text("What this is a document of."),
        "metadata": {
            "description": "What is said of the object.",
            "default": {},
            "allOf": [{ "$ref": format!("#/components/schemas/{METADATA}") }],
        },
    });
    let is_open = kind.source == Source::Objects;
    match kind.source {
        Source::Leases => properties["spec"] = lease_spec(),
        Source::ControllerRevisions => {
            properties["data"] = anything("The state that the snapshot is of.");
            properties["revision"] = number("Its place in the history.");
        }
        Source::Settings => properties["spec"] = anything("The settings."),
        Source::LeaseCandidates => properties["spec"] = anything("For which lease it stands."),
        Source::Events => {
            properties["involvedObject"] = anything("What it is about.");
            for (field, what) in [
                ("reason", "Why, in a word."),
                ("message", "What, in words."),
                ("type", "Normal or Warning."),
            ] {
                properties[field] = text(what);
            }
        }
        Source::StorageVersions => {
            properties["spec"] = anything("Empty.");
            properties["status"] = report_status();
        }
        Source::Agreements | Source::Members | Source::Migrations | Source::StorageStates => {
            properties["spec"] = anything("What it is about.");
            properties["status"] = anything("How it stands.");
        }
        Source::Objects if kind.has_status() => {
            properties[STATUS] = anything("What is observed of it. Its subresource writes it.");
        }
        Source::Objects => {}
    }
    let mut schema = json!({
        "type": "object",
        "description": kind.description,
        "properties": properties,
        "x-kubernetes-group-version-kind": [named(kind)],
    });
    if is_open {
        schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
    }
    schema
}

fn lease_spec() -> Value {
    json!({
        "type": "object",
        "description": "Who holds the lease, and for how long.",
        "properties": {
            "holderIdentity": text("Who holds it; left out if nobody does."),
            "leaseDurationSeconds": { "type": "integer", "format": "int32", "description": "Its TTL: how long it is held without a renewal." },
            "acquireTime": text("When the present holder took it. Synod sets it."),
            "renewTime": text("When it was renewed last. Synod sets it."),
            "leaseTransitions": { "type": "integer", "format": "int32", "description": "How often it went from one holder to another. Synod sets it." },
            "preferredHolder": text("Who is to hold it next. Synod sets it."),
            "strategy": text("Not used by Synod."),
        },
    })
}

fn report_status() -> Value {
    let versions = |description: &str| {
        json!({
            "type": "array",
            "description": description,
            "items": { "type": "string" },
            "x-kubernetes-list-type": "set",
        })
    };
    let entry = json!({
        "type": "object",
        "description": "What one server says. Nobody else writes it.",
        "properties": {
            "apiServerID": text("The server: the name of its identity lease, and the id of the member."),
            "encodingVersion": text("The version that it encodes."),
            "decodableVersions": versions("The versions that it decodes."),
            "servedVersions": versions("The versions that it serves."),
        },
    });
    json!({
        "type": "object",
        "description": "What is reported, and what follows from it.",
        "properties": {
            "storageVersions": {
                "type": "array",
                "description": "What each server says.",
                "items": entry,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["apiServerID"],
                "x-kubernetes-patch-merge-key": "apiServerID",
                "x-kubernetes-patch-strategy": "merge",
            },
            "commonEncodingVersion": text("The version that all servers encode; left out if they differ. Synod sets it."),
            "conditions": { "type": "array", "description": "Whether they agree. Synod sets it.", "items": { "type": "object" } },
        },
    })
}

fn metadata() -> Value {
    let texts = |description: &str| json!({ "type": "object", "description": description, "additionalProperties": { "type": "string" } });
    let owner = json!({
        "type": "object",
        "properties": {
            "apiVersion": text("The version of the owner."),
            "kind": text("The kind of the owner."),
            "name": text("The name of the owner."),
            "uid": text("The uid of the owner."),
            "controller": { "type": "boolean", "description": "Whether the owner controls it." },
            "blockOwnerDeletion": { "type": "boolean", "description": "Whether the owner waits for it in the foreground." },
        },
    });
    json!({
        "type": "object",
        "description": "What is said of an object, beside its data.",
        "properties": {
            "name": text("Its name."),
            "generateName": text("What a made-up name begins with."),
            "namespace": text("Its namespace."),
            "uid": text("What tells it from others of its name. Synod sets it."),
            "resourceVersion": text("The revision of its last change."),
            "generation": number("How often what is desired has changed. Synod sets it."),
            "creationTimestamp": text("When it was created. Synod sets it."),
            "deletionTimestamp": text("When its deletion began. Synod sets it."),
            "deletionGracePeriodSeconds": number("Always 0."),
            "labels": texts("What it can be selected by."),
            "annotations": texts("What else is said of it."),
            "ownerReferences": {
                "type": "array",
                "description": "The objects that it goes with.",
                "items": owner,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["uid"],
                "x-kubernetes-patch-merge-key": "uid",
                "x-kubernetes-patch-strategy": "merge",
            },
            "finalizers": {
                "type": "array",
                "description": "What must be done before it is deleted.",
                "items": { "type": "string" },
                "x-kubernetes-list-type": "set",
                "x-kubernetes-patch-strategy": "merge",
            },
            "managedFields": { "type": "array", "description": "Who manages which of its fields. Objects of collections alone have it.", "items": { "type": "object" } },
            "selfLink": text("Not used any more."),
        },
    })
}
