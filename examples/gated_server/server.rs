//! The server: its store, its routes, and the gate in front of them.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use synod_client::{Gate, GateLayer, GroupResource, Permit, Violations};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

type Store = Arc<Mutex<BTreeMap<String, String>>>;

/// The resource that this server keeps.
pub(crate) fn widgets() -> Result<GroupResource, Violations> {
    GroupResource::new("gated.example.io", "widgets")
}

/// A server that runs until it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Server {
    /// A server behind this gate, on a free port.
    pub(crate) async fn start(gate: Gate) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let served = "/apis/gated.example.io/v2";
        let objects = format!("{served}/namespaces/default/widgets");
        let shown = (gate.clone(), widgets()?);
        let router = Router::new()
            .route(&objects, post(store))
            .route(&format!("{objects}/{{name}}"), get(load))
            .route(served, get(move || discovery(shown.clone())))
            .layer(GateLayer::new(gate))
            .with_state(Store::default());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        Ok(Self {
            address: listener.local_addr()?,
            serving: tokio::spawn(async move {
                if let Err(error) = axum::serve(listener, router).await {
                    tracing::error!(%error, "the server has ended");
                }
            }),
        })
    }

    /// The server's answer to a request.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: &'static str,
    ) -> Result<(StatusCode, String), Box<dyn Error + Send + Sync>> {
        let client = Client::builder(TokioExecutor::new()).build_http();
        let request = Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address))
            .body(Full::new(Bytes::from_static(body.as_bytes())))?;
        let answer = client.request(request).await?;
        let status = answer.status();
        let body = answer.into_body().collect().await?.to_bytes();
        Ok((status, String::from_utf8_lossy(&body).into_owned()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Stores an object in the version that its permit names.
async fn store(
    State(store): State<Store>,
    Extension(permit): Extension<Permit>,
    body: String,
) -> Response {
    let widget: Value = match serde_json::from_str(&body) {
        Ok(widget) => widget,
        Err(error) => return (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    };
    let Some(name) = widget["name"].as_str() else {
        return (StatusCode::BAD_REQUEST, "a widget has a name").into_response();
    };
    let encoded = json!({"apiVersion": permit.encoding().as_str(), "value": widget});
    // Right before the store: the permit may have become void since it was given.
    if let Err(error) = permit.check() {
        return (StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into_response();
    }
    let mut objects = store.lock().unwrap_or_else(PoisonError::into_inner);
    objects.insert(name.to_owned(), encoded.to_string());
    // If the store might not have answered, this would be `unknown_outcome`.
    permit.done();
    StatusCode::CREATED.into_response()
}

/// The discovery document: its hash follows the gate, and is left out while the servers do not agree.
async fn discovery((gate, widgets): (Gate, GroupResource)) -> Json<Value> {
    let mut shown = json!({
        "name": widgets.resource(),
        "kind": "Widget",
        "namespaced": true,
        "verbs": ["create", "get"],
    });
    if let Some(hash) = gate.discovery(&widgets).hash() {
        shown["storageVersionHash"] = json!(hash.to_string());
    }
    Json(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": "gated.example.io/v2",
        "resources": [shown],
    }))
}

/// Reads an object as it is stored. Reads need no permit.
async fn load(State(store): State<Store>, Path(name): Path<String>) -> Response {
    let objects = store.lock().unwrap_or_else(PoisonError::into_inner);
    match objects.get(&name) {
        Some(stored) => stored.clone().into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
