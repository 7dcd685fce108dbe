//! The HTTP handlers: a write is decoded, encoded as the permit says, and stored by compare-and-swap.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Json, Router};
use serde::Deserialize;
use serde_json::Value;
use synod_client::{Permit, StoredIn};

use super::answers::{conflict, found, invalid, listed, not_found, status, undecodable, written};
use super::keeper::Keeper;
use crate::clock::now_ms;
use crate::codec::HubObject;
use crate::journal::Journal;
use crate::records::{Sent, WriteStage, Writer};
use crate::release::{Encodes, Release, Resource};
use crate::store::{Put, StoreClient};

/// What every handler needs.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) id: String,
    pub(super) release: Release,
    pub(super) store: StoreClient,
    pub(super) keeper: Keeper,
    pub(super) journal: Arc<Journal>,
    /// Whether the server writes the version it votes for before that is selected: the planted violation.
    pub(super) encode_early: bool,
}

/// The handlers, without the gate.
pub(super) fn router(server: Server) -> Router {
    Router::new()
        .route("/apis/{group}/{version}/{plural}", get(list).post(create))
        .route(
            "/apis/{group}/{version}/{plural}/{name}",
            get(read).put(update),
        )
        .with_state(server)
}

/// Group, version, plural and name, taken from the path of a request.
type RequestPath = (String, String, String, String);

async fn create(
    State(server): State<Server>,
    Path((group, version, plural)): Path<(String, String, String)>,
    Extension(permit): Extension<Permit>,
    Json(body): Json<Value>,
) -> Response {
    let Some(resource) = server.served(&group, &version, &plural) else {
        return not_found(&plural);
    };
    match HubObject::decode(&body, [resource.served]) {
        Ok(object) => server.write(resource, 0, &object, &permit).await,
        Err(fault) => invalid(&fault.to_string()),
    }
}

async fn update(
    State(server): State<Server>,
    Path((group, version, plural, name)): Path<RequestPath>,
    Extension(permit): Extension<Permit>,
    Json(body): Json<Value>,
) -> Response {
    let Some(resource) = server.served(&group, &version, &plural) else {
        return not_found(&plural);
    };
    let known = body
        .pointer("/metadata/resourceVersion")
        .and_then(Value::as_str);
    let Some(known) = known.and_then(|text| text.parse().ok()) else {
        return invalid("metadata.resourceVersion: must be specified for an update");
    };
    match HubObject::decode(&body, [resource.served]) {
        Ok(object) if object.name == name => server.write(resource, known, &object, &permit).await,
        Ok(_) => invalid("metadata.name: must be the name in the path"),
        Err(fault) => invalid(&fault.to_string()),
    }
}

/// The query of a list, as Kubernetes pages: `limit` is the size of a page, `continue` the token of the next one.
#[derive(Debug, Deserialize)]
struct PageQuery {
    limit: u32,
    #[serde(rename = "continue")]
    token: Option<String>,
}

async fn list(
    State(server): State<Server>,
    Path((group, version, plural)): Path<(String, String, String)>,
    Query(query): Query<PageQuery>,
) -> Response {
    let Some(resource) = server.served(&group, &version, &plural) else {
        return not_found(&plural);
    };
    let PageQuery { limit, token } = query;
    if resource.kept == StoredIn::Collection {
        return server.keeper.list(resource, limit, token).await;
    }
    // The store's continue token is the last name of the page before.
    let after = token.unwrap_or_default();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let page = match server.store.list(&resource.name(), &after, limit).await {
        Ok(page) => page,
        Err(why) => return status(StatusCode::SERVICE_UNAVAILABLE, "StoreUnavailable", &why),
    };
    let next = page.items.last().filter(|_| page.remaining > 0);
    let next = next.map(|(name, _)| name.clone());
    let mut items = Vec::new();
    for (_, stored) in page.items {
        match HubObject::decode(&stored.data, resource.decodable) {
            Ok(object) => items.push((object, stored.version)),
            Err(fault) => {
                let release = server.release.version;
                return undecodable(&format!("release {release} cannot read it: {fault}"));
            }
        }
    }
    listed(resource, &items, next, Some(page.remaining))
}

async fn read(
    State(server): State<Server>,
    Path((group, version, plural, name)): Path<RequestPath>,
) -> Response {
    let Some(resource) = server.served(&group, &version, &plural) else {
        return not_found(&plural);
    };
    if resource.kept == StoredIn::Collection {
        return server.keeper.read(resource, &name).await;
    }
    let stored = match server.store.get(&resource.name(), &name).await {
        Ok(Some(stored)) => stored,
        Ok(None) => return not_found(&name),
        Err(why) => return status(StatusCode::SERVICE_UNAVAILABLE, "StoreUnavailable", &why),
    };
    match HubObject::decode(&stored.data, resource.decodable) {
        Ok(object) => found(resource, &object, stored.version),
        Err(fault) => {
            let why = format!("release {} cannot read it: {fault}", server.release.version);
            undecodable(&why)
        }
    }
}

impl Server {
    fn served(&self, group: &str, version: &str, plural: &str) -> Option<Resource> {
        let resource = self.release.resource(group, plural)?;
        (resource.served == format!("{group}/{version}")).then_some(resource)
    }

    /// Writes an object in the encoding of the permit, if the stored version is `expected`.
    async fn write(
        &self,
        resource: Resource,
        expected: u64,
        object: &HubObject,
        permit: &Permit,
    ) -> Response {
        if resource.kept == StoredIn::Collection {
            let known = (expected > 0).then_some(expected);
            return self.keeper.write(resource, known, object, permit).await;
        }
        let encoding = self.encoding(resource, permit);
        let writer = Writer {
            member: self.id.clone(),
            epoch: permit.epoch().get(),
            encoding: encoding.clone(),
            permit_revision: permit.revision().get(),
        };
        let data = object.encode(resource.kind, &encoding);
        let sent = |outcome| Sent {
            at_ms: now_ms(),
            resource: resource.name(),
            name: object.name.clone(),
            version: expected + 1,
            writer: writer.clone(),
            outcome,
        };
        self.record(&sent(WriteStage::Sending));
        // Right before the store is called: by now the epoch may have ended, or another version be selected.
        if let Err(error) = permit.check() {
            self.record(&sent(WriteStage::NotSent));
            return status(
                StatusCode::SERVICE_UNAVAILABLE,
                "ServiceUnavailable",
                error.message(),
            );
        }
        let name = resource.name();
        let put = self
            .store
            .put(&name, &object.name, expected, writer.clone(), data)
            .await;
        match put {
            Put::Landed { version, position } => {
                permit.done();
                self.record(&sent(WriteStage::Landed(position)));
                written(object, version, version == 1)
            }
            Put::Conflict => {
                permit.done();
                self.record(&sent(WriteStage::Conflict));
                conflict()
            }
            Put::NotSent(why) => {
                permit.done();
                self.record(&sent(WriteStage::NotSent));
                status(StatusCode::SERVICE_UNAVAILABLE, "StoreUnavailable", &why)
            }
            Put::Unknown(why) => {
                permit.unknown_outcome();
                self.record(&sent(WriteStage::Unknown));
                status(StatusCode::GATEWAY_TIMEOUT, "Timeout", &why)
            }
        }
    }

    /// The encoding of the permit; with the planted violation, the version that the release prefers.
    fn encoding(&self, resource: Resource, permit: &Permit) -> String {
        match resource.encodes {
            Encodes::Selected(preferred) if self.encode_early => preferred.to_owned(),
            Encodes::Selected(_) | Encodes::Fixed(_) | Encodes::Defined(_) => {
                permit.encoding().to_string()
            }
        }
    }

    fn record(&self, sent: &Sent) {
        if let Err(error) = self.journal.append(sent) {
            tracing::error!(%error, "the journal of this server cannot be written");
        }
    }
}
