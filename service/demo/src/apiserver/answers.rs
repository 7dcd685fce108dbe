//! The HTTP answers of an API server, in the form that Kubernetes uses.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::codec::HubObject;
use crate::release::Resource;

/// A page of objects, with the token of the next page.
pub(super) fn listed(
    resource: Resource,
    items: &[(HubObject, u64)],
    next: Option<String>,
    remaining: Option<u64>,
) -> Response {
    let items = items.iter();
    let items = items.map(|(object, version)| shown(resource, object, *version));
    let body = json!({
        "kind": format!("{}List", resource.kind),
        "apiVersion": resource.served,
        "metadata": {"continue": next.unwrap_or_default(), "remainingItemCount": remaining},
        "items": items.collect::<Vec<Value>>(),
    });
    Json(body).into_response()
}

/// An object that was read.
pub(super) fn found(resource: Resource, object: &HubObject, version: u64) -> Response {
    Json(shown(resource, object, version)).into_response()
}

/// An object as clients see it.
fn shown(resource: Resource, object: &HubObject, version: u64) -> Value {
    let mut answer = object.encode(resource.kind, resource.served);
    answer["metadata"]["resourceVersion"] = version.to_string().into();
    answer
}

/// The answer to a write that was made.
pub(super) fn written(object: &HubObject, version: u64, is_new: bool) -> Response {
    let code = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let body = json!({"metadata": {"name": object.name, "resourceVersion": version.to_string()}});
    (code, Json(body)).into_response()
}

pub(super) fn conflict() -> Response {
    let why = "the object has been modified; please apply your changes to the latest version and try again";
    status(StatusCode::CONFLICT, "Conflict", why)
}

pub(super) fn undecodable(why: &str) -> Response {
    status(StatusCode::INTERNAL_SERVER_ERROR, "Undecodable", why)
}

pub(super) fn not_found(what: &str) -> Response {
    status(
        StatusCode::NOT_FOUND,
        "NotFound",
        &format!("{what:?} not found"),
    )
}

pub(super) fn invalid(why: &str) -> Response {
    status(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", why)
}

/// A `Status` as Kubernetes answers it.
pub(super) fn status(code: StatusCode, reason: &str, message: &str) -> Response {
    let body = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": reason,
        "message": message,
        "code": code.as_u16(),
    });
    (code, Json(body)).into_response()
}
