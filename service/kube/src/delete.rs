//! Deleting.

use http::header::CONTENT_TYPE;
use serde_json::{Value, json};
use synod_model::{Current, ErrorKind, Refusal};
use synod_proto::v1;

use crate::answer::{self, Response, Shape};
use crate::body::{Asks, preconditions};
use crate::kinds::Source;
use crate::sources::{Calls, object_key};
use crate::status::{About, Fault};
use crate::write::{conflict, read};

/// How an object is to be deleted.
struct Options {
    preconditions: v1::Preconditions,
    propagation: v1::Propagation,
    dry_run: bool,
}

impl Options {
    /// The options of a request: in its body, or in its query.
    fn of(asks: &Asks<'_>, about: &About<'_>) -> Result<Self, Fault> {
        let media = asks.headers.get(CONTENT_TYPE);
        let media = media
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let options: Value = match asks.body {
            [] => Value::Null,
            _ if !media.is_empty() && !media.starts_with("application/json") => {
                return Err(Fault::unsupported("application/json"));
            }
            body => serde_json::from_slice(body).map_err(|fault| {
                Fault::bad_request(format!("the options of a deletion cannot be read: {fault}"))
            })?,
        };
        let expected = json!({ "metadata": options["preconditions"] });
        let propagation = options["propagationPolicy"]
            .as_str()
            .or_else(|| asks.query.get("propagationPolicy"));
        Ok(Self {
            preconditions: preconditions(&expected, about)?,
            propagation: match propagation {
                None | Some("Background") => v1::Propagation::Background,
                Some("Foreground") => v1::Propagation::Foreground,
                Some("Orphan") => v1::Propagation::Orphan,
                Some(other) => return Err(unsupported(about, other)),
            },
            dry_run: asks.query.is_dry_run()? || options["dryRun"] == json!(["All"]),
        })
    }
}

fn unsupported(about: &About<'_>, propagation: &str) -> Fault {
    let rule = format!(
        "Unsupported value: \"{propagation}\": supported values: \"Background\", \"Foreground\", \"Orphan\""
    );
    Fault::invalid(about, &[("propagationPolicy".to_owned(), rule)])
}

/// Deletes an object.
pub(crate) async fn delete(
    calls: &Calls,
    shape: &Shape,
    about: &About<'_>,
    asks: &Asks<'_>,
) -> Result<Response, Fault> {
    let options = Options::of(asks, about)?;
    let uid = match about.kind.source {
        Source::ControllerRevisions => snapshot(calls, about, options).await?,
        Source::Agreements
        | Source::Leases
        | Source::Members
        | Source::Migrations
        | Source::Objects
        | Source::Settings
        | Source::StorageVersions => {
            let is_dry = options.dry_run;
            let deleted = object(calls, about, options).await?;
            if !deleted.deleted && !is_dry {
                // It waits for its finalizers, or its dependents.
                match read(calls, about).await {
                    Err(fault) if fault.code == 404 => {}
                    waiting => {
                        let waiting = shape.one(waiting?);
                        return Ok(answer::document(&calls.origin, 200, &waiting));
                    }
                }
            }
            deleted.uid
        }
    };
    Ok(answer::document(&calls.origin, 200, &success(about, &uid)))
}

/// Deletes an object of a collection.
async fn object(
    calls: &Calls,
    about: &About<'_>,
    options: Options,
) -> Result<v1::ObjectsDeleteResponse, Fault> {
    let expected = options.preconditions.clone();
    let request = v1::ObjectsDeleteRequest {
        key: Some(object_key(about.kind, about.namespace, about.name)),
        preconditions: Some(options.preconditions),
        propagation: options.propagation.into(),
        dry_run: options.dry_run,
        ..v1::ObjectsDeleteRequest::default()
    };
    let deleted = calls.call("synod.v1.Objects/Delete", &request).await;
    deleted.map_err(|refusal| fault(about, &refusal, &expected))
}

/// Deletes a snapshot of a controller, which nothing depends on. Answers its uid.
async fn snapshot(calls: &Calls, about: &About<'_>, options: Options) -> Result<String, Fault> {
    let there = read(calls, about).await?;
    let uid = there["metadata"]["uid"].as_str().unwrap_or_default();
    let expected = options.preconditions;
    let request = v1::ControllerRevisionsDeleteRequest {
        namespace: about.namespace.unwrap_or_default().to_owned(),
        name: about.name.to_owned(),
        if_uid: expected.uid.clone(),
        if_resource_version: expected.resource_version,
        dry_run: options.dry_run,
        ..v1::ControllerRevisionsDeleteRequest::default()
    };
    let deleted: Result<v1::ControllerRevisionsDeleteResponse, _> = calls
        .call("synod.v1.ControllerRevisions/Delete", &request)
        .await;
    deleted.map_err(|refusal| fault(about, &refusal, &expected))?;
    Ok(uid.to_owned())
}

/// Why something was not deleted.
fn fault(about: &About<'_>, refusal: &Refusal, expected: &v1::Preconditions) -> Fault {
    if refusal.kind != ErrorKind::Conflict {
        return Fault::of(refusal, about);
    }
    let current = match refusal.current.as_deref() {
        Some(Current::Object(object)) => Some(object.metadata.resource_version.get()),
        _ => None,
    };
    match (expected.resource_version, current) {
        (Some(asked), Some(current)) if asked != current => {
            let why = format!(
                "Precondition failed: ResourceVersion in precondition: {asked}, ResourceVersion in object meta: {current}"
            );
            Fault::conflict(about, &why)
        }
        _ => conflict(about, refusal, &expected.uid, false),
    }
}

/// The answer to a deletion after which nothing is left.
fn success(about: &About<'_>, uid: &str) -> Value {
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {
            "name": about.name,
            "group": about.kind.group,
            "kind": about.kind.plural,
            "uid": uid,
        },
    })
}
