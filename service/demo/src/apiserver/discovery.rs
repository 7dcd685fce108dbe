//! The discovery documents of an API server, with the hash of the storage version that it encodes now.

use std::collections::BTreeSet;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use synod_client::{Gate, storage_version_hash};

use crate::release::{Release, Resource};

/// What the discovery handlers know of the server.
#[derive(Clone, Debug)]
struct Known {
    release: Release,
    /// `None` if the server is no member of Synod.
    gate: Option<Gate>,
}

/// The discovery handlers. They write nothing, so they need no gate.
pub(super) fn router(release: Release, gate: Option<Gate>) -> Router {
    Router::new()
        .route("/api", get(core))
        .route("/apis", get(groups))
        .route("/apis/{group}/{version}", get(resources))
        .with_state(Known { release, gate })
}

async fn core() -> Json<Value> {
    Json(json!({"kind": "APIVersions", "versions": []}))
}

async fn groups(State(known): State<Known>) -> Json<Value> {
    let served: BTreeSet<(&str, &str)> = known
        .release
        .resources
        .iter()
        .map(|resource| (resource.group, resource.served))
        .collect();
    let groups = served.into_iter().map(|(group, served)| {
        let version = served.rsplit('/').next();
        let version = json!({"groupVersion": served, "version": version});
        json!({"name": group, "versions": [version], "preferredVersion": version})
    });
    let groups: Vec<Value> = groups.collect();
    Json(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
}

async fn resources(
    State(known): State<Known>,
    Path((group, version)): Path<(String, String)>,
) -> Response {
    let served = format!("{group}/{version}");
    let resources = known.release.resources.iter();
    let resources: Vec<Value> = resources
        .filter(|resource| resource.served == served)
        .map(|resource| known.shown(resource))
        .collect();
    if resources.is_empty() {
        return StatusCode::NOT_FOUND.into_response();
    }
    let list = json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": served,
        "resources": resources,
    });
    Json(list).into_response()
}

impl Known {
    fn shown(&self, resource: &Resource) -> Value {
        json!({
            "name": resource.plural,
            "kind": resource.kind,
            "namespaced": false,
            "verbs": ["create", "get", "list", "update"],
            "storageVersionHash": self.hash(resource),
        })
    }

    /// The hash of the version in which a write would be encoded now; empty while the gate is closed.
    fn hash(&self, resource: &Resource) -> String {
        let Some(gate) = &self.gate else {
            return String::new();
        };
        // The permit is returned at once: nothing is written under it.
        match gate.try_permit(&resource.group_resource()) {
            Ok(permit) => {
                let encoding = permit.encoding();
                let hash =
                    storage_version_hash(encoding.group(), encoding.version(), resource.kind);
                hash.to_string()
            }
            Err(_) => String::new(),
        }
    }
}
